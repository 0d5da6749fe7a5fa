/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a hooked call to a record in the calling thread's ring.
 *
 * All functions may be called from any thread at any moment after the library is loaded, also
 * from signal handlers and inside malloc. They take no lock, use no heap, print nothing and leave
 * errno alone. When recording is off (not started, forbidden, in a fork that has not been given
 * its files yet) they do nothing. They must be called between guard_enter() and guard_leave()
 * (guard.h), or from code that cannot be re-entered.
 *
 * Texts are bytes and a length, so that parts of a message need no copy.
 * A site comes from recorder_site(), in the hook.
 */
#ifndef LEAKTIDE_TRACER_RECORDER_H
#define LEAKTIDE_TRACER_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "call_site.h"
#include "guard.h"
#include "leaktide/format.h"
#include "unwind_caller.h"

struct text {
    const char *bytes;
    size_t size_bytes;
};

static inline struct text text_of(const char *string)
{
    return (struct text){string, string ? strlen(string) : 0};
}

/* Defines the name of a pool. tests/lint/pools.py looks for these: each has a row in the analyzer.
 */
#define POOL(variable, pool_name) const struct text variable = {pool_name, sizeof(pool_name) - 1}

/* The invariant counter of the CPU. Allocations stamp after the real call, frees before it. */
uint64_t recorder_ticks(void);

/*
 * The id of a text; writes its definition into this thread's ring when this thread has not done
 * so recently. An empty text is 0.
 */
uint64_t recorder_text(struct text text);

/*
 * Who asked for the memory in the end: the caller of a hook of a device runtime or of a pool, with
 * its call stack; or, when this call happens inside one of another layer, the site of that one.
 * So halMemAlloc inside aclrtMalloc is laid at the door of the program, not of the runtime.
 * Between guard_enter and the real call. from: unwind_caller() in the hook.
 */
struct call_site recorder_site(enum layer layer, struct unwind_registers from);

/* The same for what never happens on behalf of another layer. */
struct call_site recorder_caller(const struct unwind_registers *from);

/* A record without a BYTES field, stamped now; fields in the order of records.def. */
void recorder_push(enum mt_record_code code, const uint64_t *fields);
void recorder_push_at(enum mt_record_code code, uint64_t ticks, const uint64_t *fields);

/* A record whose last field is BYTES: `fields` are those before it. False: there was no room. */
bool recorder_push_bytes(enum mt_record_code code, const uint64_t *fields, const void *bytes,
                         size_t size_bytes);

/* CPython makes objects that are not recorded. */
void record_unseen_python(void);

/* Who asks for the free that this thread records next. */
void record_free_site(struct call_site site);

/*
 * Other pools. `pool` is the pool's name, as in docs/trace-format.md ("hal", "acl", "pta",
 * "opencl" ...); `place` is packed by mt_place_pack(). record_free goes before the real free,
 * record_alloc after the real one. status is the allocator's own code.
 */
void record_alloc(struct text pool, uint64_t place, uint64_t address, uint64_t size_bytes,
                  struct call_site site);
void record_free(struct text pool, uint64_t address);
void record_free_at(struct text pool, uint64_t address, uint64_t ticks);
/*
 * Blocks of CPython's own allocator, in the pool "python": record_alloc with recorder_caller, and
 * record_free_at. ticks: from before the real free, which may be done already.
 */
void record_python_alloc(const void *block, uint64_t size_bytes,
                         const struct unwind_registers *from);
void record_python_free(const void *block, uint64_t ticks);
void record_alloc_failed(struct text pool, uint64_t place, uint64_t size_bytes, uint64_t status,
                         struct call_site site);
/* The same of the host's own memory, with the limits that the process has now. errno may change. */
void record_host_refused(struct text pool, uint64_t place, uint64_t size_bytes,
                         struct call_site site);
void record_pool_reserved(struct text pool, uint64_t place, uint64_t size_bytes);

void record_operator_begin(struct text name);
void record_operator_end(struct text name);
void record_range_begin(uint64_t range, struct text name, struct text domain);
void record_range_end(uint64_t range);
void record_mark(struct text name, struct text domain);
/*
 * Steps count from 1 for the whole process. record_step_begin returns the new step's number.
 * range is the id of the range that is the step, or 0.
 */
uint64_t record_step_begin(uint64_t range);
void record_step_end(uint64_t step);
/* The same of steps that end when somebody says so: one that never does is none, and has no number.
 */
uint64_t record_told_step_begin(void);
void record_told_step_end(uint64_t step);
/*
 * A profiler begins a step of that number (leaktide/profiler_step.h), which says that the one
 * before it has ended; a new profiler, from 0, does not. From the first step that the program marks
 * itself on, these are none.
 */
void record_profiler_step(uint64_t number);
void record_tag_begin(struct text owner);
void record_tag_end(struct text owner);
void record_launch(struct text name, uint64_t place);
void record_access(uint64_t address, uint64_t size_bytes, struct text pool, uint64_t flags);
/* An operator uses a tensor. Only address, size and flags (bit 0 read, bit 1 write) are needed. */
struct tensor_use {
    uint64_t address, size_bytes, flags;
    struct text operator_name, dtype, shape;
};
void record_tensor_access(struct text pool, const struct tensor_use *use);
/* A subject of docs/trace-format.md; what it does not need is 0. */
struct note {
    struct text subject, text;
    uint64_t place;
    uint64_t first, second;
};
void record_note(const struct note *note);
void record_sample(struct text counter, uint64_t place, uint64_t value_bytes);
void record_device_event(struct text name, uint64_t place, uint64_t status);

/*
 * A pause: nothing new is recorded, only frees and ends of what was, sizes of pools and steps. So
 * what was there before is still freed in the trace. Any thread, at any time; a fork inherits it.
 */
void recorder_pause(bool is_paused);
/* Into the recording, where that is another state than it has. Any thread, in a hook. */
void recorder_tell_pause(void);
bool recorder_is_paused(void);
/* Blocks of devices are recorded in a pause, too. */
void recorder_keep_history(bool is_kept);

/*
 * Where somebody outside says that he wants something; NULL: nobody is there, or it is not known
 * yet where, as in a forked child. In the hooks, what is wanted is done by recorder_attend().
 */
struct mt_rings_process;
void recorder_attend_to(struct mt_rings_process *place);
void recorder_attend(void);

/* A process that is alone: what stands in its rings is written. */
void recorder_drain_alone(void);

/*
 * Of devices only these: bit n for device n. What is taken on others from here on is left out, with
 * the sizes of their pools and their launches; frees are recorded. Devices above 63 are never left
 * out.
 */
void recorder_choose_devices(uint64_t devices);

/*
 * Pauses by steps: only steps `first` to `last` are recorded, from the next one that begins. first
 * 0 ends it.
 */
void recorder_choose_steps(uint64_t first, uint64_t last);
/* The newest step; 0: none has begun. */
uint64_t recorder_newest_step(void);

/* A number for a range, unique in the process, never 0. */
uint64_t recorder_new_range(void);

#endif
