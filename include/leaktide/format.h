/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a run. docs/trace-format.md tells the same for a second implementation.
 *
 *   run.leaktide/                     one run
 *     <pid>-<start>.mtt              one process image (a fork or an exec starts another)
 *     <pid>-<start>.rings            events on their way to the .mtt; what is left after a kill
 *
 *   .mtt                             .rings
 *   +--------------------------+     +---------------------------+
 *   | struct mt_file_header    |     | slot 0: struct mt_ring_header, then words
 *   | chunk: header, payload   |     | slot 1: ...               |
 *   | chunk ...                |     +---------------------------+
 *   | chunk of kind INDEX      |     one slot per live thread; slots are reused
 *   +--------------------------+
 *
 * A chunk holds events of one stream (one thread). Its payload is one zstd frame of at most
 * MT_CHUNK_RAW_MAX bytes raw: columns, as described in columns.h. Chunks stand on multiples of 8
 * bytes; a reader that meets damage goes on at the next place where a chunk header checks out.
 *
 * Positions count 64-bit words since the start of the stream: chunk n of a stream begins where
 * chunk n-1 ended, and the words of a ring that no chunk has taken yet begin where the last chunk
 * ended. So nothing is counted twice after a crash, and a gap is seen.
 */
#ifndef LEAKTIDE_FORMAT_H
#define LEAKTIDE_FORMAT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MT_FORMAT_MAJOR = 1, /* a reader refuses a newer major version */
    MT_FORMAT_MINOR = 4, /* newer minor versions add records, columns, fields */
    MT_FILE_HEADER_BYTES = 4096,
    MT_CHUNK_HEADER_BYTES = 64,
    MT_CHUNK_EVENTS_MAX = 16384,
    MT_CHUNK_RAW_MAX = 256 * 1024,
    MT_TEXT_MAX = 4096,           /* longer texts are cut */
    MT_RING_HEADER_BYTES = 65536, /* a page of every supported kernel */
    /* There stands a robust mutex of the C library; its first word tells whether the thread lives.
     */
    MT_RING_OWNER_BYTES = 2048
};

#define MT_FILE_MAGIC   "MEMTIDE\n"
#define MT_RING_MAGIC   UINT64_C(0x474e49525f544d0a) /* "\nMT_RING" */
#define MT_CHUNK_MAGIC  UINT32_C(0x4b43544d)         /* "MTCK" */

/* In the status of process_exit: the process called _exit, and no handler ran. */
#define MT_EXIT_AT_ONCE UINT64_C(256)

/* Record codes, made from records.def: MT_RECORD_host_alloc = 1, ... */
enum mt_record_code {
#define RECORD(code, name, fields, meaning) MT_RECORD_##name = code,
#include "records.def"
#undef RECORD
    MT_RECORD_CODE_END = 33 /* after the last */
};

enum mt_chunk_kind {
    MT_CHUNK_EVENTS = 1,
    MT_CHUNK_INDEX = 2 /* raw payload: struct mt_index_entry of every other chunk */
};

/* Why events are missing; index into mt_file_header.lost_counts. */
enum mt_lost {
    MT_LOST_DISK,      /* the trace file could not be written */
    MT_LOST_MEMORY,    /* no ring for a thread */
    MT_LOST_NESTED,    /* an event inside the recorder, from a signal handler */
    MT_LOST_MALFORMED, /* a record that does not read back */
    MT_LOST_RECORDER,  /* nobody emptied a full ring */
    MT_LOST_STOPPED,   /* the same: the consumer was stopped */
    MT_LOST_WAITING,   /* the same: the consumer waited for a disk */
    MT_LOST_KINDS = 8
};

/* A process image is recording, or its recorder closed the file. */
enum mt_file_state { MT_FILE_RECORDING = 1, MT_FILE_CLOSED = 2 };

/* A trace is called "<pid>-<start>.mtt" (process_id and start_realtime_ns of its header), the rings
 * of a process that was alone the same with ".rings": for printf, with <inttypes.h>. */
#define MT_FILE_NAME "%" PRIu32 "-%" PRIx64

/*
 * The first page of a .mtt. The first part is written once and covered by `checksum` (XXH64,
 * seed 0, of the bytes before it). The rest is kept up to date while the process runs, through a
 * mapping, so that it is right after a kill and so that a reader can watch.
 */
