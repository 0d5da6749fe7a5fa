/* SPDX-License-Identifier: Apache-2.0 */
#include "cfi.h"

#include <stddef.h>

#include "cfi_bytes.h"
#include "cfi_expression.h"

enum { REMEMBERED_MAX = 8, ENTRY_MAX = 1 << 20 };

const struct cfi_registers cfi_registers_x86_64 = {7, 6, 16, 16};
const struct cfi_registers cfi_registers_aarch64 = {31, 29, 30, UINT32_MAX};

/* DW_CFA_*; the first three carry an operand in their low six bits. */
enum {
    CFA_ADVANCE_LOC = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_NOP = 0x00,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE_LOC1 = 0x02,
    CFA_ADVANCE_LOC2 = 0x03,
    CFA_ADVANCE_LOC4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER_STATE = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_REGISTER = 0x0d,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_DEF_CFA_OFFSET_SF = 0x13,
    CFA_VAL_OFFSET = 0x14,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_NEGATE_RA_STATE = 0x2d, /* aarch64: the return address is signed from here on, or not */
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f
};

/* What the program says of a register: nothing yet, a place, or that its value is gone. */
enum said { SAID_NOTHING, SAID_SAME, SAID_AT_CFA, SAID_AT, SAID_UNDEFINED, SAID_OTHER };

struct said_of {
    enum said said;
    int64_t offset_bytes;               /* SAID_AT_CFA */
    struct expression_value expression; /* SAID_AT: the address */
};

struct row {
    uint64_t cfa_register;
    int64_t cfa_offset_bytes;
    struct expression_value cfa_expression; /* instead, unless EXPRESSION_NUMBER */
    struct said_of frame_pointer, return_address;
};

/* The common part of entries, and where the entry of this pc begins and ends. */
struct entry {
    uint64_t code_factor;
    int64_t data_factor;
    uint64_t return_address_register;
    uint8_t pointer_encoding;
    bool is_signal, has_augmentation;
    uint64_t start, size_bytes;
    struct cfi_bytes common, own; /* instructions */
};

struct program {
    const struct cfi_section *section;
    const struct cfi_registers *registers;
    const struct entry *entry;
    uint64_t pc, at;
    struct row row, initial;
    struct row remembered[REMEMBERED_MAX];
    uint32_t remembered_count;
    bool is_good;
};

/* --- finding the entry ------------------------------------------------------------------ */

static bool is_inside(const struct cfi_section *section, uint64_t address)
{
    return address >= (uintptr_t)section->low && address < (uintptr_t)section->high;
}

static struct cfi_bytes bytes_from(const struct cfi_section *section, uint64_t address)
{
    if (!is_inside(section, address))
        return (struct cfi_bytes){section->low, section->low, false};
    return cfi_bytes_between((const uint8_t *)(uintptr_t)address, section->high);
}

/* Length, then what it counts. False at the terminator and at damage. */
static bool entry_bytes(struct cfi_bytes *all, struct cfi_bytes *content)
{
    uint64_t size_bytes = cfi_fixed(all, 4);

    if (size_bytes == 0xffffffff)
        size_bytes = cfi_fixed(all, 8);
    *content = cfi_part(all, size_bytes);
    return size_bytes != 0 && content->is_good;
}

static void read_augmentation(struct cfi_bytes *bytes, const char *letters, struct entry *entry)
{
    for (; *letters; letters++) {
        uint8_t encoding;

        switch (*letters) {
        case 'R':
            entry->pointer_encoding = (uint8_t)cfi_fixed(bytes, 1);
            break;
        case 'L':
            cfi_skip(bytes, 1);
            break;
        case 'P':
            encoding = (uint8_t)cfi_fixed(bytes, 1);
            cfi_pointer_value(bytes, encoding);
            break;
        case 'S':
            entry->is_signal = true;
            break;
        case 'B': /* aarch64: signed with the second key; the signature is cut off anyway */
            break;
        default: /* what follows is unknown, and its length was told */
            return;
        }
    }
}

