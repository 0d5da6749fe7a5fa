/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One rank's profile: rows in any order, into the database and the csv files that torch_npu and
 * MindSpore write.
 *
 * Rows are collected in tables that vanish with the connection; SQLite puts them in order, so
 * memory does not grow with them. The csv files are written from the same tables.
 */
#ifndef LEAKTIDE_ASCEND_TABLES_H
#define LEAKTIDE_ASCEND_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "error_sentence.h"

struct ascend_tables;

struct ascend_profile {
    const char *folder; /* exists and is empty; copied */
    const char *name;   /* what the user calls the place, for sentences */
    uint64_t process_id;
    int32_t rank; /* -1: not known */
    bool is_mindspore;
    uint64_t first_ns, last_ns; /* since 1970 */
};

/* A value that a row may lack. */
struct ascend_cell {
    bool is_known;
    uint64_t number;
};

struct ascend_sums {
    struct ascend_cell allocated, reserved, active;
};

struct ascend_block {
    uint64_t id;  /* counts in the order of births */
    uint64_t row; /* those of the graph engine stand in this order, others by time */
    const char *name;
    uint64_t size_bytes, born_ns; /* times since 1970 */
    bool is_graph;                /* of the graph engine */
    const char *stream;           /* "" for none */
    int32_t device;
    struct ascend_sums born;
};

struct ascend_record {
    const char *component; /* "PTA" */
    uint64_t time_ns;
    struct ascend_sums sums;
    struct ascend_cell ddr, hbm; /* of APP */
    const char *stream;
    int32_t device;
};

enum mt_result ascend_tables_create(const struct ascend_profile *profile,
                                    struct ascend_tables **out, struct mt_error *error);
void ascend_tables_destroy(struct ascend_tables *tables);

enum mt_result ascend_put_block(struct ascend_tables *tables, const struct ascend_block *block,
                                struct mt_error *error);
/* Of a block that was put. */
enum mt_result ascend_put_release(struct ascend_tables *tables, uint64_t id, uint64_t time_ns,
                                  const struct ascend_sums *sums, struct mt_error *error);
enum mt_result ascend_put_return(struct ascend_tables *tables, uint64_t id, uint64_t time_ns,
                                 struct mt_error *error);
enum mt_result ascend_put_record(struct ascend_tables *tables, const struct ascend_record *record,
                                 struct mt_error *error);
/* module: "HCCL" */
enum mt_result ascend_put_module(struct ascend_tables *tables, const char *module, uint64_t time_ns,
                                 uint64_t bytes, int32_t device, struct mt_error *error);
/* An operator of the framework, from its begin to its end. */
enum mt_result ascend_put_operator(struct ascend_tables *tables, const char *name,
                                   uint64_t begin_ns, uint64_t end_ns, uint64_t thread_id,
                                   struct mt_error *error);
enum mt_result ascend_put_step(struct ascend_tables *tables, uint64_t number, uint64_t begin_ns,
                               uint64_t end_ns, struct mt_error *error);
/* Writes the files. */
enum mt_result ascend_tables_finish(struct ascend_tables *tables, struct mt_error *error);

#endif
