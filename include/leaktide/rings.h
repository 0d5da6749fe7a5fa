/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rings of a whole run, in one file: <run>/run.rings.
 *
 *   +-------------------------------+ 0
 *   | struct mt_rings_header        |
 *   +-------------------------------+ slots_offset_bytes
 *   | struct mt_rings_slot          | slot_max of them: who has which ring
 *   +-------------------------------+ processes_offset_bytes
 *   | struct mt_rings_process       | process_max of them: two pages each
 *   +-------------------------------+ rings_offset_bytes
 *   | ring 0: struct mt_ring_header, words
 *   | ring 1 ...                    | slot_bytes each; as format.h says
 *   +-------------------------------+
 *
 * The launcher makes the file. Its consumer, a process of its own, has the disk give room for
 * processes and rings before anybody needs them, and says so by MT_RINGS_READY. A traced process
 * maps the part before the rings when it is loaded. It takes a process, and for each thread a ring,
 * by one compare-and-swap; a forked child does the same through the mapping it inherited. So no
 * descriptor, path or right is needed after the start.
 *
 * At the end of the run the consumer removes the file. Where events of processes without a trace
 * were lost, it leaves the header alone, as a new file, with MT_RINGS_ENDED: for the reader, who
 * finds `lost_count` there. Where the file system may refuse a store into room that it gave, rings
 * and all that stands before them are in memory, and the file has the header alone from the start.
 *
 * All numbers are the machine's own; words that several processes write are marked "live" and are
 * read and written as atomics. Nobody trusts what another one wrote: each checks what it reads.
 */
#ifndef LEAKTIDE_RINGS_H
#define LEAKTIDE_RINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "leaktide/format.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MT_RINGS_MAJOR = 1, /* a reader refuses another */
    MT_RINGS_SLOTS = 4096,
    MT_RINGS_PROCESSES = 1024,
    MT_RINGS_ALIGNMENT = 65536, /* a page of every supported kernel */
    MT_RINGS_CONTROL_FILE = 512,
    MT_RINGS_CHANGE_BYTES = 600,
    MT_RINGS_CHANGES = 4,
    MT_RINGS_OWN_RANGES = 120,
    MT_PROGRAM_KINDS = 8 /* at most: enum mt_program_kind of preload.h */
};

#define MT_RINGS_MAGIC "MTRINGS\n"
#define MT_RINGS_NAME  "run.rings"

/* Of a slot or a process; only EMPTY -> READY -> TAKEN (-> LIVE) -> READY. */
enum mt_rings_state {
    MT_RINGS_EMPTY = 0, /* the disk has not given room yet */
    MT_RINGS_READY = 1,
    MT_RINGS_TAKEN = 2, /* a slot: in use; a process: is being described */
    MT_RINGS_LIVE = 3   /* a process: described, records */
};

/*
 * How the consumer is, as its launcher last saw it. A traced process cannot look for itself: it may
 * be confined, or in another name space. Index into patience_ms.
 */
enum mt_rings_consumer {
    MT_CONSUMER_UNWATCHED = 0, /* nobody looks */
    MT_CONSUMER_READY = 1,     /* runs, or would if there were a processor */
    MT_CONSUMER_WAITS = 2,     /* for a disk, mostly */
    MT_CONSUMER_STOPPED = 3,   /* by a signal or a debugger */
    MT_CONSUMER_DEAD = 4,      /* the launcher begins another one */
    MT_CONSUMER_GONE = 5,      /* and there will be none */
    MT_CONSUMER_STATES = 6
};

/*
 * A robust mutex that a process locks once and never unlocks: when it ends, however that comes
 * about, the kernel marks it. Others read its first word only.
 */
struct mt_rings_owner {
    uint64_t mutex[8];
};

/* Of the file: there is a consumer, or there will never be one again. */
enum mt_rings_service { MT_RINGS_SERVED = 1, MT_RINGS_ENDED = 2 };

struct mt_rings_header {
    char magic[8];
    uint32_t major;
    uint32_t header_bytes;
    uint64_t run_id; /* as in the headers of the traces; who does not know it is a stranger */
    uint64_t capacity_words; /* of each ring, a power of two */
    uint64_t slot_bytes;     /* of a ring with its header */
    uint64_t slots_offset_bytes, processes_offset_bytes, rings_offset_bytes;
    uint32_t slot_max, process_max;

    /* Live. */
    uint32_t service;          /* enum mt_rings_service */
    uint32_t wake_count;       /* futex: the consumer sleeps on it */
    uint32_t is_asleep;        /* it does */
    uint32_t heartbeat;        /* moves as long as the consumer does anything */
    uint32_t supply_count;     /* futex: moves when there are new READY ones */
    uint32_t claimers;         /* so many wait for that */
    uint32_t has_no_room;      /* the disk gives no more */
    uint32_t flush_wanted;     /* futexes: the launcher wants all that is recorded on disk, ... */
    uint32_t flush_done;       /* ... and has it */
    uint32_t live_count;       /* processes that still run, when the flush was done */
    uint32_t is_launcher_done; /* it wants nothing more: the consumer ends with the last process */
    uint32_t slots_end;        /* slots and processes from here on were never READY */
    uint32_t processes_end;
    uint64_t lost_count; /* events of processes that have no trace, and will have none */

    struct mt_rings_owner launcher, consumer; /* of the first thread of each */
    uint32_t consumer_state;                  /* enum mt_rings_consumer: by the launcher, ... */
    uint32_t launcher_beat;                   /* ... which moves this each time */
    uint32_t patience_ms[MT_CONSUMER_STATES]; /* so long a writer waits for one that does nothing */
    uint32_t left_out_count[MT_PROGRAM_KINDS]; /* programs that were started without the tracer */
};

