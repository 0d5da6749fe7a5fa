/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording is made of, apart from its events: texts, pools, places, sites, threads,
 * processes, modules, and what is known to be missing.
 *
 * Sources (analyzer/input) fill the tables while they hand out events; analyses read them. A
 * table only grows, so an index stays valid. Everything lives in the model's arena until
 * model_destroy().
 *
 * One thread fills. What an event names may be looked up meanwhile by the thread that was handed
 * the event; a reading that is not the first one changes no row that is there, so that all of it
 * may be looked up. Anybody may note something.
 */
#ifndef LEAKTIDE_MODEL_H
#define LEAKTIDE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error_sentence.h"
#include "leaktide/format.h"
#include "operator_view.h"
#include "pools.h"

struct model;

/*
 * One frame of a call stack. Native frames of our own traces are addresses, to be named later;
 * sources that tell names, and frames of Python, give texts.
 */
struct model_frame {
    uint16_t process;
    uint8_t kind;            /* enum model_frame_kind */
    uint32_t line;           /* 0: not known */
    uint32_t function, file; /* texts; 0: not known */
    uint32_t module;         /* text: path of its object, from sources that tell it; else 0 */
    uint64_t address;        /* return address in the process; 0: none */
    uint64_t time_ns;        /* when it was first seen */
};

enum model_frame_kind { FRAME_NATIVE, FRAME_PYTHON, FRAME_KIND_COUNT };

/* What a frame is to the stacks it is in. Loaded: of a module, package or library that the program
 * loads, if reports show it; their plumbing is among the others. Unknown: native, of an object that
 * was not recorded yet, as of constructors. */
enum frame_part { FRAME_OTHER, FRAME_OF_PROGRAM, FRAME_OF_LOADER, FRAME_LOADED, FRAME_UNKNOWN };

/*
 * Where a stack is: not called by the program, as far as rules tell; called by it; or within what
 * the program loads: from the loader's first frame inward, up to the next frame of the program.
 */
enum stack_part { STACK_OF_OTHERS, STACK_OF_PROGRAM, STACK_OF_LOAD };

/* A stack is its innermost frame and the stack of the caller. */
struct model_stack {
    uint32_t frame : 30;
    uint32_t part : 2; /* enum stack_part */
    uint32_t outer;    /* stack; 0: none */
};

struct model_site {
    uint16_t process;
    uint64_t address; /* return address; 0 when there is a stack or only a label */
    uint64_t time_ns; /* when it was first seen */
    uint32_t label;   /* text: its name, from sources that tell names, not addresses; else 0 */
    uint32_t stack;   /* 0: the source has no stacks, or this event had none */
};

/* Sites of the stacks of one stream of a process; borrowed from the model. */
struct kept_sites {
    const uint32_t *sites; /* of the stacks first_id and up */
    uint64_t first_id;
    size_t count;
};

struct model_thread {
    uint16_t process;
    uint64_t thread_id; /* the kernel's */
    uint32_t name;      /* text */
};

struct model_module {
    uint16_t process;
    uint64_t base, size_bytes;
    uint64_t bias;                   /* link address = address - bias */
    uint64_t loaded_ns, unloaded_ns; /* first, and last; UINT64_MAX while loaded */
    uint32_t path;                   /* text */
    uint8_t build_id[64];
    uint8_t build_id_bytes;
};

/* What a process could have of the host, when a request was refused last; 0: no limit, or not
 * known. */
struct memory_limits {
    uint64_t address_bytes, data_bytes; /* set for it: RLIMIT_AS, RLIMIT_DATA */
    uint64_t machine_bytes;             /* memory and swap */
};

struct model_process {
    uint64_t process_id, parent_process_id;
    uint64_t start_realtime_ns;
    uint64_t start_ns, end_ns;                  /* on the run's own time line, as event.time_ns */
    uint32_t executable, command_line, options; /* texts */
    uint32_t source;                            /* text: the file it came from */
    uint32_t allocator_settings; /* text: of its caching allocator; 0: none were given */
    int32_t rank;                /* -1: not known */
    /* What its launcher gave to the rank and so to its helpers; 0: not known. */
    uint32_t job_rank_number; /* from 1 */
    uint32_t world_size;      /* ranks of the job */
    bool is_complete;         /* its recorder closed the trace */
    bool has_function_stacks; /* which call of a function asked for a block is not known */
    bool is_window;           /* the program went on: what it freed was not freed by its end */
    bool times_are_events;    /* its source tells no times: numbers of events stand for them */
    bool blocks_are_rows;     /* no addresses: that of a block is the row it stands in, from 1 */
    uint64_t event_count;
    uint64_t lost_counts[MT_LOST_KINDS];
    bool hides_objects;  /* its interpreter's own allocator made some that are not recorded */
    bool has_exited;     /* it called exit, or its main returned */
    bool ended_at_once;  /* it called _exit: no handler ran */
    bool is_end_known;   /* its launcher saw it: with exit_status, or by end_signal */
    uint8_t exit_status; /* of all three */
    uint8_t end_signal;  /* that ended it; 0: none did, or nobody saw it */
    struct memory_limits limits;
    bool is_helper; /* helpers.h */
    bool is_errand; /* the same */
    uint32_t input; /* of the recordings that are read as one; model_begin_input() */
};

