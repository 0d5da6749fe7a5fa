/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of the database that `leaktide export --to sqlite` writes. docs/sqlite-schema.md says what
 * they mean; columns are only ever added at the end of a table, with a new SCHEMA_VERSION.
 */
#ifndef LEAKTIDE_SQLITE_SCHEMA_H
#define LEAKTIDE_SQLITE_SCHEMA_H

#define SQLITE_SCHEMA_VERSION "1"

enum sqlite_table {
    TABLE_ABOUT,
    TABLE_PROCESSES,
    TABLE_THREADS,
    TABLE_LEDGERS,
    TABLE_FRAMES,
    TABLE_SITES,
    TABLE_SITE_FRAMES,
    TABLE_OPERATORS,
    TABLE_OWNERS,
    TABLE_DRIVER_MODULES,
    TABLE_STEPS,
    TABLE_PHASES,
    TABLE_BLOCKS,
    TABLE_RESERVED,
    TABLE_SAMPLES,
    TABLE_EVENTS,
    TABLE_OLDER_FREES,
    TABLE_EVENT_KINDS,
    TABLE_NOTES,
    TABLE_ACCOUNTS,
    TABLE_COUNT
};

struct sqlite_table_shape {
    const char *name;
    unsigned column_count;
};

extern const struct sqlite_table_shape sqlite_tables[TABLE_COUNT];
extern const char sqlite_schema[];  /* makes the tables */
extern const char sqlite_indexes[]; /* makes indexes and views, when the rows are there */

#endif
