/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the events of a chunk become columns, and back. Writer and reader share this predictor.
 *
 * A chunk's raw payload:
 *
 *   varint count of columns, then per column: varint number, varint length in bytes
 *   the bytes of the columns, in the same order
 *
 *   column 0      one byte an event: record code in the low 5 bits, hit bits above; 31: the code
 *                 is the next value of column 2
 *   column 1      time: varint difference to the event before, in time units; the first one to
 *                 the chunk's first_time
 *   column 2      codes from 32 on, of the events that have 31 in column 0
 *   column c*8+p  field p of the records with code c below 31
 *   column 256 + (c-32)*32 + p  field p of the records with code c from 32 on
 *
 * Columns that stay empty are left out.
 *
 * A reader passes over columns it does not know, so new records and fields hurt nobody.
 *
 * Encodings (all varint):
 *   PLAIN         the value
 *   DELTA         zigzag difference to the same field of the record of this code before
 *   DICTIONARY    0 and then a new value, which gets the next number from 1; else that number
 *   BYTES         length, then the bytes
 *   SITE          like DICTIONARY, with one dictionary for all sites of the chunk, new values as
 *                 zigzag difference to the newest; nothing at all if the hit bit is set: then it
 *                 is the site that followed the last two sites when they last met
 *   SIZE_AT_SITE  nothing if the hit bit is set: then it is the last size at this site
 *   NEW_ADDRESS   nothing if the hit bit is set: then it is the address that the predictor below
 *                 expects; else the difference to where it expects the next fresh block
 *   OLD_ADDRESS   hit bit: the block was made in this chunk; its age is how many blocks were made
 *                 since, and the value is the zigzag difference to the age coded before; else the
 *                 difference to the last old address coded so
 *
 * Differences of addresses are zigzag-coded in sixteenths, as in mt_zigzag_address().
 *
 * The hit bit of field p (p < 3) is bit 5 + p of the event's byte in column 0.
 *
 * Addresses are expected from how allocators work: the block freed last among those of the same
 * size class and made in this chunk comes first; when there is none, the place right after the
 * last unexpected or carved block. Measured in docs/trace-format.md.
 */
#ifndef LEAKTIDE_COLUMNS_H
#define LEAKTIDE_COLUMNS_H

#include <stdint.h>
#include <string.h>

#include "leaktide/format.h"

