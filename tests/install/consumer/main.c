/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that marks its steps, built against an installed leaktide.
 */
#include <leaktide/tracer.h>

int main(void)
{
    mt_step_begin();
    mt_range_push("forward");
    mt_range_pop();
    mt_step_end();
    return 0;
}
