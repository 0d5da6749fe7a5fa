/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks of a Chrome trace: functions of Python are spans of their thread, as operators are,
 * and those that enclose an allocation are its stack.
 *
 *   {"cat": "python_function", "name": "models/bert.py(786): forward", "ts": 1.2, "dur": 3, "tid":
 * 7}
 *   {"cat": "python_function", "name": "nn.Module: Linear_25", ...}
 *   {"cat": "python_function", "name": "<built-in method to of Tensor object at 0x7f12>", ...}
 *
 * Spans are added in any order. From chrome_stacks_settle() on, sites are asked for in the order of
 * time. A span is 24 bytes.
 */
#ifndef LEAKTIDE_INPUT_CHROME_STACKS_H
#define LEAKTIDE_INPUT_CHROME_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h"

struct chrome_span {
    uint64_t begin_ns, end_ns;
    uint32_t name, thread; /* text, thread of the model */
};

/* A span that is open; the stack of the model, and the path of a module of the program's own model,
 * that it makes with those around it. */
struct chrome_frame {
    uint64_t end_ns;
    uint32_t stack, nn_module;
};

/* Who asks: numbers of the model, 0 where it is not known. */
struct chrome_asker {
    uint32_t site;
    uint32_t nn_module; /* text: "Gpt_0.Block_3.Linear_7" */
};

struct chrome_thread {
    uint32_t thread;
    size_t next, end; /* of its spans: not looked at yet */
    struct chrome_frame *open;
    size_t open_count, open_capacity;
};

struct chrome_stacks {
    struct chrome_span *spans;
    size_t count, capacity;
    struct chrome_thread *threads;
    size_t thread_count, thread_capacity;
};

/* False without memory. */
bool chrome_stacks_add(struct chrome_stacks *stacks, struct chrome_span span);
bool chrome_stacks_settle(struct chrome_stacks *stacks);
/* Of what the thread asks for then; zeros: no function encloses it. */
struct chrome_asker chrome_stacks_asker(struct chrome_stacks *stacks, struct model *model,
                                        uint16_t process, uint32_t thread, uint64_t time_ns);
void chrome_stacks_release(struct chrome_stacks *stacks);

#endif
