/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data inside of a page: columns, deflated, as base64 in script elements that are no scripts.
 *
 *   <script type="application/octet-stream" id="data-NAME">base64(zlib(header LF columns))</script>
 *
 * header   JSON on one line: {"columns": [{"key", "kind", "rows", "bytes"} ...]}
 * columns  one after the other; kind says how:
 *            plain  varints: 7 bits a byte, lowest first, the top bit says that more follow
 *            delta  varints of the zigzag of the difference to the row before, modulo 2^64
 *            text   UTF-8, made harmless as for a terminal, a zero byte after each
 *
 * Nothing of what a stranger wrote is ever outside of the base64.
 */
#ifndef LEAKTIDE_REPORT_PAYLOAD_H
#define LEAKTIDE_REPORT_PAYLOAD_H

#include "report.h"

void payload_write_columns(const char *name, const struct report_dataset_column *columns,
                           size_t count, struct outlet *out);
/* JSON, made FOR_PAGE_JSON, without a header. */
void payload_write_json(const char *name, const struct outlet *json, struct outlet *out);

#endif
