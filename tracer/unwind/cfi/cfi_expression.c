/* SPDX-License-Identifier: Apache-2.0 */
#include "cfi_expression.h"

enum { OPERAND_MAX = 16, STEP_MAX = 64 };

/* DW_OP_* */
enum {
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08,
    OP_CONST8S = 0x0f,
    OP_CONSTU = 0x10,
    OP_CONSTS = 0x11,
    OP_DUP = 0x12,
    OP_DROP = 0x13,
    OP_AND = 0x1a,
    OP_MINUS = 0x1c,
    OP_MUL = 0x1e,
    OP_OR = 0x21,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_SHR = 0x25,
    OP_EQ = 0x29,
    OP_GE = 0x2a,
    OP_GT = 0x2b,
    OP_LE = 0x2c,
    OP_LT = 0x2d,
    OP_NE = 0x2e,
    OP_LIT0 = 0x30,
    OP_LIT31 = 0x4f,
    OP_BREG0 = 0x70,
    OP_BREG31 = 0x8f,
    OP_BREGX = 0x92,
    OP_NOP = 0x96
};

struct operands {
    struct expression_value values[OPERAND_MAX];
    uint32_t count;
};

static const struct expression_value bad = {EXPRESSION_BAD, 0, 0};

static void push(struct operands *operands, struct expression_value value)
{
    if (operands->count < OPERAND_MAX)
        operands->values[operands->count++] = value;
    else
        operands->values[OPERAND_MAX - 1] = bad;
}

static struct expression_value pop(struct operands *operands)
{
    return operands->count ? operands->values[--operands->count] : bad;
}

static struct expression_value number(uint64_t value)
{
    return (struct expression_value){EXPRESSION_NUMBER, 0, value};
}

static struct expression_value register_plus(uint32_t base, int64_t offset,
                                             const struct cfi_registers *registers, uint64_t pc)
{
    if (base == registers->pc)
        return number(pc + (uint64_t)offset);
    return (struct expression_value){EXPRESSION_REGISTER, base, (uint64_t)offset};
}

static uint64_t computed(uint8_t operation, uint64_t left, uint64_t right)
{
    int64_t a = (int64_t)left, b = (int64_t)right;

    switch (operation) {
    case OP_AND:
        return left & right;
    case OP_OR:
        return left | right;
    case OP_MINUS:
        return left - right;
    case OP_MUL:
        return left * right;
    case OP_PLUS:
        return left + right;
    case OP_SHL:
        return right < 64 ? left << right : 0;
    case OP_SHR:
        return right < 64 ? left >> right : 0;
    case OP_EQ:
        return a == b;
    case OP_GE:
        return a >= b;
    case OP_GT:
        return a > b;
    case OP_LE:
        return a <= b;
    case OP_LT:
        return a < b;
    default: /* OP_NE */
        return a != b;
    }
}

static struct expression_value combined(uint8_t operation, struct expression_value left,
                                        struct expression_value right)
{
    if (left.kind == EXPRESSION_NUMBER && right.kind == EXPRESSION_NUMBER)
        return number(computed(operation, left.offset, right.offset));
    if (operation == OP_PLUS && left.kind == EXPRESSION_NUMBER &&
        right.kind == EXPRESSION_REGISTER) {
        right.offset += left.offset;
        return right;
    }
    if ((operation == OP_PLUS || operation == OP_MINUS) && left.kind == EXPRESSION_REGISTER &&
        right.kind == EXPRESSION_NUMBER) {
        left.offset = computed(operation, left.offset, right.offset);
        return left;
    }
    return bad;
}

static struct expression_value word_at(struct expression_value address)
{
    address.kind = address.kind == EXPRESSION_REGISTER ? EXPRESSION_WORD_AT : EXPRESSION_BAD;
    return address;
}

/* DW_OP_const1u, 1s, 2u, 2s, … 8u, 8s */
static uint64_t constant(struct cfi_bytes *bytes, uint8_t operation)
{
    uint32_t size_bytes = 1u << ((operation - OP_CONST1U) / 2);

    return (operation - OP_CONST1U) % 2 ? (uint64_t)cfi_fixed_signed(bytes, size_bytes)
                                        : cfi_fixed(bytes, size_bytes);
}

static bool is_of_two(uint8_t operation)
{
    return operation == OP_AND || operation == OP_MINUS || operation == OP_MUL ||
           operation == OP_OR || operation == OP_PLUS || operation == OP_SHL ||
           operation == OP_SHR || (operation >= OP_EQ && operation <= OP_NE);
}

static struct expression_value pushed(struct cfi_bytes *bytes, uint8_t operation,
                                      const struct cfi_registers *registers, uint64_t pc)
{
    if (operation >= OP_CONST1U && operation <= OP_CONST8S)
        return number(constant(bytes, operation));
    if (operation >= OP_LIT0 && operation <= OP_LIT31)
        return number(operation - OP_LIT0);
    if (operation == OP_CONSTU)
        return number(cfi_uleb(bytes));
    if (operation == OP_CONSTS)
        return number((uint64_t)cfi_sleb(bytes));
    if (operation >= OP_BREG0 && operation <= OP_BREG31)
        return register_plus(operation - OP_BREG0, cfi_sleb(bytes), registers, pc);
    if (operation == OP_BREGX) {
        uint64_t base = cfi_uleb(bytes);

        return register_plus((uint32_t)base, cfi_sleb(bytes), registers, pc);
    }
    return bad;
}

static void operate(struct operands *operands, struct cfi_bytes *bytes,
                    const struct cfi_registers *registers, uint64_t pc)
{
    uint8_t operation = (uint8_t)cfi_fixed(bytes, 1);
    struct expression_value top;

    if (is_of_two(operation)) {
        top = pop(operands);
        push(operands, combined(operation, pop(operands), top));
    } else if (operation == OP_DEREF) {
        push(operands, word_at(pop(operands)));
    } else if (operation == OP_PLUS_UCONST) {
        push(operands, combined(OP_PLUS, pop(operands), number(cfi_uleb(bytes))));
    } else if (operation == OP_DUP) {
        top = pop(operands);
        push(operands, top);
        push(operands, top);
    } else if (operation == OP_DROP) {
        pop(operands);
    } else if (operation != OP_NOP) {
        push(operands, pushed(bytes, operation, registers, pc));
    }
}

struct expression_value cfi_expression(struct cfi_bytes bytes,
                                       const struct cfi_registers *registers, uint64_t pc)
{
    struct operands operands = {.count = 0};

    for (int step = 0; bytes.is_good && bytes.at < bytes.end; step++) {
        if (step == STEP_MAX)
            return bad;
        operate(&operands, &bytes, registers, pc);
    }
    return bytes.is_good ? pop(&operands) : bad;
}