struct mt_file_header {
    char magic[8];
    uint16_t major;
    uint16_t minor;
    uint16_t header_bytes;
    uint16_t machine; /* ELF e_machine of the process */
    uint32_t process_id;
    uint32_t parent_process_id;
    uint32_t page_bytes;
    uint32_t time_shift;       /* a time unit is 2^time_shift counter ticks */
    uint64_t ticks_per_second; /* of the counter, as far as known at the start */
    uint64_t start_ticks;      /* the three clocks at the start */
    uint64_t start_monotonic_ns;
    uint64_t start_realtime_ns;
    uint64_t run_id;         /* the same for all processes of one run */
    char executable[512];    /* path; cut, always terminated */
    char command_line[1024]; /* arguments joined by blanks */
    char options[512];       /* the recording options in force */
    uint64_t checksum;

    uint64_t state;      /* enum mt_file_state */
    uint64_t last_ticks; /* the clocks again, newest reading: calibration */
    uint64_t last_monotonic_ns;
    uint64_t event_count; /* drained so far */
    uint64_t lost_counts[MT_LOST_KINDS];
    uint64_t step_count;
    uint64_t rss_bytes, rss_peak_bytes;
    uint64_t device_used_bytes, device_used_peak_bytes;
    uint64_t index_offset_bytes; /* 0 while there is none */
    uint64_t end_offset_bytes;   /* after the last chunk */
    /* Since 1.1; zeros before. */
    uint64_t no_stack_count; /* stacks that were asked for and not had: the call site is there */
    uint64_t stack_restart_count; /* a thread's memory for stacks was full: it began anew */
    uint64_t unread_python;       /* its PY_VERSION_HEX: frames were asked for, none can be read */
    uint64_t unseen_python;       /* 1: its allocator makes objects that are not recorded */
    /* Since 1.3; zeros before. */
    uint64_t rank_number; /* of a distributed job, counted from 1; 0: not known */
    uint64_t world_size;  /* ranks of the job; 0: not known */
    uint64_t told_steps;  /* the newest step that somebody said has ended */
    /* Since 1.4; zeros before. Of the process, when the host refused it memory last; 0: no limit.
     */
    uint64_t address_limit_bytes; /* RLIMIT_AS */
    uint64_t data_limit_bytes;    /* RLIMIT_DATA */
    uint64_t machine_bytes;       /* memory and swap of the machine */
    /* How it ended, as its launcher was told by waitpid: MT_END_IS_KNOWN | status. 0: not known. */
    uint64_t end_status;
};

#define MT_END_IS_KNOWN   UINT64_C(0x10000)

/* The range of a step that ends when somebody says so: nobody knows before whether it is one. */
#define MT_RANGE_TOLD     UINT64_MAX
/* The same of a profiler's steps: it says that one has ended by beginning the next. */
#define MT_RANGE_PROFILER (UINT64_MAX - 1)

struct mt_chunk_header {
    uint32_t magic;
    uint16_t kind;         /* enum mt_chunk_kind; others are skipped */
    uint16_t header_bytes; /* payload starts here */
    uint32_t payload_bytes;
    uint32_t raw_bytes;
    uint32_t stream;
    uint32_t event_count;
    uint64_t begin_position;
    uint64_t end_position;
    uint64_t first_time; /* of its events, in time units since start_ticks */
    uint64_t last_time;
    uint64_t checksum; /* XXH64, seed 0: the bytes of the header before this field, then payload */
};

struct mt_index_entry {
    uint64_t offset_bytes;
    struct mt_chunk_header header;
};

/*
 * A ring: words of 64 bits, `capacity_words` of them after the header; position p is word
 * p % capacity_words. One thread writes at head, one drainer reads at tail:
 * tail <= head <= tail + capacity_words. Both stand between records, which are laid out as below.
 */
struct mt_ring_header {
    uint64_t magic;
    uint64_t capacity_words;
    uint32_t stream;
    uint32_t thread_id; /* kernel id; 0 while the slot is free */
    uint64_t head;      /* written by the thread */
    uint8_t reserved[32];
    uint64_t tail;       /* written by the drainer, on its own cache line */
    uint64_t slot_bytes; /* header and words: the next slot starts here */
    uint32_t tail_moves; /* futex of a writer that waits for room */
    uint32_t writer_waits;
};