/* Of a block whose process says blocks_are_rows: its row in its file, from 0. */
static inline uint64_t model_block_row(uint64_t address)
{
    return (address & ((UINT64_C(1) << 40) - 1)) - 1;
}

enum mt_result model_create(struct model **out, struct mt_error *error);
void model_destroy(struct model *model);

/*
 * Each returns the index of what it was given, adding it when it is new. Running out of memory
 * makes the model answer 0 from then on; model_status() tells at the end.
 */
uint32_t model_text(struct model *model, const char *bytes, size_t size_bytes);
uint16_t model_pool(struct model *model, uint32_t name_text);
uint16_t model_known_pool(struct model *model, enum pool_id id);
uint16_t model_place(struct model *model, struct mt_place place);
uint32_t model_site(struct model *model, struct model_site site);
/* That will be asked for soon: time to fetch where it may be found. */
void model_site_soon(const struct model *model, struct model_site site);
uint32_t model_frame(struct model *model, struct model_frame frame);
/* The stack of a callee: frame, called from `outer`. Equal stacks have equal numbers; 0 is none. */
uint32_t model_stack(struct model *model, uint32_t outer, uint32_t frame);
/* That will be asked for soon: time to fetch where it may be found. */
void model_stack_soon(const struct model *model, uint32_t outer, uint32_t frame);
/*
 * Room for the sites of a stream's stacks, from first_id on, each to be filled in once: the next
 * reading gets them without a look at the stacks. NULL: no memory, or a reading that is not the
 * first.
 */
uint32_t *model_keep_sites(struct model *model, uint16_t process, uint32_t stream,
                           uint64_t first_id, size_t count);
/* What the first reading kept; count 0: nothing, or this is the first. */
struct kept_sites model_kept_sites(const struct model *model, uint16_t process, uint32_t stream);
uint32_t model_thread(struct model *model, struct model_thread thread);
uint16_t model_process(struct model *model, const struct model_process *process);
/* Processes that come are of this recording: a number from 0. */
void model_begin_input(struct model *model, uint32_t number);
/*
 * A module was loaded. The same one at the same place is one row, however often it comes and goes.
 * True when something else was there before: from now on sites and frames of these addresses are
 * others, and numbers that the caller remembers are to be asked for again.
 */
bool model_module(struct model *model, const struct model_module *module);
/* The module at base was unloaded at that time. */
void model_module_gone(struct model *model, uint16_t process, uint64_t base, uint64_t time_ns);

/*
 * A sentence for the report: what was lost, skipped or guessed, with its count. The same sentence
 * given twice adds up.
 */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void model_note(struct model *model, uint64_t count, const char *english, ...);

/*
 * The same sources are about to be read again, in the same order: each process gets the index that
 * it had, and modules and notes, which are known, are not added twice. Every row is found as it is,
 * so all indexes of the events are those of the first reading.
 */
void model_rewind(struct model *model);

/* Something that was recorded cannot be read any more; a note says what. */
void model_set_incomplete(struct model *model);
bool model_is_incomplete(const struct model *model);

/* What a source is made of, where it says how much of it there is. */
enum model_part { PART_ROWS, PART_EVENTS, PART_COUNT };
struct model_share {
    uint64_t missing, whole;
};
/*
 * Of `whole` of them that a source holds, or held, `missing` could not be read. Adds up over the
 * sources; in a second reading it is known. Anything missing makes the recording incomplete.
 */
void model_add_share(struct model *model, enum model_part part, struct model_share share);
struct model_share model_share_of(const struct model *model, enum model_part part);
/*
 * A part of a source is not there, and what it would have said is not known: a sentence without its
 * full stop. Makes the recording incomplete.
 */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void model_lack(struct model *model, const char *english, ...);
/* The first damage that was noted; "" if there is none. */
const char *model_first_damage(const struct model *model);

