/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a Chrome trace of torch.profiler says about memory, kept as records in no order.
 *
 *   {"ph": "i", "name": "[memory]", "ts": 1.234, "tid": 7, "args": {"Addr": 1, "Bytes": -512 ...}}
 *   {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1.2, "dur": 3, "tid": 7}
 *   {"ph": "X", "cat": "python_function", "name": "train.py(7): step", "ts": 1.2, "dur": 3, ...}
 *   {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 1.2, "dur": 3, "pid": 0}
 *
 * The list of events is the whole file, or "traceEvents" in an object. Kernels are counted in the
 * model, by device. Everything else is passed over as it is read, so memory grows with the first
 * three kinds only.
 */
#ifndef LEAKTIDE_INPUT_CHROME_EVENTS_H
#define LEAKTIDE_INPUT_CHROME_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "byte_stream.h"
#include "chrome_stacks.h"
#include "error_sentence.h"
#include "model.h"

enum chrome_kind { CHROME_END, CHROME_BEGIN, CHROME_MEMORY, CHROME_FAILED, CHROME_INSTANT_END };

/* c10::DeviceType. */
enum chrome_device_type { CHROME_CPU = 0, CHROME_CUDA = 1, CHROME_NPU = 20 };

struct chrome_record {
    uint64_t time_ns, other_ns; /* other: the end of a begin, the begin of an end */
    uint64_t address, size_bytes;
    uint64_t allocated_bytes, reserved_bytes; /* + 1; 0: not known */
    uint32_t text, thread;
    int32_t device;
    uint8_t device_type; /* enum chrome_device_type, or another one */
    uint8_t kind;        /* enum chrome_kind */
    bool is_free, has_address;
    bool is_step; /* mt_profiler_step() */
};

struct chrome_events {
    struct model *model;
    uint16_t process;
    struct chrome_record *records;
    size_t count, capacity;
    struct chrome_stacks stacks;
    uint64_t memory_count, base_time_ns;
    uint64_t told_count, bad_count; /* what a reader wants; of it, what makes no sense */
    int32_t rank;                   /* -1: not known */
};

enum mt_result chrome_events_read(struct chrome_events *events, struct byte_stream *stream,
                                  struct mt_error *error);
void chrome_events_release(struct chrome_events *events);

#endif
