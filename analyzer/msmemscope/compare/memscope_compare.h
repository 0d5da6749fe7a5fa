/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compare csv of msmemscope: two recordings, operator by operator or kernel by kernel.
 *
 *   ,,,Base,Compare
 *   Event,Name,Device Id,Allocated Memory(byte),Allocated Memory(byte),Diff Memory(byte)
 *   OP_LAUNCH,aten.mm,0,512,1024,512
 *   OP_LAUNCH,aten.add,0,N/A,512,512
 */
#ifndef LEAKTIDE_COMPARE_MEMSCOPE_COMPARE_H
#define LEAKTIDE_COMPARE_MEMSCOPE_COMPARE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis.h"
#include "compare_csv.h"
#include "error_sentence.h"

/* One operator that ended, or one kernel that was launched. */
struct compare_element {
    const char *name; /* borrowed until the lists are released */
    int32_t device;
    int64_t bytes;
};

/* In the order of time. */
struct compare_list {
    struct compare_element *elements;
    size_t count, capacity;
    /* Devices, in the order of the table. */
    int32_t *devices;
    size_t device_count, device_capacity;
};

/*
 * As msmemscope counts: the size of the first row of a pool of PyTorch or MindSpore at or after
 * the end of the operator, or the launch; frees count too, with the sign that the file gives them.
 * What else was allocated or freed does not count. From a csv of msleaks or msmemscope only.
 *
 * texts keeps the names; it must outlive the list.
 */
enum mt_result compare_read_strict(const char *path, enum compare_level level, struct model *texts,
                                   struct compare_list *list, struct mt_error *error);

/*
 * What it means: all that was allocated while the operator was the innermost one of its thread; or
 * on the device since the kernel before. From any recording.
 */
enum mt_result compare_read(const struct question *question, enum compare_level level,
                            struct compare_list *list, struct mt_error *error);

void compare_list_release(struct compare_list *list);

/* MT_NO_MEMORY, or MT_IO when the file cannot be written. */
enum mt_result compare_write(const struct compare_list *base, const struct compare_list *current,
                             enum compare_level level, FILE *out, struct mt_error *error);

#endif
