/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine on this machine is asked to compare ranks.
 */
#ifndef LEAKTIDE_CLI_RANK_ENGINE_H
#define LEAKTIDE_CLI_RANK_ENGINE_H

#include "leaktide/analyzer.h"

/*
 * Runs the query of mt_summaries_query() on the engine, in a folder below TMPDIR that is removed,
 * and reads what it returns. MT_UNSUPPORTED: the engine is not there; MT_IO: it fails, with the
 * last line that it said; MT_USAGE: no such engine.
 */
enum mt_result rank_engine_ask(const char *engine, const char *const *paths, size_t count,
                               const char *parallel, struct mt_answer **out,
                               struct mt_error *error);

#endif
