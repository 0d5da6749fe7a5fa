/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_view.json of a rank, with its steps only: readers of the csv files find them there.
 */
#ifndef LEAKTIDE_ASCEND_TRACE_VIEW_H
#define LEAKTIDE_ASCEND_TRACE_VIEW_H

#include "database_writer.h"

/* From the table STEP_TIME; no file where there are no steps. name is for sentences. MT_USAGE. */
enum mt_result ascend_trace_view_write(struct database_writer *tables, const char *folder,
                                       const char *name, uint64_t process_id,
                                       struct mt_error *error);

#endif