#ifdef __cplusplus
extern "C" {
#endif

enum mt_encoding {
    MT_ENCODING_NONE = 0, /* no such field */
    MT_ENCODING_PLAIN,
    MT_ENCODING_DELTA,
    MT_ENCODING_DICTIONARY,
    MT_ENCODING_BYTES,
    MT_ENCODING_SITE,
    MT_ENCODING_SIZE_AT_SITE,
    MT_ENCODING_NEW_ADDRESS,
    MT_ENCODING_OLD_ADDRESS
};

enum {
    MT_COLUMN_CODE = 0,
    MT_COLUMN_TIME = 1,
    MT_COLUMN_LONG_CODE = 2,
    MT_CODE_BITS = 5,
    MT_CODE_MASK = (1 << MT_CODE_BITS) - 1,
    MT_CODE_LONG = MT_CODE_MASK, /* stands in column 0 for all codes that are larger */
    MT_FIELDS_OF_SHORT_CODE = 8,
    MT_COLUMNS_OF_LONG_CODE = 32,
    MT_FIELDS_MAX = 12,
    MT_COLUMN_END = (MT_CODE_LONG + 1) * MT_FIELDS_OF_SHORT_CODE +
                    (MT_RECORD_CODE_END - MT_CODE_LONG - 1) * MT_COLUMNS_OF_LONG_CODE,
    MT_COLUMN_TABLE_MAX = 2 + 5 * MT_COLUMN_END, /* bytes: every column at its longest */
    MT_DICTIONARY_END = 512,                     /* numbers of a column are 1 .. 511 */
    MT_SITE_END = 8192,                          /* numbers of sites are 1 .. 8191 */
    MT_FOLLOW_SLOTS = 4096,
    MT_SIZE_CLASSES = 2048
};

/* Encoding of a field, from records.def; MT_ENCODING_NONE after the last field of a record. */
static inline enum mt_encoding mt_field_encoding(unsigned code, unsigned position)
{
#define FIELD(name, encoding)               MT_ENCODING_##encoding,
#define RECORD(code, name, fields, meaning) {fields}, /* codes are in order, from 1, without 31 */
    static const uint8_t encodings[MT_RECORD_CODE_END - 1][MT_FIELDS_MAX] = {
        {0},
#include "records.def"
    };
#undef RECORD
#undef FIELD
    if (code == MT_CODE_LONG)
        return MT_ENCODING_NONE;
    return (enum mt_encoding)encodings[code - (code > MT_CODE_LONG)][position];
}

static inline unsigned mt_column_of(unsigned code, unsigned position)
{
    if (code < MT_CODE_LONG)
        return code * MT_FIELDS_OF_SHORT_CODE + position;
    return (MT_CODE_LONG + 1) * MT_FIELDS_OF_SHORT_CODE +
           (code - MT_CODE_LONG - 1) * MT_COLUMNS_OF_LONG_CODE + position;
}

/* Columns of the four records of blocks, in the order of records.def, which writer and reader know
 * by heart; and the bits of their codes that say that a field was foreseen. */
enum {
    MT_COLUMN_HOST_SITE = MT_RECORD_host_alloc * MT_FIELDS_OF_SHORT_CODE,
    MT_COLUMN_HOST_SIZE,
    MT_COLUMN_HOST_NEW_ADDRESS,
    MT_COLUMN_HOST_OLD_ADDRESS = MT_RECORD_host_free * MT_FIELDS_OF_SHORT_CODE,
    MT_COLUMN_POOL_SITE = MT_RECORD_alloc * MT_FIELDS_OF_SHORT_CODE,
    MT_COLUMN_POOL_SIZE,
    MT_COLUMN_POOL_NEW_ADDRESS,
    MT_COLUMN_POOL_OF_ALLOC,
    MT_COLUMN_PLACE_OF_ALLOC,
    MT_COLUMN_POOL_OLD_ADDRESS = MT_RECORD_free * MT_FIELDS_OF_SHORT_CODE,
    MT_COLUMN_POOL_OF_FREE,

    MT_HIT_SITE = 1 << MT_CODE_BITS,
    MT_HIT_SIZE = MT_HIT_SITE << 1,
    MT_HIT_NEW_ADDRESS = MT_HIT_SITE << 2,
    MT_HIT_OLD_ADDRESS = MT_HIT_SITE
};

/* What is asked of a block is asked together: one line of the cache. */
struct mt_made_block {
    uint64_t address;
    uint16_t size_class;
    uint16_t free_below; /* block freed before it, same class */
};

/*
 * The made blocks of a chunk are numbered from 1. Number 0 stands for the fresh block that nobody
 * made yet: its address is where it is expected, and nothing was freed below it.
 */
struct mt_predictor {
    uint32_t made_count;
    uint32_t site_count;
    uint32_t site_before, site_before_that; /* numbers */
    uint64_t newest_site;
    uint32_t old_age;                   /* the last age that was coded */
    uint64_t old_address;               /* the last old address that was coded */
    uint16_t follow[MT_FOLLOW_SLOTS];   /* site number by the two before */
    uint16_t free_top[MT_SIZE_CLASSES]; /* block number freed last, by size class */
    uint64_t site[MT_SITE_END];
    uint64_t size_at_site[MT_SITE_END];
    struct mt_made_block block[MT_CHUNK_EVENTS_MAX + 1];
};

/* The arrays by number are written before they are read. */
static inline void mt_predictor_reset(struct mt_predictor *p)
{
    p->made_count = p->site_count = 0;
    p->site_before = p->site_before_that = 0;
    p->newest_site = 0;
    p->old_age = 0;
    p->old_address = 0;
    p->block[0].address = p->block[0].size_class = p->block[0].free_below = 0;
    p->site[0] = p->size_at_site[0] = 0;
    memset(p->follow, 0, sizeof(p->follow));
    memset(p->free_top, 0, sizeof(p->free_top));
}

/* A site that has no number yet; 0 when the numbers are used up. */
static inline uint32_t mt_predictor_site_add(struct mt_predictor *p, uint64_t site)
{
    uint32_t number = p->site_count + 1;

    p->newest_site = site;
    if (number == MT_SITE_END)
        return 0;
    p->site_count = number;
    p->site[number] = site;
    p->size_at_site[number] = 0;
    return number;
}

static inline uint16_t *mt_predictor_follow(struct mt_predictor *p)
{
    uint32_t key = p->site_before * 0x9e3779b1u + p->site_before_that * 0x85ebca6bu;

    return &p->follow[key >> 20];
}

static inline void mt_predictor_site_seen(struct mt_predictor *p, uint16_t *follow, uint32_t site)
{
    *follow = (uint16_t)site;
    p->site_before_that = p->site_before;
    p->site_before = site;
}

/* What a block takes in most heaps: the size, 8 bytes more, in sixteenths, at least two. */
static inline uint64_t mt_size_units(uint64_t size)
{
    uint64_t units = (size + 23) >> 4;

    return units < 2 ? 2 : units;
}

/* Classes above 16 KiB share slots by hash. */
static inline uint32_t mt_size_class(uint64_t size)
{
    uint64_t units = mt_size_units(size);

    if (units < MT_SIZE_CLASSES / 2)
        return (uint32_t)units;
    return MT_SIZE_CLASSES / 2 + (uint32_t)((units * UINT64_C(0x9e3779b97f4a7c15)) >> 54);
}

static inline uint64_t mt_predictor_new_address(const struct mt_predictor *p, uint32_t size_class)
{
    return p->block[p->free_top[size_class]].address;
}

/*
 * Call after every new address, expected or not. Returns the block's number.
 * Without branches: whether an address was expected is hard to foresee for a processor.
 */
static inline uint32_t mt_predictor_made(struct mt_predictor *p, uint32_t size_class,
                                         uint64_t address, uint64_t size, int was_hit)
{
    uint32_t top = p->free_top[size_class];
    uint32_t number = ++p->made_count;
    uint64_t behind = address + mt_size_units(size) * 16;

    p->free_top[size_class] = p->block[top].free_below;
    p->block[0].address = (!top | !was_hit) ? behind : p->block[0].address;
    p->block[number].address = address;
    p->block[number].size_class = (uint16_t)size_class;
    return number;
}

/* Where the next fresh block is expected. */
static inline uint64_t mt_predictor_fresh_address(const struct mt_predictor *p)
{
    return p->block[0].address;
}

static inline void mt_predictor_freed(struct mt_predictor *p, uint32_t number)
{
    struct mt_made_block *block = &p->block[number];
    uint16_t *top = &p->free_top[block->size_class];

    block->free_below = *top;
    *top = (uint16_t)number;
}

#ifdef __cplusplus
}
#endif

#endif
