/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of devices that are not there, and books of it: the fakes of the vendors' libraries hand
 * out host memory that the kernel backs when it is written, so that copies work.
 *
 *   FAKE_DEVICES        how many there are, default 2
 *   FAKE_DEVICE_MEMORY  bytes of each, default 64 GiB
 *   FAKE_BOOKS          a folder; at exit a process that took something writes NAME.json there:
 * counts of each kind, what was refused, and of each device what lives and its peak
 *
 * All functions may be called from any thread. Addresses start at multiples of 2 MiB, as on
 * devices.
 */
#ifndef LEAKTIDE_FAKE_BOOKS_H
#define LEAKTIDE_FAKE_BOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden) /* each library has books of its own */

enum { BOOKS_DEVICES_MAX = 8, BOOKS_ALIGNMENT = 2 << 20 };

/* X(name, whether it takes memory of the device) */
#define BOOKS_KINDS(X)                                                                             \
    X(device, true)                                                                                \
    X(managed, true)                                                                               \
    X(pooled, true)                                                                                \
    X(physical, true)                                                                              \
    X(host, false)                                                                                 \
    X(range, false)                                                                                \
    X(mapping, false)
enum books_kind {
#define X(name, takes) BOOKS_##name,
    BOOKS_KINDS(X)
#undef X
        BOOKS_KIND_COUNT
};

struct books_block {
    char *address;
    uint64_t size_bytes;
    int device;
    enum books_kind kind;
};

int books_device_count(void);
uint64_t books_capacity_bytes(void);
uint64_t books_live_bytes(int device);

/* Backed memory; false when the device is full. */
bool books_alloc(enum books_kind kind, int device, uint64_t size_bytes, void **address);
/* Somebody else's address, or a number. False when the device is full. */
bool books_add(enum books_kind kind, int device, uint64_t size_bytes, void *address);
/* Memory of books_alloc() goes; false if no block of the kind starts there. */
bool books_free(enum books_kind kind, void *address);
/* A block of the kind that starts there. */
bool books_find(enum books_kind kind, const void *address, struct books_block *found);
/* The block with memory in which the address lies. */
bool books_find_within(const void *address, struct books_block *found);

#pragma GCC visibility pop

#endif
