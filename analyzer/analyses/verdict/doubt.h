/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why "no leak" cannot be said of a recording. doubts.def is the table of them.
 */
#ifndef LEAKTIDE_ANALYSES_DOUBT_H
#define LEAKTIDE_ANALYSES_DOUBT_H

#include "growth.h"
#include "survivors.h"

enum doubt_kind {
    DOUBT_NONE,
#define DOUBT(kind, word, weight, find, sentence, reason) DOUBT_##kind,
#include "doubts.def"
#undef DOUBT
    DOUBT_OLDER, /* of a summary that does not tell */
    DOUBT_KIND_COUNT
};

/* What was found; a sentence has those parts that its row names, the others are 0. */
struct doubt {
    enum doubt_kind kind;
    uint16_t process, ledger;    /* {process}, {ledger} */
    uint64_t bytes, other_bytes; /* {bytes}, {other_bytes} */
    uint64_t count, needed;      /* {count}, {blocks}, {judged}, {kernels}; {needed}, {missing} */
    uint64_t turns;              /* {turns}; 0: not known */
    uint64_t turn_bytes;         /* {per_turn}; 0: not known */
    uint64_t lasted_ns;          /* {lasted} */
    struct who who, other_who;   /* {who}, {other_who} */
    const char *detail, *to_do;  /* {detail}, {to_do}: in the language of the reader */
};

/* What is asked. */
struct doubt_ground {
    const struct question *question;
    const struct survivors *survivors; /* NULL: nothing was read of them */
    bool is_by_stacks;                 /* as in struct verdict */
    struct arena *arena;               /* of details */
};

/* Room for one of each kind. In the order of the table; how many. */
size_t doubts_find(const struct doubt_ground *ground, struct doubt doubts[DOUBT_KIND_COUNT]);

/* For people, in their language: a whole sentence. */
const char *doubt_sentence(const struct question *question, struct arena *arena,
                           const struct doubt *doubt);
/* "steps"; "" of DOUBT_NONE. */
const char *doubt_word(enum doubt_kind kind);
/* Of a summary: the first kind of this word; DOUBT_OLDER where it is not known. */
enum doubt_kind doubt_by_word(const char *word);
/* For people, in their language; without a full stop. */
const char *doubt_reason(enum doubt_kind kind);

#endif
