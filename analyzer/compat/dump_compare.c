/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the launches of two recordings side by side.
 */
#include "dump_compare.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dump_rows.h"
#include "name_diff.h"

enum { DEPTH_MOST = 64 };

/* One operator or kernel of a device. */
struct launch {
    uint32_t name;
    int64_t following_bytes;
    int64_t net_bytes, peak_bytes;
};

struct side {
    struct dump_rows rows;
    struct launch *launches; /* of the device that is looked at */
    size_t count;
};

/* An operator that is running, on a thread. */
struct open_launch {
    uint64_t process_id, thread_id;
    uint32_t name;
    int64_t net_bytes, peak_bytes;
};

struct comparison {
    const struct dump_compare *what;
    struct side sides[2];
    FILE *out;
    struct dump_compare_counts *counts;
};

static bool is_launch(const struct dump_compare *what, const struct dump_row *row)
{
    return row->event == (what->by_kernel ? DUMP_KERNEL_LAUNCH : DUMP_OPERATOR_END);
}

static bool is_framework_block(const struct dump_row *row)
{
    return (row->event == DUMP_MALLOC || row->event == DUMP_FREE) &&
           (row->pool == DUMP_POOL_PTA || row->pool == DUMP_POOL_MINDSPORE);
}

/* --- what a launch did itself ------------------------------------------------------------------
 */

struct open_launches {
    struct open_launch open[DEPTH_MOST];
    size_t count;
};

static void open_push(struct open_launches *all, const struct dump_row *row)
{
    if (all->count == DEPTH_MOST)
        return;
    all->open[all->count++] = (struct open_launch){
        .process_id = row->process_id, .thread_id = row->thread_id, .name = row->name};
}

static bool is_same_thread(const struct open_launch *open, const struct dump_row *row)
{
    return open->process_id == row->process_id && open->thread_id == row->thread_id;
}

static void open_count(struct open_launches *all, const struct dump_row *row, bool by_thread)
{
    int64_t bytes = row->event == DUMP_FREE ? -(int64_t)row->size_bytes : (int64_t)row->size_bytes;

    for (size_t i = 0; i < all->count; i++) {
        struct open_launch *open = &all->open[i];

        if (by_thread && !is_same_thread(open, row))
            continue;
        open->net_bytes += bytes;
        if (open->net_bytes > open->peak_bytes)
            open->peak_bytes = open->net_bytes;
    }
}

/* The innermost of this name on this thread; zeros when its begin was not seen. */
static struct open_launch open_pop(struct open_launches *all, const struct dump_row *row)
{
    struct open_launch found = {.name = row->name};

    for (size_t i = all->count; i-- > 0;)
        if (is_same_thread(&all->open[i], row) && all->open[i].name == row->name) {
            found = all->open[i];
            memmove(&all->open[i], &all->open[i + 1], (all->count - i - 1) * sizeof(all->open[i]));
            all->count--;
            break;
        }
    return found;
}

/* --- one device of one side --------------------------------------------------------------------
 */

/* A kernel is an instant: what follows until the next one is its own. */
static void take_kernel(struct side *side, struct open_launches *running)
{
    if (running->count && side->count) {
        side->launches[side->count - 1].net_bytes = running->open[0].net_bytes;
        side->launches[side->count - 1].peak_bytes = running->open[0].peak_bytes;
    }
    running->count = 0;
}

static void take_launch(struct comparison *all, struct side *side, const struct dump_row *row,
                        struct open_launches *running)
{
    struct launch launch = {.name = row->name};

    if (all->what->by_kernel) {
        take_kernel(side, running);
        open_push(running, row);
    } else {
        struct open_launch own = open_pop(running, row);

        launch.net_bytes = own.net_bytes;
        launch.peak_bytes = own.peak_bytes;
    }
    side->launches[side->count++] = launch;
}

/* first: of the launches that still wait for a block to follow. */
static void take_block(struct comparison *all, struct side *side, const struct dump_row *row,
                       struct open_launches *running, size_t *first)
{
    int64_t bytes = row->is_negative ? -(int64_t)row->size_bytes : (int64_t)row->size_bytes;

    for (; *first < side->count; ++*first) {
        side->launches[*first].following_bytes = bytes;
    }
    open_count(running, row, !all->what->by_kernel);
}

