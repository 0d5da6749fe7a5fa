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
#include "leaktide/error.h"

/* What a rule limits. policy.c and measures.c hold a table each. */
enum rule_kind {
    RULE_PEAK_LIVE,
    RULE_PEAK_RESERVED,
    RULE_FRAGMENTATION, /* hundredths of a percent */
    RULE_UNATTRIBUTED,
    RULE_SITE,
    RULE_OWNER,
    RULE_PHASE,
    RULE_RANKS, /* hundredths of a percent */
    RULE_KIND_COUNT
};

/* Its numbers are hundredths of a percent, not bytes. */
bool kind_is_share(enum rule_kind kind);

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
        uint64_t steps_min;
        unsigned steps_line;
        int warm_up_steps; /* -1: chosen */
        bool is_complete_needed;
    } require;
    struct {
        bool is_asked; /* there is a [leak] table */
        unsigned line;
        double chance_max;  /* 1 - confidence */
        uint64_t slope_min; /* bytes per step */
        bool allows_caches;
        bool has_window_growth;
        uint64_t window_growth; /* bytes, where there are no steps */
        unsigned window_line;
    } leak;
    const char *baseline_path, *suppressions_path; /* as in the file, or NULL */
    struct policy_rule *rules;                     /* in the order of the file */
    bool has_relative;
};

/* MT_NOT_FOUND, MT_IO; MT_USAGE with file, line and what to write instead; MT_NO_MEMORY. */
enum mt_result policy_open(const char *path, struct policy **out, struct mt_error *error);
void policy_close(struct policy *policy);

/* A whole file as text, terminated, in the arena. As policy_open. */
enum mt_result file_text(const char *path, struct arena *arena, const char **text,
                         size_t *size_bytes, struct mt_error *error);

#endif
