/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that do not fit in memory, in a file without a name, which is gone with its last user.
 *
 * It lies in $TMPDIR, else in /var/tmp, which is meant for large files. One thread at a time.
 */
#ifndef LEAKTIDE_INPUT_SCRATCH_FILE_H
#define LEAKTIDE_INPUT_SCRATCH_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scratch_file {
    int descriptor;
    uint64_t size_bytes;
};

/* False, and nothing is open, where no folder takes a file. */
bool scratch_file_open(struct scratch_file *file);
void scratch_file_close(struct scratch_file *file);

/* Puts bytes at the end; false, and the file is as it was, when the disk is full. */
bool scratch_file_append(struct scratch_file *file, const void *bytes, size_t size_bytes);
/* False when they cannot be read any more; errno says why. */
bool scratch_file_read(const struct scratch_file *file, uint64_t offset_bytes, void *bytes,
                       size_t size_bytes);

#endif
