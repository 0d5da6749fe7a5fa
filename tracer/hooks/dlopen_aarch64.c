/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlopen and dlmopen for aarch64: a jump leaves the link register as the caller left it, so the C
 * library finds the caller's return address, and with it the paths where it looks.
 */
#include "loader.h"

#define ENTRY(name, before)                                                                        \
    __asm__(".text\n"                                                                              \
            ".globl " name "\n"                                                                    \
            ".type " name ", %function\n" name ":\n"                                               \
            "    .cfi_startproc\n"                                                                 \
            "    hint #34\n" /* bti c */                                                           \
            "    stp x29, x30, [sp, #-48]!\n"                                                      \
            "    .cfi_adjust_cfa_offset 48\n"                                                      \
            "    .cfi_rel_offset x29, 0\n"                                                         \
            "    .cfi_rel_offset x30, 8\n"                                                         \
            "    stp x0, x1, [sp, #16]\n"                                                          \
            "    str x2, [sp, #32]\n"                                                              \
            "    bl " before "\n"                                                                  \
            "    mov x16, x0\n"                                                                    \
            "    ldp x0, x1, [sp, #16]\n"                                                          \
            "    ldr x2, [sp, #32]\n"                                                              \
            "    ldp x29, x30, [sp], #48\n"                                                        \
            "    .cfi_restore x29\n"                                                               \
            "    .cfi_restore x30\n"                                                               \
            "    .cfi_adjust_cfa_offset -48\n"                                                     \
            "    br x16\n"                                                                         \
            "    .cfi_endproc\n"                                                                   \
            ".size " name ", . - " name "\n")

ENTRY("dlopen", "loader_before_dlopen");
ENTRY("dlmopen", "loader_before_dlmopen");
