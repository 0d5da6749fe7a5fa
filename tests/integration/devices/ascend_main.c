/* SPDX-License-Identifier: Apache-2.0 */
/* The steps, in a program that is linked with the runtime. */
#include "ascend_steps.h"

int main(void)
{
    return ascend_steps();
}