static void take_device(struct comparison *all, struct side *side, uint32_t device)
{
    struct open_launches running = {.count = 0};
    size_t first = 0;

    side->count = 0;
    for (size_t i = 0; i < side->rows.count; i++) {
        const struct dump_row *row = &side->rows.rows[i];

        if (row->device != device)
            continue;
        if (is_launch(all->what, row))
            take_launch(all, side, row, &running);
        else if (!all->what->by_kernel && row->event == DUMP_OPERATOR_BEGIN)
            open_push(&running, row);
        else if (is_framework_block(row))
            take_block(all, side, row, &running, &first);
    }
    if (all->what->by_kernel)
        take_kernel(side, &running);
}

/* --- both sides ---------------------------------------------------------------------------------
 */

static bool is_device_number(const char *device)
{
    return *device && strspn(device, "0123456789") == strlen(device);
}

/* N/A on the side that has no such launch. */
static void write_values(FILE *out, const int64_t *base, const int64_t *other)
{
    if (base)
        fprintf(out, ",%" PRId64, *base);
    else
        fputs(",N/A", out);
    if (other)
        fprintf(out, ",%" PRId64, *other);
    else
        fputs(",N/A", out);
    fprintf(out, ",%" PRId64, (other ? *other : 0) - (base ? *base : 0));
}

static void write_name(FILE *out, const char *name, bool is_strict)
{
    if (is_strict || !strpbrk(name, ",\"\r\n")) {
        fputs(name, out);
        return;
    }
    fputc('"', out);
    for (; *name; name++) {
        if (*name == '"')
            fputc('"', out);
        fputc(*name, out);
    }
    fputc('"', out);
}

static void write_pair(struct comparison *all, const struct launch *base,
                       const struct launch *other, const char *device)
{
    FILE *out = all->out;
    int64_t base_bytes = base ? base->following_bytes : 0;
    int64_t other_bytes = other ? other->following_bytes : 0;

    fputs(all->what->by_kernel ? "KERNEL_LAUNCH," : "OP_LAUNCH,", out);
    write_name(out, model_text_at(all->sides[0].rows.model, base ? base->name : other->name),
               all->what->is_strict);
    fprintf(out, ",%s", device);
    write_values(out, base ? &base->following_bytes : NULL, other ? &other->following_bytes : NULL);
    if (!all->what->is_strict) {
        write_values(out, base ? &base->net_bytes : NULL, other ? &other->net_bytes : NULL);
        write_values(out, base ? &base->peak_bytes : NULL, other ? &other->peak_bytes : NULL);
    }
    fputc('\n', out);
    all->counts->pair_count++;
    all->counts->different_count += base_bytes != other_bytes || !base || !other;
}

static bool write_device(struct comparison *all, const char *device)
{
    struct side *base = &all->sides[0], *other = &all->sides[1];
    size_t most = base->count + other->count, count = 0;
    struct name_pair *pairs = malloc((most + 1) * sizeof(*pairs));
    uint32_t *names = malloc((most + 1) * sizeof(*names));
    bool is_ok = pairs && names;

    if (is_ok) {
        for (size_t i = 0; i < base->count; i++)
            names[i] = base->launches[i].name;
        for (size_t i = 0; i < other->count; i++)
            names[base->count + i] = other->launches[i].name;
        is_ok = name_diff(names, base->count, names + base->count, other->count, pairs, &count);
    }
    for (size_t i = 0; is_ok && i < count; i++)
        write_pair(all, pairs[i].base == NAME_DIFF_NONE ? NULL : &base->launches[pairs[i].base],
                   pairs[i].other == NAME_DIFF_NONE ? NULL : &other->launches[pairs[i].other],
                   device);
    free(pairs);
    free(names);
    return is_ok;
}

static void write_header(const struct comparison *all)
{
    static const char usual[] = "Event,Name,Device Id,Allocated Memory(byte),"
                                "Allocated Memory(byte),Diff Memory(byte)";

    if (all->what->is_strict)
        fprintf(all->out, ",,,Base,Compare\n%s\n", usual);
    else
        fprintf(all->out,
                ",,,Base,Compare,,Base,Compare,,Base,Compare\n%s,Net Memory(byte),"
                "Net Memory(byte),Diff Net(byte),Peak Memory(byte),Peak Memory(byte),"
                "Diff Peak(byte)\n",
                usual);
}

