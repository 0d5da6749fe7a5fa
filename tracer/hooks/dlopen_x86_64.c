/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlopen and dlmopen for x86-64: a jump leaves the stack as the caller left it, so the C library
 * finds the caller's return address, and with it the paths where it looks.
 */
#include "loader.h"

#define ENTRY(name, before)                                                                        \
    __asm__(".text\n"                                                                              \
            ".globl " name "\n"                                                                    \
            ".type " name ", @function\n" name ":\n"                                               \
            "    .cfi_startproc\n"                                                                 \
            "    endbr64\n"                                                                        \
            "    pushq %rdi\n"                                                                     \
            "    .cfi_adjust_cfa_offset 8\n"                                                       \
            "    pushq %rsi\n"                                                                     \
            "    .cfi_adjust_cfa_offset 8\n"                                                       \
            "    pushq %rdx\n"                                                                     \
            "    .cfi_adjust_cfa_offset 8\n"                                                       \
            "    call " before "\n"                                                                \
            "    popq %rdx\n"                                                                      \
            "    .cfi_adjust_cfa_offset -8\n"                                                      \
            "    popq %rsi\n"                                                                      \
            "    .cfi_adjust_cfa_offset -8\n"                                                      \
            "    popq %rdi\n"                                                                      \
            "    .cfi_adjust_cfa_offset -8\n"                                                      \
            "    jmp *%rax\n"                                                                      \
            "    .cfi_endproc\n"                                                                   \
            ".size " name ", . - " name "\n")

ENTRY("dlopen", "loader_before_dlopen");
ENTRY("dlmopen", "loader_before_dlmopen");
