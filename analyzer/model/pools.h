/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of pools: pools.def, read. Whoever has to know something of a pool asks here, so
 * that a new one is a row of that table and nothing else. Rows are constant; any thread may read
 * them.
 */
#ifndef LEAKTIDE_MODEL_POOLS_H
#define LEAKTIDE_MODEL_POOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of devices; FAMILY_NONE: nobody knows. */
enum device_family {
    FAMILY_NONE,
    FAMILY_HOST,
#define FAMILY(id, name) FAMILY_##id,
#include "leaktide/device_families.def"
#undef FAMILY
    FAMILY_COUNT
};

/* Of pools with a row; POOL_OTHER is every pool without one. */
enum pool_id {
    POOL_OTHER,
#define POOL(id, ...) POOL_##id,
#include "pools.def"
#undef POOL
    POOL_COUNT
};

enum pool_role {
    POOL_ROLE_LOGICAL,   /* told by a library or a program; takes from one of the others */
    POOL_ROLE_DRIVER,    /* below the runtimes: programs do not ask it themselves */
    POOL_ROLE_RUNTIME,   /* what programs call for memory of a device */
    POOL_ROLE_FRAMEWORK, /* tensors */
    POOL_ROLE_WORKSPACE, /* scratch memory of a framework */
    POOL_ROLE_GRAPH,     /* of an engine that runs whole graphs */
    POOL_ROLE_PLAN,      /* a plan of memory, whose times are numbers of nodes */
    POOL_ROLE_HOST       /* memory of the process itself */
};

/* Allocators with a model (what_if.h). */
enum pool_allocator {
    POOL_ALLOCATOR_NONE,
    POOL_ALLOCATOR_CUDA_CACHING, /* of PyTorch */
    POOL_ALLOCATOR_NPU_CACHING   /* of torch_npu: the same, with requests that are padded */
};

struct pool {
    enum pool_id id;
    const char *name; /* "hal"; "static graph *"; "" for POOL_OTHER */
    enum device_family family;
    enum pool_role role;
    enum pool_id lies_in; /* itself: in no other; POOL_OTHER: in one that nobody knows */
    enum pool_id peer;    /* on a GPU; itself: it is that pool, or there is none */
    enum pool_allocator allocator;
    const char *title;        /* "" for POOL_OTHER */
    const char *owner;        /* NULL: the name */
    const char *type;         /* of msmemscope; NULL: the name in capitals */
    const char *release;      /* a sentence: the format of release_call, where that is not NULL */
    const char *release_call; /* what gives its blocks back */
};

/* The row of a pool by its name in a recording. Never NULL: POOL_OTHER's is neutral in all it says.
 */
const struct pool *pool_by_name(const char *name);

const struct pool *pool_by_id(enum pool_id id);

/* What follows a row's own part of a name: "0" of "static graph 0"; "" for all other rows. */
const char *pool_rest(const struct pool *pool, const char *name);

/* Bytes of a row's own part of a name: 13 of "static graph *". */
size_t pool_stem_bytes(const struct pool *pool);

/* Whether blocks of `outer` are cut up for `inner`, directly or over others between them. A pool of
 * which nobody knows what it lies in may lie in any of a driver or a runtime; one of the host in
 * any of the process itself. Never in itself. */
bool pool_lies_in(const struct pool *inner, const struct pool *outer);

/* Whether the two have one place on devices of different families: "torch" and "pta". */
bool pool_is_peer(const struct pool *a, const struct pool *b);

/* How many pools lie in the second, and the first in them. */
size_t pools_between(const struct pool *inner, const struct pool *outer);

/* Whether it hands out memory of a device as the device has it: a driver's or a runtime's. */
bool pool_is_of_device(const struct pool *pool);

/* "npu"; "" for FAMILY_NONE. */
const char *device_family_name(enum device_family family);

/* The family whose counter "npu used" this is; FAMILY_NONE: none. */
enum device_family device_family_of_used(const char *counter);

#endif
