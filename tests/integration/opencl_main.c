/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL called by symbol (linked) or through pointers (with opencl_by_pointer.c). */
#include "opencl_steps.h"

int main(void)
{
    return opencl_steps();
}
