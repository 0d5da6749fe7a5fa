/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the call frame information of an object to the rule of one pc.
 *
 * Reads .eh_frame_hdr and .eh_frame as they lie in memory. Each read is bounded by the section's
 * `low` and `high`; damaged bytes give RULE_LOST or RULE_ABSENT. No lock, no heap, no writes
 * elsewhere: safe in a signal handler.
 *
 * Source: DWARF 5, section 6.4; Linux Standard Base, chapter "Exception Frames".
 */
#ifndef LEAKTIDE_TRACER_CFI_H
#define LEAKTIDE_TRACER_CFI_H

#include <stdint.h>

#include "rule.h"

/* Register numbers of DWARF. */
struct cfi_registers {
    uint32_t stack_pointer, frame_pointer, return_address;
    uint32_t pc; /* readable in expressions; UINT32_MAX: none */
};

extern const struct cfi_registers cfi_registers_x86_64;
extern const struct cfi_registers cfi_registers_aarch64;

struct cfi_section {
    const uint8_t *header;     /* .eh_frame_hdr, or NULL: this object has no rows */
    const uint8_t *low, *high; /* what may be read */
};

/*
 * The rule at `pc`, an address inside an instruction: for a return address hand in one byte less.
 */
struct unwind_rule cfi_rule_at(const struct cfi_section *section,
                               const struct cfi_registers *registers, uint64_t pc);

#endif
