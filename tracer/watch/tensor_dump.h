/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies a tensor from its device and writes its check sum, or the whole of it, under the folder of
 * the recording:
 *
 *   watch/<pid>/device_<N>/check_sums.csv   "Tensor info,Check data sum", one row a tensor
 *   watch/<pid>/device_<N>/<name>           the bytes
 *   watch/<pid>/trouble.txt                 what went wrong, a sentence a line, at most 32
 *
 * Everything is on disk when a call returns, so a killed program loses nothing of it. The copy goes
 * through the program's own runtime, on the calling thread, in pieces of 4 MiB: a tensor needs no
 * more host memory than that. What fails is told in trouble.txt and to the caller; the program goes
 * on. No heap is used. errno may change.
 */
#ifndef LEAKTIDE_TRACER_TENSOR_DUMP_H
#define LEAKTIDE_TRACER_TENSOR_DUMP_H

#include <stdbool.h>
#include <stdint.h>

struct tensor_dump {
    uint64_t address, size_bytes;
    int32_t device;   /* the machine's number; it is the thread's device */
    const char *name; /* of the file */
    bool is_whole;    /* else its check sum */
};

/* Waits for what the device is doing. False: it cannot be read from now, and why is told. */
bool tensor_dump_prepare(void *stream);

bool tensor_dump(const struct tensor_dump *what);

/* One more sentence in trouble.txt. */
__attribute__((format(printf, 1, 2))) void tensor_trouble(const char *format, ...);

#endif
