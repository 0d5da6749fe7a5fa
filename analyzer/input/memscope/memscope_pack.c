/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   1 byte   kind, and whether it is of the system
 *   1 byte   which fields differ from those of the record before of this kind: enum difference
 *   varints  time since the record before; zigzag difference of the address; the fields that differ
 */
#include "memscope_pack.h"

#include <stddef.h>

#include "leaktide/codec.h"

enum difference {
    HAS_PROCESS = 1,
    HAS_POOL = 2,
    HAS_PLACE = 4,
    HAS_THREAD = 8,
    HAS_TEXT = 16,
    HAS_SITE = 32,
    HAS_TOTAL = 64,
    HAS_VALUE = 128
};

enum { is_system_bit = PACK_KINDS };

// clang-format off
#define FIELDS(X)                                                                                  \
    X(HAS_PROCESS, process, uint16_t) X(HAS_POOL, pool, uint16_t) X(HAS_PLACE, place, uint16_t)    \
    X(HAS_THREAD, thread, uint32_t) X(HAS_TEXT, text, uint32_t) X(HAS_SITE, site, uint32_t)        \
    X(HAS_TOTAL, total, uint64_t) X(HAS_VALUE, value, uint64_t)
// clang-format on

uint8_t *memscope_pack_put(struct memscope_pack *pack, const struct memscope_record *record,
                           uint8_t *out)
{
    struct memscope_record *before = &pack->newest[record->kind % PACK_KINDS];
    unsigned differences = 0;

#define COMPARE(bit, field, type) differences |= record->field != before->field ? (unsigned)bit : 0;
    FIELDS(COMPARE)
#undef COMPARE
    *out++ = (uint8_t)(record->kind | (record->is_system ? is_system_bit : 0));
    *out++ = (uint8_t)differences;
    out = mt_varint_put(out, record->time_ns - pack->time_ns);
    out = mt_varint_put(out, mt_zigzag(record->address - before->address));
    if (record->is_system)
        out = mt_varint_put(out, record->id);
    if (differences) {
#define PUT(bit, field, type)                                                                      \
    if (differences & bit)                                                                         \
        out = mt_varint_put(out, record->field);
        FIELDS(PUT)
#undef PUT
    }
    pack->time_ns = record->time_ns;
    *before = *record;
    return out;
}

static inline const uint8_t *get(const uint8_t *in, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    return in ? mt_varint_get(in, end, value) : NULL;
}

const uint8_t *memscope_pack_get(struct memscope_pack *pack, const uint8_t *in, const uint8_t *end,
                                 struct memscope_record *record)
{
    struct memscope_record *newest;
    unsigned head, differences;
    uint64_t value;

    if (end - in < 2)
        return NULL;
    head = *in++;
    differences = *in++;
    newest = &pack->newest[head % PACK_KINDS];
    newest->kind = head % PACK_KINDS;
    newest->is_system = (head & is_system_bit) != 0;
    in = get(in, end, &value);
    pack->time_ns += value;
    newest->time_ns = pack->time_ns;
    in = get(in, end, &value);
    newest->address += mt_unzigzag(value);
    if (newest->is_system) {
        in = get(in, end, &value);
        newest->id = (uint32_t)value;
    }
    if (differences) {
#define GET(bit, field, type)                                                                      \
    if (differences & bit) {                                                                       \
        in = get(in, end, &value);                                                                 \
        newest->field = (type)value;                                                               \
    }
        FIELDS(GET)
#undef GET
    }
    *record = *newest;
    return in;
}
