/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of assertions: each row makes a structure, damages it, and looks at it, in a forked child.
 * What the child writes before it aborts names the condition; it is repeated on standard output, so
 * that all_fire.py knows which assertions were seen to fire.
 */
#ifndef LEAKTIDE_TESTS_DEATH_H
#define LEAKTIDE_TESTS_DEATH_H

/* What main() returns; 77 (skipped) in a build without assertions. */
int deaths_run(void);

/* make() is called, and then damage(), which aborts. Before deaths_run(). */
void death_expect(const char *name, void (*make)(void), void (*damage)(void));

/* One row: what make() makes is damaged and looked at by these statements. */
#define DAMAGE(make, name, ...)                                                                    \
    static void name(void)                                                                         \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }                                                                                              \
    __attribute__((constructor)) static void name##_is_expected(void)                              \
    {                                                                                              \
        death_expect(#name, make, name);                                                           \
    }

#endif
