/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The comparison of summaries as one query of SQL, for engines that read them where they lie.
 *
 * The query is rank_rules.sql with the numbers and measures of rank_rules.def. Dialects differ in
 * how files are named, and in nothing else. docs/summaries.md says what the query returns.
 */
#ifndef LEAKTIDE_ANALYSES_RANK_SQL_H
#define LEAKTIDE_ANALYSES_RANK_SQL_H

#include "rank_summaries.h"
#include "text_builder.h"

/* "duckdb"; NULL after the last. */
const char *rank_sql_dialect_at(size_t index);

/*
 * Adds the query to the text. Paths of this machine are searched for summaries; others, as of an
 * object store, hold them side by side. MT_USAGE: no such dialect; MT_NO_MEMORY.
 */
enum mt_result rank_sql_write(const struct rank_sources *sources, const char *dialect,
                              struct text_builder *text, struct mt_error *error);

#endif
