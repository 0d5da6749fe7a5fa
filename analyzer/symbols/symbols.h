/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites as people know them: "train_layer+0x40 (leak_sample)".
 *
 * Files are opened when the first site of theirs is asked for, and kept. A file that is not the
 * one that was recorded gives module and offset only, and a note in the model.
 * One thread at a time.
 */
#ifndef MEMTIDE_SYMBOLS_H
#define MEMTIDE_SYMBOLS_H

#include <stdint.h>

#include "memtide/error.h"
#include "model.h"

struct symbols;

/* The model must outlive it. */
enum mt_result symbols_create(struct model *model, struct symbols **out, struct mt_error *error);
void symbols_destroy(struct symbols *symbols);

/*
 * Never NULL; borrowed until symbols_destroy(). Site 0 is "(unknown)". Without a name:
 * "leak_sample+0x12f0", and without a module: "0x7f00deadbeef".
 */
const char *symbols_label(struct symbols *symbols, uint32_t site);

#endif
