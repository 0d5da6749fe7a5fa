/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of tables and columns, as arrays.
 */
#include "summary.h"

const char *const summary_table_names[SUMMARY_TABLE_COUNT] = {
#define SUMMARY_TABLE(table, meaning) #table,
#include "summary_tables.def"
};

enum { IS_REQUIRED = false, IS_OPTIONAL = true };

const struct summary_column_info summary_columns[SUMMARY_COLUMN_COUNT] = {
#define SUMMARY_COLUMN(table, column, kind, presence, meaning)                                     \
    {SUMMARY_##table, #column, SUMMARY_##kind, IS_##presence},
#include "summary_tables.def"
};