/*
 * A record in a ring: word 0 is the code in bits 0-7 and the low 56 bits of the counter above.
 * Then one word a field, in the order of records.def; a BYTES field is one word of length and
 * then the bytes, padded to words. Two hot codes are packed:
 *   host_alloc  word 1 = address (48 bits) | size bits 0-15 << 48
 *               word 2 = site (48 bits)    | size bits 16-31 << 48
 *               (what does not fit is an `alloc` of the pool "host")
 *   host_free   word 1 = address
 * A host_alloc whose site is a stack has bit 7 of word 0 set, and the id in place of the site.
 */
enum { MT_RING_TIME_SHIFT = 8, MT_RING_PACKED_BITS = 48, MT_RING_SITE_IS_STACK = 0x80 };

/*
 * A place: where a block lives, packed in 64 bits.
 *   bits 0-15 device + 1 (0 = none or unknown) · 16-23 kind · 24-27 page size
 *   32-47 owner module + 1 (0 = unknown) · 48-63 flags
 */
enum mt_place_kind {
    MT_KIND_UNKNOWN = 0,
    MT_KIND_DEVICE = 1,
    MT_KIND_HOST = 2,   /* host memory that a device can reach */
    MT_KIND_SHARED = 3, /* shared virtual, managed */
    MT_KIND_DVPP = 4    /* Ascend media processing */
};
/* Subject of a note: whether new blocks are recorded from here on; first: 1 not, 0 again. */
#define MT_NOTE_PAUSE           "pause"
/* Of a torch.nn.Module or its kind; text: its path in the model. */
#define MT_NOTE_NN_MODULE_BEGIN "nn module begin"
#define MT_NOTE_NN_MODULE_END   "nn module end"
#define MT_NOTE_BLOCK_NN_MODULE "block nn module"

enum mt_page_size { MT_PAGE_UNKNOWN = 0, MT_PAGE_NORMAL = 1, MT_PAGE_HUGE = 2, MT_PAGE_GIANT = 3 };
enum mt_place_flag {
    MT_PLACE_VIRTUAL = 1,    /* address space without memory */
    MT_PLACE_MAPPING = 2,    /* memory of another block, made visible at an address */
    MT_PLACE_IMPORTED = 4,   /* memory of another process */
    MT_PLACE_REGISTERED = 8, /* memory of the program, pinned for a device */
    MT_PLACE_VIEW = 16,      /* a part of another block */
    MT_PLACE_HANDLE = 32     /* memory without an address of its own: the address is its handle */
};

struct mt_place {
    int32_t device; /* -1: none or unknown */
    uint8_t kind;
    uint8_t page;
    uint16_t flags;
    int32_t module; /* -1: unknown */
};

static inline uint64_t mt_place_pack(struct mt_place place)
{
    return (uint64_t)(uint16_t)(place.device + 1) | (uint64_t)place.kind << 16 |
           (uint64_t)(place.page & 15) << 24 | (uint64_t)(uint16_t)(place.module + 1) << 32 |
           (uint64_t)place.flags << 48;
}

static inline struct mt_place mt_place_unpack(uint64_t packed)
{
    struct mt_place place;

    place.device = (int32_t)(packed & 0xffff) - 1;
    place.kind = (uint8_t)(packed >> 16);
    place.page = (uint8_t)(packed >> 24 & 15);
    place.module = (int32_t)(packed >> 32 & 0xffff) - 1;
    place.flags = (uint16_t)(packed >> 48);
    return place;
}

/*
 * A site is a return address, or, with this bit set, the id of a stack.
 * A text id is XXH64 (seed 0) of its bytes, or 1 where that is 0; 0 names no text.
 */
#define MT_SITE_IS_STACK (UINT64_C(1) << 63)

/* What is known of a stack's outer end, and of the way there. */
enum mt_stack_flag {
    MT_STACK_COMPLETE = 1 << 0,   /* down to the start of the thread or context */
    MT_STACK_TRUNCATED = 1 << 1,  /* more frames than were asked for */
    MT_STACK_JIT = 1 << 2,        /* ends in code of no object */
    MT_STACK_UNREADABLE = 1 << 3, /* ends where memory does */
    MT_STACK_NO_ROWS = 1 << 4,    /* ends where nothing tells how to go on */
    MT_STACK_GUESSED = 1 << 5,    /* a frame pointer was followed for lack of better */
    MT_STACK_SIGNAL = 1 << 6      /* goes through a signal handler */
};

#ifdef __cplusplus
}
#endif

#endif
