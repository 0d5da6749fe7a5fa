/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlsym for aarch64. RTLD_DEFAULT is 0 and RTLD_NEXT is -1: plus one, these are 1 and 0.
 *
 * The jump leaves the link register as the caller left it, so the C library finds the caller's
 * return address. A C function could not promise that.
 */
#include "symbol_lookup.h"

__asm__(".text\n"
        ".globl dlsym\n"
        ".type dlsym, %function\n"
        "dlsym:\n"
        "    .cfi_startproc\n"
        "    hint #34\n" /* bti c */
        "    add x2, x0, #1\n"
        "    cmp x2, #1\n"
        "    b.ls 1f\n"
        "    b symbol_lookup\n"
        "1:  stp x29, x30, [sp, #-32]!\n"
        "    .cfi_adjust_cfa_offset 32\n"
        "    .cfi_rel_offset x29, 0\n"
        "    .cfi_rel_offset x30, 8\n"
        "    stp x0, x1, [sp, #16]\n"
        "    bl hook_dlsym\n"
        "    mov x16, x0\n"
        "    ldp x0, x1, [sp, #16]\n"
        "    ldp x29, x30, [sp], #32\n"
        "    .cfi_restore x29\n"
        "    .cfi_restore x30\n"
        "    .cfi_adjust_cfa_offset -32\n"
        "    br x16\n"
        "    .cfi_endproc\n"
        ".size dlsym, . - dlsym\n");
