/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites that read the same, as of a function that allocates for many: they are distinguished by the
 * first caller that only one of them has.
 *
 *     resize (list.c:21) < train:12
 */
#ifndef LEAKTIDE_REPORT_SITE_CALLERS_H
#define LEAKTIDE_REPORT_SITE_CALLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text_builder.h"

enum {
    SITE_CALLERS_MOST = 16, /* that are looked at */
    SITES_ALIKE_MOST = 64   /* more are a list that nobody reads line by line */
};

struct site_caller {
    const char *function, *file, *module; /* borrowed; "" where it is not known */
    uint32_t line;
};

/* Of one site: outward, the frames that people are shown. */
struct site_callers {
    struct site_caller rows[SITE_CALLERS_MOST];
    size_t count;
};

/* The next one outward. False: there is no room for more. */
bool site_callers_add(struct site_callers *callers, struct site_caller caller);
/* After the last, of native code: helpers in the source file of the site, or in its header, say
 * less than who called them, so they are left out if there is anybody else. A file of Python is no
 * unit of that kind. */
void site_callers_leave_helpers(struct site_callers *callers, const char *site_file);

/* NULL: its callers are those of another one, or part of them. */
const struct site_caller *site_callers_own(const struct site_callers *sites, size_t count,
                                           size_t site);

/* "train:12" */
void site_caller_add_words(struct text_builder *text, const struct site_caller *caller);

#endif
