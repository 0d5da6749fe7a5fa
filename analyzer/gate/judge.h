/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A policy held against recordings: one case for each number that a rule is about.
 *
 * Nothing passes for lack of data. A rule that cannot be judged is a case too, and says why.
 */
#ifndef LEAKTIDE_GATE_JUDGE_H
#define LEAKTIDE_GATE_JUDGE_H

#include "baseline.h"
#include "measures.h"
#include "policy.h"
#include "suppressions.h"

enum case_outcome {
    CASE_PASSED,
    CASE_SUPPRESSED,
    CASE_REMARK,     /* nothing wrong, but somebody should know */
    CASE_UNSURE,     /* too little data to judge */
    CASE_INCOMPLETE, /* the recording is */
    CASE_FAILED,
    CASE_OUTCOME_COUNT
};

struct gate_case {
    const char *rule; /* "peak_live", "leak": the key in the policy */
    const char *key;  /* unique in a verdict */
    const char *name; /* for people: "peak of host, against the baseline"; NULL: the key */
    const char *sentence;
    enum case_outcome outcome;
    unsigned policy_line; /* 0: not of one line */
    const struct measure *measure;
    struct place_in_code where;
    /* For programs: bytes, bytes per step, or hundredths of a percent. */
    const char *unit; /* as in JSON; NULL: has no value */
    bool has_limit, has_base;
    uint64_t value, limit, base;
};

/* One recording of the job, or the summaries of its ranks; all are repeats of the same, and of one
 * kind. */
struct recording {
    struct question question;
    const struct summary *summary; /* instead of the question; NULL: there is one */
    const char *missing;           /* of a summary that is not complete: what */
    const char *unjudged; /* of a summary: ranks of which "no leak" cannot be said; NULL: none */
    size_t judged_count;  /* of a summary: sites */
    bool is_complete;
    const char *path;
};

struct gate_verdict {
    struct arena arena; /* of texts and rows; remembers if there was no memory */
    struct table cases; /* struct gate_case, in the order of the policy */
    size_t counts[CASE_OUTCOME_COUNT];
    struct measures measures;
    struct table leaks; /* struct gate_leak */
    const char *policy_path, *baseline_path;
    const char *recording_path; /* of the first; "": not known */
    size_t recording_count;
    uint32_t step_count; /* fewest of the recordings */
};

/* A leak, or a growing cache where those are not allowed, of one key. */
struct gate_leak {
    const char *key;
    const char *device, *pool;
    const char *sentence; /* of the site that grows most: leak_words.h */
    struct place_in_code where;
    size_t repeat_count; /* recordings that have it */
    size_t last_repeat;  /* the last of them */
    /* The most that one site of the key has, in any recording. */
    uint64_t growth_per_step, alive_bytes;
    bool is_cache;
    bool is_by_turn; /* found without steps: growth_per_step is of a turn, 0: not known */
    const struct suppression *suppression; /* the first that matches */
};

/* What is judged; baseline and suppressions may be NULL. */
struct gate {
    const struct policy *policy;
    const struct baseline_file *baseline;
    struct suppressions *suppressions; /* their uses are counted */
    const struct recording *recordings;
    size_t recording_count;
};

/* MT_NO_MEMORY. The recordings must outlive the verdict. */
enum mt_result gate_judge(const struct gate *gate, struct gate_verdict **out,
                          struct mt_error *error);
void gate_verdict_destroy(struct gate_verdict *verdict);
/* Asserts that cases are whole, and that their counts are right. */
void gate_verdict_check(const struct gate_verdict *verdict);

size_t gate_case_count(const struct gate_verdict *verdict);
const struct gate_case *gate_case_at(const struct gate_verdict *verdict, size_t index);
const char *case_outcome_word(enum case_outcome outcome); /* for programs: "unsure" */
const char *case_outcome_name(enum case_outcome outcome); /* for people: "cannot judge" */
const char *case_name(const struct gate_case *row);       /* for people; never NULL */

/* For the files that judge. */

void gate_add(struct gate_verdict *verdict, const struct gate_case *row);
/* "pta on npu:0"; of what has no number, "host", the pool alone: it is nowhere else. */
const char *pool_words(struct arena *arena, const char *pool, const char *device);
/* Bytes as a size, a share as "8.05 %". */
const char *amount_label(struct arena *arena, enum rule_kind kind, uint64_t amount);

/* The row of this key, which is new where it is not there yet; NULL without memory. */
struct gate_leak *gate_leak_for(struct gate_verdict *verdict, const char *key);
/* The first that matches a label or one of its frames; counts its use. NULL: none. */
const struct suppression *gate_suppression_of(const struct gate *gate, const char *label,
                                              const struct symbol_frame *frames,
                                              size_t frame_count);

/* How a leak stands to the limits of the policy. */
enum leak_standing { LEAK_WITHIN, LEAK_OVER, LEAK_UNRATED };
/* rate_bytes 0: not known; it is not lower than least_rate_bytes. */
enum leak_standing leak_standing_of(const struct policy *policy, uint64_t rate_bytes,
                                    uint64_t least_rate_bytes);

/* What does not fail, of all recordings. */
struct leaks_found {
    size_t judged_count;
    size_t within_count, unrated_count;
    const char *within, *unrated; /* the first of these, as a sentence */
    bool is_by_stacks;            /* of one of them */
};
void leaks_found_note(struct leaks_found *found, enum leak_standing standing, const char *words);

/* summary_leaks.c: adds the leaks of a repeat that are over the limit; notes the others. */
void summary_leaks_find(const struct gate *gate, struct gate_verdict *verdict, size_t repeat,
                        struct leaks_found *found);

/* judge_limits.c, judge_leaks.c */
void judge_limits(const struct gate *gate, struct gate_verdict *verdict);
void judge_leaks(const struct gate *gate, struct gate_verdict *verdict);

#endif