/* Devices in the order of their first launch, those of the base first. Each once. */
static enum mt_result write_devices(struct comparison *all, struct mt_error *error)
{
    size_t texts = model_text_count(all->sides[0].rows.model);
    bool *is_done = calloc(texts + 1, sizeof(*is_done));
    enum mt_result result =
        is_done ? MT_OK : mt_error_set(error, MT_NO_MEMORY, "no memory to compare");

    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; result == MT_OK && i < all->sides[s].rows.count; i++) {
            const struct dump_row *row = &all->sides[s].rows.rows[i];
            const char *device = model_text_at(all->sides[0].rows.model, row->device);

            if (!is_launch(all->what, row) || is_done[row->device] || !is_device_number(device))
                continue;
            is_done[row->device] = true;
            take_device(all, &all->sides[0], row->device);
            take_device(all, &all->sides[1], row->device);
            if (!write_device(all, device))
                result = mt_error_set(error, MT_NO_MEMORY, "no memory to compare");
        }
    free(is_done);
    return result;
}

/* --- inputs --------------------------------------------------------------------------------------
 */

static enum mt_result side_read(const struct dump_compare *what, struct side *side,
                                const char *path, struct model *model, struct mt_error *error)
{
    size_t count = 0;
    enum mt_result result = dump_rows_read(&side->rows, path, model, error);

    if (result != MT_OK)
        return result;
    for (size_t i = 0; i < side->rows.count; i++)
        count += is_launch(what, &side->rows.rows[i]);
    if (!count)
        return mt_error_set(error, MT_NO_DATA, "%s: no launches of %s to compare", path,
                            what->by_kernel ? "kernels" : "operators");
    side->launches = malloc(count * sizeof(*side->launches));
    if (!side->launches)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to compare %s", path);
    dump_rows_by_time(&side->rows);
    return MT_OK;
}

/* Bits of enum dump_pool. */
static unsigned frameworks_of(const struct side *side)
{
    unsigned bits = 0;

    for (size_t i = 0; i < side->rows.count; i++)
        if (is_framework_block(&side->rows.rows[i]))
            bits |= 1u << side->rows.rows[i].pool;
    return bits;
}

static enum mt_result frameworks_check(const struct comparison *all, struct mt_error *error)
{
    unsigned base = frameworks_of(&all->sides[0]), other = frameworks_of(&all->sides[1]);

    if (base && other && !(base & other))
        return mt_error_set(error, MT_NO_DATA,
                            "%s and %s are recordings of different frameworks: one has PyTorch's "
                            "memory pool, one MindSpore's",
                            all->what->base_path, all->what->other_path);
    return MT_OK;
}

static enum mt_result compare_all(struct comparison *all, struct model *model,
                                  struct mt_error *error)
{
    const char *const paths[2] = {all->what->base_path, all->what->other_path};
    enum mt_result result = MT_OK;

    for (size_t i = 0; i < 2 && result == MT_OK; i++)
        result = side_read(all->what, &all->sides[i], paths[i], model, error);
    if (result == MT_OK)
        result = frameworks_check(all, error);
    if (result == MT_OK) {
        write_header(all);
        result = write_devices(all, error);
    }
    for (size_t i = 0; i < 2; i++) {
        all->counts->bad_count += all->sides[i].rows.bad_count;
        dump_rows_release(&all->sides[i].rows);
        free(all->sides[i].launches);
    }
    if (result == MT_OK && fflush(all->out) != 0)
        result = mt_error_set(error, MT_IO, "the comparison cannot be written");
    return result;
}

enum mt_result dump_compare_write(const struct dump_compare *compare, FILE *out,
                                  struct dump_compare_counts *counts, struct mt_error *error)
{
    struct comparison all = {.what = compare, .out = out, .counts = counts};
    struct model *model;
    enum mt_result result = model_create(&model, error);

    *counts = (struct dump_compare_counts){0};
    if (result != MT_OK)
        return result;
    result = compare_all(&all, model, error);
    model_destroy(model);
    return result;
}
