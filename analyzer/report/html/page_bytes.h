/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page without its data, as join.cmake makes it from the files of this folder.
 */
#ifndef LEAKTIDE_REPORT_PAGE_BYTES_H
#define LEAKTIDE_REPORT_PAGE_BYTES_H

#include <stddef.h>

extern const unsigned char page_before_verdict[], page_before_data[], page_after_data[];
extern const size_t page_before_verdict_bytes, page_before_data_bytes, page_after_data_bytes;

#endif