/* Kernels of this process ran on the device; adds up over a reading, and in a second one is known.
 */
struct model_worked_device {
    uint16_t process;
    int32_t device;
    uint64_t kernel_count;
};
void model_device_worked(struct model *model, struct model_worked_device worked);
size_t model_worked_device_count(const struct model *model);
const struct model_worked_device *model_worked_device_at(const struct model *model, size_t index);

/* Events that were lost of processes that have no row; adds up. */
void model_add_lost(struct model *model, uint64_t count);
uint64_t model_lost_count(const struct model *model);

/*
 * Tells frames apart, each once; without a rule all are FRAME_OTHER. Called by the thread that
 * reads; before the first frame. The context must outlive the model's readings.
 */
typedef enum frame_part (*frame_rule)(void *context, const struct model *model, uint32_t frame);
void model_set_frame_rule(struct model *model, frame_rule rule, void *context);
/*
 * Which frames of a load somebody will ask for: all; in short, those of what is loaded; or of these
 * only those of Python, which costs least. What the others call is called by their caller.
 */
enum loads_wanted { LOADS_WHOLE, LOADS_IN_SHORT, LOADS_OF_PYTHON };
void model_want_loads(struct model *model, enum loads_wanted wanted);
/* A native frame that is called from this stack is left out: nobody has to make it. */
bool model_stack_is_without_native(const struct model *model, uint32_t stack);
/* Within a load, and not where it begins. */
bool model_stack_is_inside_load(const struct model *model, uint32_t stack);
/* Its stack is of a load. */
bool model_site_is_of_load(const struct model *model, uint32_t site);

/* Nobody will ask where events come from: a source that has to look for it leaves that out. */
void model_want_no_sites(struct model *model);
bool model_wants_sites(const struct model *model);

/* Damage is no reason to give up: what can be read is wanted, and a note where it ends. */
void model_want_partial(struct model *model);
bool model_wants_partial(const struct model *model);
/* Which of the operators that are open has a block; callers', until somebody says so. */
void model_set_operators(struct model *model, enum operator_view view);
enum operator_view model_operators(const struct model *model);

/* Of a source with a file for each process, the events of this one alone: of the number of its row.
 * Other sources are read whole. */
void model_want_process(struct model *model, uint16_t process);
bool model_wants_process(const struct model *model, uint16_t process);
/* With model_want_partial(): notes the damage, and that this recording is incomplete. */
void model_note_damage(struct model *model, const struct mt_error *damage);

enum mt_result model_status(const struct model *model, struct mt_error *error);

size_t model_text_count(const struct model *model);
size_t model_pool_count(const struct model *model);
size_t model_place_count(const struct model *model);
size_t model_site_count(const struct model *model);
size_t model_frame_count(const struct model *model);
size_t model_stack_count(const struct model *model);
size_t model_thread_count(const struct model *model);
size_t model_process_count(const struct model *model);
/* Of all processes. */
bool model_times_are_events(struct model *model);
size_t model_module_count(const struct model *model);
size_t model_note_count(const struct model *model);

const char *model_text_at(const struct model *model, uint32_t index); /* terminated */
uint32_t model_pool_name_at(const struct model *model, uint16_t index);
const struct pool *model_pool_at(const struct model *model, uint16_t index); /* never NULL */
struct mt_place model_place_at(const struct model *model, uint16_t index);
const struct model_site *model_site_at(const struct model *model, uint32_t index);
const struct model_frame *model_frame_at(const struct model *model, uint32_t index);
/* That is at the address; NULL: none was recorded by then, or the address is none. */
const struct model_module *model_site_module(const struct model *model, uint32_t index);
const struct model_module *model_frame_module(const struct model *model, uint32_t index);
const struct model_stack *model_stack_at(const struct model *model, uint32_t index);
const struct model_thread *model_thread_at(const struct model *model, uint32_t index);
struct model_process *model_process_at(struct model *model, uint16_t index);
/* Of the process; and how many there are. */
void model_set_helper(struct model *model, uint16_t index);
size_t model_helper_count(const struct model *model);
/* For its source, to go on filling in what it learns late: end, completeness, counts. In a second
 * reading that is a row which nobody looks at. */
struct model_process *model_process_fill(struct model *model, uint16_t index);
/* The process ended by itself, with this status. */
void model_process_exited(struct model *model, uint16_t index, uint8_t status);
void model_process_ended_at_once(struct model *model, uint16_t index, uint8_t status);
const struct model_module *model_module_at(const struct model *model, size_t index);
const char *model_note_at(const struct model *model, size_t index, uint64_t *count);

#endif
