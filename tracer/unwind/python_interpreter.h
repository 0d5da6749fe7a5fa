/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter of this process, CPython 3.8 to 3.15: the one that is found first.
 *
 * It is the program, or an object that the program is linked to or loads, also one that it loads
 * privately (RTLD_LOCAL). One that was loaded stays in memory from then on: any thread may be about
 * to ask it for its state when the program closes it. Others that are loaded beside it are not
 * read; a thread that runs only those has no state in this one.
 */
#ifndef LEAKTIDE_TRACER_PYTHON_INTERPRETER_H
#define LEAKTIDE_TRACER_PYTHON_INTERPRETER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "python_layout.h"

/* Written once, before python_is_here() says so. */
struct python_interpreter {
    struct python_layout layout;
    int (*is_initialized)(void);
    void *(*this_thread)(void); /* NULL: it never ran Python */
    int (*line_of)(void *code, int offset_bytes);
    const char *code_type;
    uint64_t loop_start, loop_end;
    _Atomic bool is_here;
};

extern struct python_interpreter python_interpreter;

/*
 * Looks for one; outside of hooks. may_load: objects may be loaded just now, so those that were
 * opened are looked through as well; false before the program has begun.
 */
void python_find(bool may_load);

/* PY_VERSION_HEX of an interpreter that was found and whose frames cannot be read; 0: none. */
uint32_t python_unread(void);

/* There is an interpreter whose frames can be read. */
static inline bool python_is_here(void)
{
    return atomic_load_explicit(&python_interpreter.is_here, memory_order_acquire);
}

/* Is the address in the interpreter's loop? Each call of it runs frames up to an entry. */
static inline bool python_runs_at(uint64_t pc)
{
    return pc - python_interpreter.loop_start <
           python_interpreter.loop_end - python_interpreter.loop_start;
}

#endif
