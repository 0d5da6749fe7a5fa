/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of what account_parts.def lists, and what an account could not tell.
 */
#ifndef LEAKTIDE_ACCOUNT_PARTS_H
#define LEAKTIDE_ACCOUNT_PARTS_H

enum account_part {
#define ACCOUNT_PART(id, key) ACCOUNT_##id,
#include "account_parts.def"
    ACCOUNT_PART_COUNT
};

enum account_figure {
#define ACCOUNT_FIGURE(id, key) ACCOUNT_FIGURE_##id,
#include "account_parts.def"
    ACCOUNT_FIGURE_COUNT
};

enum account_cgroup_figure {
#define ACCOUNT_CGROUP(id, key, title) ACCOUNT_CGROUP_##id,
#include "account_parts.def"
    ACCOUNT_CGROUP_COUNT
};

enum account_doubt {
    ACCOUNT_NO_MEMORY_READ = 1,  /* the process's memory may not be read: heaps are not split */
    ACCOUNT_HEAP_ODD = 2,        /* a heap that is not laid out as glibc 2.31 to 2.41 does */
    ACCOUNT_FASTBINS_UNREAD = 4, /* blocks in fast bins of an arena count as in use */
    ACCOUNT_SCAN_ENDED = 8,      /* not every page of large mappings was looked at */
    ACCOUNT_LESS = 16,           /* the process became smaller while it was read */
    ACCOUNT_IS_ROUGH = 32,       /* heaps and plain mappings were not looked into */
    ACCOUNT_MORE = 64            /* it became larger while it was read */
};

/* Rows of a heap of another allocator are named by this, and the object that it is linked into. */
#define ACCOUNT_NAME_JEMALLOC     "jemalloc of "
#define ACCOUNT_NAME_TCMALLOC     "tcmalloc of "
#define ACCOUNT_NAME_MIMALLOC     "mimalloc of "

/* And rows of V8's heap. */
#define ACCOUNT_NAME_V8_OBJECTS   "objects of V8, with garbage not collected yet"
#define ACCOUNT_NAME_V8_YOUNG     "young objects of V8, not split"
#define ACCOUNT_NAME_V8_KEPT      "kept free by V8"

/* Subjects of the notes of a trace: docs/trace-format.md. */
#define ACCOUNT_SUBJECT           "account"
#define ACCOUNT_SUBJECT_PART      "account part "
#define ACCOUNT_SUBJECT_FIGURE    "account figure"
#define ACCOUNT_SUBJECT_CGROUP    "account cgroup"
#define ACCOUNT_SUBJECT_CGROUP_AT "account cgroup path"
#define ACCOUNT_SUBJECT_MAPPED    "account also mapped by"
#define ACCOUNT_SUBJECT_END       "account end"
#define ACCOUNT_SUBJECT_KILLED    "account killed"

#endif