static bool read_common(struct cfi_bytes all, struct entry *entry)
{
    struct cfi_bytes content, augmentation;
    const char *letters;
    uint64_t version;

    if (!entry_bytes(&all, &content) || cfi_fixed(&content, 4) != 0)
        return false;
    version = cfi_fixed(&content, 1);
    letters = (const char *)content.at;
    while (cfi_fixed(&content, 1) != 0)
        ;
    if (version != 1 && version != 3)
        return false;
    entry->code_factor = cfi_uleb(&content);
    entry->data_factor = cfi_sleb(&content);
    entry->return_address_register = version == 1 ? cfi_fixed(&content, 1) : cfi_uleb(&content);
    if (!content.is_good)
        return false;
    entry->has_augmentation = letters[0] == 'z';
    if (entry->has_augmentation) {
        augmentation = cfi_part(&content, cfi_uleb(&content));
        read_augmentation(&augmentation, letters + 1, entry);
        if (!augmentation.is_good)
            return false;
    } else if (letters[0]) {
        return false;
    }
    entry->common = content;
    return content.is_good;
}

/* all: at the length of an entry. False if it is common, damaged or the terminator. */
static bool read_entry(const struct cfi_section *section, struct cfi_bytes all, struct entry *entry)
{
    struct cfi_bytes content;
    uint64_t distance, place;

    *entry = (struct entry){.pointer_encoding = POINTER_ABSOLUTE};
    if (!entry_bytes(&all, &content))
        return false;
    place = (uintptr_t)content.at;
    distance = cfi_fixed(&content, 4);
    if (distance == 0 || !read_common(bytes_from(section, place - distance), entry))
        return false;
    entry->start = cfi_pointer(&content, entry->pointer_encoding, section->header);
    entry->size_bytes = cfi_pointer_value(&content, entry->pointer_encoding & 0x0f);
    if (entry->has_augmentation)
        cfi_skip(&content, cfi_uleb(&content));
    entry->own = content;
    return content.is_good && !(entry->pointer_encoding & POINTER_INDIRECT);
}

static bool covers(const struct entry *entry, uint64_t pc)
{
    return pc - entry->start < entry->size_bytes;
}

/* No sorted table: every entry is looked at. */
static bool find_by_looking(const struct cfi_section *section, struct cfi_bytes all, uint64_t pc,
                            struct entry *entry)
{
    for (int count = 0; count < ENTRY_MAX && all.is_good; count++) {
        struct cfi_bytes here = all, content;

        if (!entry_bytes(&all, &content))
            return false;
        if (read_entry(section, here, entry) && covers(entry, pc))
            return true;
    }
    return false;
}

static int32_t table_word(const uint8_t *table, uint64_t index)
{
    int32_t word;

    memcpy(&word, table + index * sizeof(word), sizeof(word));
    return word;
}

