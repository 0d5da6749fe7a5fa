/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps and ranges as a snapshot has them: "external_annotations", a list of beginnings and ends.
 */
#ifndef LEAKTIDE_VIZ_ANNOTATIONS_H
#define LEAKTIDE_VIZ_ANNOTATIONS_H

#include "export.h"
#include "snapshot_writer.h"

/* The member of the map that is being written; none where there are neither. Reads the recording:
 * as lives_read(). */
enum mt_result viz_put_annotations(const struct export_request *request,
                                   struct snapshot_writer *writer, struct mt_error *error);

#endif
