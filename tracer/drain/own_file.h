/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of ours in a process that closes descriptors it does not know: it is looked at before each
 * use, and opened again where it is somebody else's by now.
 */
#ifndef LEAKTIDE_TRACER_OWN_FILE_H
#define LEAKTIDE_TRACER_OWN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct own_file {
    char path[1200];
    int descriptor; /* -1: not open */
    dev_t device;
    ino_t inode;
};

#define OWN_FILE_CLOSED ((struct own_file){.descriptor = -1})

/* Makes a new file at file->path, or opens the one that is there. False: nothing is open. */
bool own_file_create(struct own_file *file);
bool own_file_open(struct own_file *file);

/* A descriptor that certainly is our file, or -1. */
int own_file_descriptor(struct own_file *file);

/* All of it, or false. */
bool own_file_write(int descriptor, const void *bytes, size_t size_bytes, uint64_t offset_bytes);

void own_file_close(struct own_file *file);
void own_file_remove(struct own_file *file);

#endif
