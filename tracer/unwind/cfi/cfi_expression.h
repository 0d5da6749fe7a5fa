/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DWARF expressions, worked out as far as they go without registers.
 *
 * The pc of a row is known, so what compilers and linkers write comes down to one of: a number,
 * a register plus a number, or the word at a register plus a number. Anything else is not good.
 */
#ifndef LEAKTIDE_TRACER_CFI_EXPRESSION_H
#define LEAKTIDE_TRACER_CFI_EXPRESSION_H

#include "cfi.h"
#include "cfi_bytes.h"

enum expression_kind { EXPRESSION_BAD, EXPRESSION_NUMBER, EXPRESSION_REGISTER, EXPRESSION_WORD_AT };

struct expression_value {
    enum expression_kind kind;
    uint32_t base;   /* a register of DWARF */
    uint64_t offset; /* the number, or what is added to the register */
};

struct expression_value cfi_expression(struct cfi_bytes bytes,
                                       const struct cfi_registers *registers, uint64_t pc);

#endif
