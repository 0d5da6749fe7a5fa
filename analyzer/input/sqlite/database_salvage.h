/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left of a database that was cut short, or of which pages are damaged.
 *
 * Only whole pages count: a row whose end is missing is never made up. The file is not changed.
 */
#ifndef LEAKTIDE_DATABASE_SALVAGE_H
#define LEAKTIDE_DATABASE_SALVAGE_H

#include <stdint.h>

struct sqlite3;

/*
 * Opens a database though pages at its end may be missing: its tables can be named, and their rows
 * read up to the first that is on a missing page. SQLITE_OK, or SQLite's code; *handle is to be
 * closed in any case.
 */
int database_open_cut(const char *uri, struct sqlite3 **handle);

/*
 * A private copy of all rows that can be read, table by table, up to the first page that cannot.
 * Tables keep their names and columns; indexes and views are left out. It lies in memory, and
 * where it is large in a temporary file of SQLite. left_out: which tables are not whole and how
 * many rows of each were read, "MEMORY_RECORD: 512 rows; OP_MEMORY: 0 rows"; "" if all are.
 *
 * SQLite finds rows from the root of a table down. A large table that is cut before the first page
 * of its upper levels, which lies after some 400 pages of rows, has none that can be found.
 */
struct database_saved {
    uint64_t row_count; /* of all tables */
    char left_out[1024];
};
int database_salvage(struct sqlite3 *damaged, struct sqlite3 **copy, struct database_saved *saved);

#endif
