/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What somebody asks for in the words of msleaks or msmemscope.
 *
 * The tool had two names. Both take the options of all versions; the name decides what the words
 * say that changed their meaning, how messages begin, and what output is called.
 */
#ifndef LEAKTIDE_CLI_COMPAT_REQUEST_H
#define LEAKTIDE_CLI_COMPAT_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "dump_write.h"
#include "error_sentence.h"
#include "text_builder.h"

enum compat_name { COMPAT_MSLEAKS, COMPAT_MSMEMSCOPE, COMPAT_NAMES };

/* What differs between the names. */
struct compat_generation {
    enum compat_name name;
    const char *program;        /* "msleaks" */
    const char *version;        /* the newest version of that name whose words are known */
    const char *error_word;     /* "ERROR" in "[msleaks] ERROR: ..." */
    const char *output_folder;  /* "leaksDumpResults" */
    const char *dump_prefix;    /* "leaks_dump": of files and of the table in a database */
    const char *process_prefix; /* "msleaks" in "msleaks_<pid>_<time>_ascend" */
    bool has_process_folders;   /* by default; else everything is in one folder "dump" */
};

/* argv[0] or the first word; a path before it and an ending ".bin" do not matter. */
const struct compat_generation *compat_generation_find(const char *program);

enum compat_log { COMPAT_DEBUG, COMPAT_INFO, COMPAT_WARNING, COMPAT_ERROR };

struct compat_watch {
    bool is_wanted, has_full_content, has_output_id;
    uint32_t output_id;
    const char *start, *end; /* operators; start may be "" */
};

struct compat_offline {
    const char *mark; /* --mstx-info */
    uint32_t start_index;
    uint64_t least_bytes;           /* --mem-size: smaller blocks are not judged */
    uint32_t inefficient_types;     /* enum dump_inefficient; 0: all */
    uint32_t idle_threshold;        /* operators between two accesses */
    bool has_start_index, has_mark; /* given */
};

/* Texts are those of argv, or live in the arena. Released with compat_request_release(). */
struct compat_request {
    const struct compat_generation *generation;
    bool wants_help, wants_version, wants_compare, is_deferred;
    bool has_process_folders;
    bool is_level_given;
    /* What is to be written, but for what only the writing knows: context and file_make. steps: as
     * given, owned by this. */
    struct dump_write dump;
    struct compat_watch watch;
    struct compat_offline offline;
    const char *inputs[2];
    size_t input_count;
    bool has_recording; /* the only input is a folder of ours */
    const char *output_path;
    enum compat_log log_level;
    bool is_host_by_event; /* --host-leak-mode=event */
    uint64_t block_size_threshold;
    uint32_t sample_rate;
    int32_t attach_pid; /* 0: none */
    const char *attach_command;
    char **program; /* ends with NULL */
    size_t program_count;
    struct text_builder notes; /* lines for stderr: deprecations, what was taken how */
    struct arena arena;
};

/* Which events must be recorded for the analyses, whether or not they are written. */
uint32_t compat_events_needed(const struct compat_request *request);

/*
 * argv[0] is passed over. Options may stand anywhere: known ones after the program, too, up to
 * the first that is not known or up to "--". MT_USAGE and the tool's own sentence for whatever is
 * wrong.
 */
enum mt_result compat_request_read(struct compat_request *request,
                                   const struct compat_generation *generation, int argc,
                                   char **argv, struct mt_error *error);
void compat_request_release(struct compat_request *request);

#endif
