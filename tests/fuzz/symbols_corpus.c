/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of a few functions without any library: its file is small.
 */
static volatile int counter;

static inline __attribute__((always_inline)) int inner(int value)
{
    counter += value;
    return counter;
}

static inline __attribute__((always_inline)) int middle(int value)
{
    return value & 1 ? inner(value) : inner(value + 1) * 2;
}

__attribute__((noinline)) int outer(int value);

__attribute__((noinline)) int outer(int value)
{
    return middle(value) + middle(value * 3);
}

void _start(void);

void _start(void)
{
    for (int i = 0; outer(i) < 1000; i++)
        ;
    for (;;)
        ;
}