/* Pairs (start of function, its entry), each relative to the header, sorted. */
static bool find_in_table(const struct cfi_section *section, struct cfi_bytes table, uint64_t count,
                          uint64_t pc, struct entry *entry)
{
    uint64_t data = (uintptr_t)section->header;
    uint64_t low = 0, high = count;

    if (count > UINT32_MAX || !cfi_has(&table, count * 8))
        return false;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (data + (uint64_t)(int64_t)table_word(table.at, 2 * middle) <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    data += (uint64_t)(int64_t)table_word(table.at, 2 * low - 1);
    return read_entry(section, bytes_from(section, data), entry) && covers(entry, pc);
}

static bool find_entry(const struct cfi_section *section, uint64_t pc, struct entry *entry)
{
    struct cfi_bytes bytes = bytes_from(section, (uintptr_t)section->header);
    uint8_t frames_encoding, count_encoding, table_encoding;
    uint64_t frames, count;

    if (cfi_fixed(&bytes, 1) != 1)
        return false;
    frames_encoding = (uint8_t)cfi_fixed(&bytes, 1);
    count_encoding = (uint8_t)cfi_fixed(&bytes, 1);
    table_encoding = (uint8_t)cfi_fixed(&bytes, 1);
    frames = cfi_pointer(&bytes, frames_encoding, section->header);
    if (!bytes.is_good)
        return false;
    if (count_encoding == POINTER_NONE || table_encoding != (POINTER_DATA_RELATIVE | POINTER_S4))
        return find_by_looking(section, bytes_from(section, frames), pc, entry);
    count = cfi_pointer(&bytes, count_encoding, section->header);
    return bytes.is_good && find_in_table(section, bytes, count, pc, entry);
}

/* --- running its program ---------------------------------------------------------------- */

static struct said_of *said_of(struct program *program, uint64_t number)
{
    if (number == program->registers->frame_pointer)
        return &program->row.frame_pointer;
    if (number == program->entry->return_address_register)
        return &program->row.return_address;
    return NULL; /* not followed */
}

static void say(struct program *program, uint64_t number, enum said said, int64_t offset_bytes)
{
    struct said_of *target = said_of(program, number);

    if (target)
        *target = (struct said_of){said, offset_bytes, {EXPRESSION_BAD, 0, 0}};
}

static void restore(struct program *program, uint64_t number)
{
    if (number == program->registers->frame_pointer)
        program->row.frame_pointer = program->initial.frame_pointer;
    if (number == program->entry->return_address_register)
        program->row.return_address = program->initial.return_address;
}

static struct expression_value read_expression(struct program *program, struct cfi_bytes *bytes)
{
    struct cfi_bytes content = cfi_part(bytes, cfi_uleb(bytes));

    return cfi_expression(content, program->registers, program->pc);
}

static void say_expression(struct program *program, struct cfi_bytes *bytes)
{
    uint64_t number = cfi_uleb(bytes);
    struct expression_value value = read_expression(program, bytes);
    struct said_of *target = said_of(program, number);

    if (target)
        *target = (struct said_of){SAID_AT, 0, value};
}

static void define_cfa(struct program *program, uint64_t number, int64_t offset_bytes)
{
    program->row.cfa_register = number;
    program->row.cfa_offset_bytes = offset_bytes;
    program->row.cfa_expression = (struct expression_value){EXPRESSION_NUMBER, 0, 0};
}

static void keep_or_bring_back(struct program *program, bool is_keeping)
{
    if (is_keeping && program->remembered_count < REMEMBERED_MAX)
        program->remembered[program->remembered_count++] = program->row;
    else if (!is_keeping && program->remembered_count > 0)
        program->row = program->remembered[--program->remembered_count];
    else
        program->is_good = false;
}

/* The ways of saying where the CFA is. False: it is another instruction. */
static bool run_cfa(struct program *program, struct cfi_bytes *bytes, uint8_t instruction)
{
    int64_t factor = program->entry->data_factor;
    uint64_t number;

    switch (instruction) {
    case CFA_DEF_CFA:
        number = cfi_uleb(bytes);
        define_cfa(program, number, (int64_t)cfi_uleb(bytes));
        return true;
    case CFA_DEF_CFA_SF:
        number = cfi_uleb(bytes);
        define_cfa(program, number, cfi_sleb(bytes) * factor);
        return true;
    case CFA_DEF_CFA_REGISTER:
        define_cfa(program, cfi_uleb(bytes), program->row.cfa_offset_bytes);
        return true;
    case CFA_DEF_CFA_OFFSET:
        program->row.cfa_offset_bytes = (int64_t)cfi_uleb(bytes);
        return true;
    case CFA_DEF_CFA_OFFSET_SF:
        program->row.cfa_offset_bytes = cfi_sleb(bytes) * factor;
        return true;
    case CFA_DEF_CFA_EXPRESSION:
        program->row.cfa_expression = read_expression(program, bytes);
        return true;
    default:
        return false;
    }
}

/* The ways of saying where a register is. False: it is another instruction. */
static bool run_register(struct program *program, struct cfi_bytes *bytes, uint8_t instruction)
{
    int64_t factor = program->entry->data_factor;
    uint64_t number = cfi_uleb(bytes);

    switch (instruction) {
    case CFA_OFFSET_EXTENDED:
        say(program, number, SAID_AT_CFA, (int64_t)cfi_uleb(bytes) * factor);
        return true;
    case CFA_OFFSET_EXTENDED_SF:
        say(program, number, SAID_AT_CFA, cfi_sleb(bytes) * factor);
        return true;
    case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
        say(program, number, SAID_AT_CFA, -(int64_t)cfi_uleb(bytes) * factor);
        return true;
    case CFA_RESTORE_EXTENDED:
        restore(program, number);
        return true;
    case CFA_UNDEFINED:
        say(program, number, SAID_UNDEFINED, 0);
        return true;
    case CFA_SAME_VALUE:
        say(program, number, SAID_SAME, 0);
        return true;
    case CFA_REGISTER:
    case CFA_VAL_OFFSET:
    case CFA_VAL_OFFSET_SF: /* operands of one length, signed or not */
        cfi_uleb(bytes);
        say(program, number, SAID_OTHER, 0);
        return true;
    case CFA_VAL_EXPRESSION:
        read_expression(program, bytes);
        say(program, number, SAID_OTHER, 0);
        return true;
    default:
        return false;
    }
}

/* The ways of going on to the next row. False: it is another instruction. */
static bool run_advance(struct program *program, struct cfi_bytes *bytes, uint8_t instruction)
{
    uint32_t size_bytes;

    switch (instruction) {
    case CFA_ADVANCE_LOC1:
        size_bytes = 1;
        break;
    case CFA_ADVANCE_LOC2:
        size_bytes = 2;
        break;
    case CFA_ADVANCE_LOC4:
        size_bytes = 4;
        break;
    case CFA_SET_LOC:
        program->at =
            cfi_pointer(bytes, program->entry->pointer_encoding, program->section->header);
        return true;
    default:
        return false;
    }
    program->at += cfi_fixed(bytes, size_bytes) * program->entry->code_factor;
    return true;
}

static void run_extended(struct program *program, struct cfi_bytes *bytes, uint8_t instruction)
{
    if (instruction == CFA_NOP || instruction == CFA_NEGATE_RA_STATE)
        return;
    if (run_advance(program, bytes, instruction) || run_cfa(program, bytes, instruction))
        return;
    if (instruction == CFA_REMEMBER_STATE || instruction == CFA_RESTORE_STATE)
        keep_or_bring_back(program, instruction == CFA_REMEMBER_STATE);
    else if (instruction == CFA_EXPRESSION)
        say_expression(program, bytes);
    else if (instruction == CFA_GNU_ARGS_SIZE)
        cfi_uleb(bytes);
    else if (!run_register(program, bytes, instruction))
        program->is_good = false;
}

/* Up to the row that holds program->pc. */
static void run(struct program *program, struct cfi_bytes bytes)
{
    while (program->is_good && bytes.at < bytes.end && program->at <= program->pc) {
        uint8_t instruction = (uint8_t)cfi_fixed(&bytes, 1), operand = instruction & 0x3f;

        switch (instruction & 0xc0) {
        case CFA_ADVANCE_LOC:
            program->at += operand * program->entry->code_factor;
            break;
        case CFA_OFFSET:
            say(program, operand, SAID_AT_CFA,
                (int64_t)cfi_uleb(&bytes) * program->entry->data_factor);
            break;
        case CFA_RESTORE:
            restore(program, operand);
            break;
        default:
            run_extended(program, &bytes, instruction);
        }
        program->is_good = program->is_good && bytes.is_good;
    }
}

/* --- from the row to the rule ----------------------------------------------------------- */

static bool is_small(int64_t offset_bytes)
{
    return offset_bytes >= INT32_MIN && offset_bytes <= INT32_MAX;
}

static bool set_cfa(const struct program *program, struct unwind_rule *rule)
{
    struct expression_value at = program->row.cfa_expression;

    if (at.kind == EXPRESSION_NUMBER)
        at = (struct expression_value){EXPRESSION_REGISTER, (uint32_t)program->row.cfa_register,
                                       (uint64_t)program->row.cfa_offset_bytes};
    if (!is_small((int64_t)at.offset))
        return false;
    rule->cfa_offset_bytes = (int32_t)at.offset;
    if (at.kind == EXPRESSION_REGISTER && at.base == program->registers->stack_pointer)
        rule->base = BASE_SP;
    else if (at.kind == EXPRESSION_REGISTER && at.base == program->registers->frame_pointer)
        rule->base = BASE_FP;
    else if (at.kind == EXPRESSION_WORD_AT && at.base == program->registers->frame_pointer)
        rule->base = BASE_AT_FP;
    else
        return false;
    return true;
}

/* The address that an expression gives is taken as "at fp", or, from sp, as "at CFA". */
static struct rule_slot slot_of(const struct program *program, const struct said_of *said,
                                const struct unwind_rule *rule)
{
    const struct expression_value *at = &said->expression;
    int64_t offset = (int64_t)at->offset;

    switch (said->said) {
    case SAID_NOTHING:
    case SAID_SAME:
        return (struct rule_slot){PLACE_SAME, 0};
    case SAID_AT_CFA:
        if (is_small(said->offset_bytes))
            return (struct rule_slot){PLACE_AT_CFA, (int32_t)said->offset_bytes};
        break;
    case SAID_AT:
        if (at->kind != EXPRESSION_REGISTER || !is_small(offset))
            break;
        if (at->base == program->registers->frame_pointer)
            return (struct rule_slot){PLACE_AT_FP, (int32_t)offset};
        offset -= rule->cfa_offset_bytes;
        if (at->base == program->registers->stack_pointer && rule->base == BASE_SP &&
            is_small(offset))
            return (struct rule_slot){PLACE_AT_CFA, (int32_t)offset};
        break;
    case SAID_UNDEFINED:
    case SAID_OTHER:
        break;
    }
    return (struct rule_slot){PLACE_LOST, 0};
}

static struct unwind_rule rule_of(const struct program *program)
{
    const struct row *row = &program->row;
    struct unwind_rule rule = {.kind = RULE_LOST};

    if (!program->is_good)
        return rule;
    if (program->entry->is_signal) {
        rule.kind = RULE_SIGNAL;
        return rule;
    }
    if (row->return_address.said == SAID_UNDEFINED) {
        rule.kind = RULE_END;
        return rule;
    }
    if (!set_cfa(program, &rule))
        return rule;
    rule.return_address = slot_of(program, &row->return_address, &rule);
    rule.frame_pointer = slot_of(program, &row->frame_pointer, &rule);
    if (rule.return_address.place != PLACE_LOST)
        rule.kind = RULE_FRAME;
    return rule;
}

struct unwind_rule cfi_rule_at(const struct cfi_section *section,
                               const struct cfi_registers *registers, uint64_t pc)
{
    struct entry entry;
    struct program program;

    if (!section->header || !find_entry(section, pc, &entry))
        return (struct unwind_rule){.kind = RULE_ABSENT};
    program.section = section;
    program.registers = registers;
    program.entry = &entry;
    program.pc = pc;
    program.at = entry.start;
    program.row = program.initial =
        (struct row){.cfa_register = UINT64_MAX, .cfa_expression = {EXPRESSION_NUMBER, 0, 0}};
    program.remembered_count = 0;
    program.is_good = true;
    run(&program, entry.common);
    program.initial = program.row;
    run(&program, entry.own);
    return rule_of(&program);
}
