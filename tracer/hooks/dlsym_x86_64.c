/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlsym for x86-64. RTLD_DEFAULT is 0 and RTLD_NEXT is -1: plus one, these are 1 and 0.
 *
 * The jump leaves the stack as the caller left it, so the C library finds the caller's return
 * address. A C function could not promise that.
 */
#include "symbol_lookup.h"

__asm__(".text\n"
        ".globl dlsym\n"
        ".type dlsym, @function\n"
        "dlsym:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    leaq 1(%rdi), %rax\n"
        "    cmpq $1, %rax\n"
        "    ja symbol_lookup\n"
        "    pushq %rdi\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    pushq %rsi\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    subq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    call hook_dlsym\n"
        "    addq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    popq %rsi\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    popq %rdi\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    jmp *%rax\n"
        "    .cfi_endproc\n"
        ".size dlsym, . - dlsym\n");
