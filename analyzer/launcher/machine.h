/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this machine has that is worth recording.
 */
#ifndef LEAKTIDE_LAUNCHER_MACHINE_H
#define LEAKTIDE_LAUNCHER_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

/* An accelerator by what its driver puts into /dev. */
struct machine_device {
    const char *name;  /* "NVIDIA GPU" */
    const char *word;  /* as --device calls it */
    const char *nodes; /* a pattern of paths, one node a device */
};

/* The table of known ones; *count rows. */
const struct machine_device *machine_devices(size_t *count);

/* How many nodes of the kind are there. */
size_t machine_device_count(const struct machine_device *device);

bool machine_has_accelerator(void);

#endif