/* One ring: who has it. */
struct mt_rings_slot {
    uint32_t state;   /* live */
    uint32_t process; /* live: its number + 1; 0: not said yet */
    uint8_t reserved[56];
};

/* What somebody outside wants of a process; control_words.h of the tracer knows what it says. */
struct mt_rings_change {
    uint8_t bytes[MT_RINGS_CHANGE_BYTES];
};

/* Bits of `attention`; 0: nothing to look at, which is what every event checks. */
enum mt_rings_attention {
    MT_ATTENTION_PAUSED = 1, /* nothing new is recorded */
    MT_ATTENTION_CHANGES = 2 /* there are changes to take */
};

/* What the consumer has to know of how a process records. */
struct mt_recording_facts {
    uint32_t sample_ms;    /* how often it looks at the process; 0: never */
    uint8_t is_controlled; /* it may be spoken to */
    uint8_t records_host, has_stacks, has_python;
    int64_t rank;                             /* in its job; -1: unknown */
    int64_t world_size;                       /* ranks of the job; -1: unknown */
    char control_file[MT_RINGS_CONTROL_FILE]; /* watched for what to record; "": none */
};

/* One process image. */
struct mt_rings_process {
    /* As the first page of its .mtt, but for what only the consumer knows (end_offset_bytes ...).
     */
    struct mt_file_header header;
    uint8_t header_reserved[MT_FILE_HEADER_BYTES - sizeof(struct mt_file_header)];

    uint32_t state;      /* live: enum mt_rings_state */
    uint32_t process_id; /* in its own name space, written before anything else */
    uint64_t pid_namespace;
    uint32_t stream_count;    /* live */
    uint32_t attention;       /* live: enum mt_rings_attention */
    uint32_t counters_wanted; /* live: of devices; a bit for each layer that has not read them */
    uint32_t makes_no_calls;  /* it told the kernel which system calls it may make */
    uint32_t step_end_wanted; /* live: the next step that ends is to be told, below */
    uint32_t is_refused;      /* live: its trace cannot be written; what finds no room is lost */
    uint32_t flush_wanted, flush_done; /* futexes: the process wants its own events on disk */
    struct mt_recording_facts facts;
    uint64_t consumer_lost_counts[MT_LOST_KINDS]; /* what the consumer could not write */
    uint32_t changes_posted, changes_taken;       /* live: by the consumer; by the process */
    struct mt_rings_change changes[MT_RINGS_CHANGES];
    int64_t control_file_ns; /* the consumer's: when what was last taken from it was written */
    uint64_t step_ended, step_end_ns; /* live: CLOCK_MONOTONIC; 0: none has */
    uint32_t exit_wait_ms;   /* live: at its exit, it waits so long to be looked at; 0: it is not */
    uint32_t is_exiting;     /* live: it waits */
    uint32_t exit_is_read;   /* futex: it was looked at */
    uint32_t account_wanted; /* live: the process asks for an account of itself */
    uint64_t own_ranges[MT_RINGS_OWN_RANGES]; /* live: the recorder's memory there, own_memory.h */
    uint64_t own_bytes;                       /* live: of it, what its tables fill */
    uint8_t reserved[32];
};

enum { MT_RINGS_PROCESS_BYTES = 2 * MT_FILE_HEADER_BYTES };

/*
 * Whether the parts of the file lie one after the other, and those before the rings within
 * file_bytes. h: a copy, as others may write into the file.
 */
static inline bool mt_rings_header_is_right(const struct mt_rings_header *h, uint64_t file_bytes)
{
    return memcmp(h->magic, MT_RINGS_MAGIC, sizeof(h->magic)) == 0 && h->major == MT_RINGS_MAJOR &&
           h->capacity_words && h->capacity_words <= UINT32_MAX &&
           (h->capacity_words & (h->capacity_words - 1)) == 0 &&
           h->slot_bytes == MT_RING_HEADER_BYTES + h->capacity_words * sizeof(uint64_t) &&
           h->slot_max <= MT_RINGS_SLOTS && h->process_max <= MT_RINGS_PROCESSES &&
           h->slots_offset_bytes >= sizeof(*h) &&
           h->slots_offset_bytes <= h->processes_offset_bytes &&
           h->processes_offset_bytes <= h->rings_offset_bytes &&
           h->rings_offset_bytes <= UINT32_MAX && h->rings_offset_bytes <= file_bytes &&
           h->slot_max * sizeof(struct mt_rings_slot) <=
               h->processes_offset_bytes - h->slots_offset_bytes &&
           h->process_max * (uint64_t)MT_RINGS_PROCESS_BYTES <=
               h->rings_offset_bytes - h->processes_offset_bytes;
}

/* How a mapping of rings is called, without its folder: a file, or memory. */
static inline bool mt_is_name_of_rings(const char *name)
{
    static const char memory[] = "memfd:";

    if (strncmp(name, memory, sizeof(memory) - 1) == 0)
        name += sizeof(memory) - 1;
    return strncmp(name, MT_RINGS_NAME, sizeof(MT_RINGS_NAME) - 1) == 0;
}

#ifdef __cplusplus
static_assert(sizeof(struct mt_rings_process) == MT_RINGS_PROCESS_BYTES, "two pages");
}
#else
_Static_assert(sizeof(struct mt_rings_process) == MT_RINGS_PROCESS_BYTES, "two pages");
#endif

#endif
