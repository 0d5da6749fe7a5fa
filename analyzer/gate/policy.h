/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a team has agreed on: limits, as written in a policy file. docs/gates.md describes the file.
 *
 * Every limit is one rule, whatever table it stands in, with the line it stands on. Texts are of
 * the policy's arena.
 */
#ifndef LEAKTIDE_GATE_POLICY_H
#define LEAKTIDE_GATE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "error_sentence.h"

/* What a rule limits: the lines LIMIT of rules.def. */
enum rule_kind {
#define CHECK(rule, id, sentence, to_do)
#define LIMIT(kind, ...) kind,
#include "rules.def"
#undef LIMIT
#undef CHECK
    RULE_KIND_COUNT
};

/* Its numbers are hundredths of a percent, not bytes. */
bool kind_is_share(enum rule_kind kind);
/* The word for it in keys and verdicts: "peak_live". */
const char *kind_rule(enum rule_kind kind);
/* The number, in a sentence. */
const char *kind_what(enum rule_kind kind);

struct policy_rule {
    enum rule_kind kind;
    unsigned line;
    const char *device, *pool; /* globs: "npu:*" */
    const char *name;          /* glob for a site, an owner, a phase; "*" else */
    bool has_max, has_relative;
    bool is_forced;   /* the relative limit may be tighter than the noise */
    uint64_t max;     /* bytes or hundredths of a percent */
    int64_t relative; /* hundredths of a percent more than the baseline */
    uint64_t floor;   /* growth below this is not judged by `relative` */
    struct policy_rule *next;
};

struct policy {
    const char *path;
    struct arena arena;
    struct {
        int64_t steps_min;
        unsigned steps_line;
        int64_t warm_up_steps; /* -1: chosen */
        bool is_complete_needed;
    } require;
    struct {
        bool is_asked; /* there is a [leak] table */
        unsigned line;
        double chance_max;  /* 1 - confidence; 1: each leak counts, as it was judged */
        uint64_t slope_min; /* bytes per step */
        bool allows_caches;
        uint64_t window_growth; /* bytes, where there are no steps */
        unsigned window_line;   /* 0: not limited */
    } leak;
    const char *baseline_path, *suppressions_path; /* as in the file, or NULL */
    int64_t baseline_runs_most; /* where the baseline is a folder of runs; 0: the usual number */
    struct policy_rule *rules;  /* in the order of the file */
    bool has_relative;
};

/* MT_NOT_FOUND, MT_IO; MT_USAGE with file, line and what to write instead; MT_NO_MEMORY. */
enum mt_result policy_open(const char *path, struct policy **out, struct mt_error *error);
void policy_close(struct policy *policy);
/* Asserts what must be true of every policy. */
void policy_check(const struct policy *policy);

/* A whole file as text, terminated, in the arena. As policy_open. */
enum mt_result file_text(const char *path, struct arena *arena, const char **text,
                         size_t *size_bytes, struct mt_error *error);

#endif
