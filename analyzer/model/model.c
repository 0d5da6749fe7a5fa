/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a recording.
 *
 * Each table is rows in the arena and, where rows are found again by what they hold, a hash index.
 * Row 0 of the texts is "", row 0 of the sites, frames and stacks is none. The first failure to get
 * memory is remembered, and everything added after it is row 0.
 */
#include "model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "hash.h"
#include "hash_index.h"
#include "notes.h"
#include "stretch.h"
#include "table.h"

struct text_row {
    const char *bytes;
    size_t size_bytes;
};

struct site_row {
    struct model_site site;
    bool is_over; /* its module was unloaded: the same address is a new site from then on */
};

/* Looking a site up costs several cache misses where there are many; this one, that can be asked
 * for in time. A set is a line of memory, the newest site first. */
enum { SITE_SETS = 1 << 16, SITE_SET_WAYS = 3 };

struct site_set {
    _Alignas(64) uint64_t address[SITE_SET_WAYS];
    uint32_t stack[SITE_SET_WAYS];
    uint32_t index[SITE_SET_WAYS]; /* 0: empty */
    uint16_t process[SITE_SET_WAYS];
};

struct model {
    struct arena arena;
    struct table texts, pools, places, sites, frames, stacks, threads, processes, modules;
    struct table processes_again; /* as a second reading fills them in; nobody looks at them */
    struct hash_index text_index, pool_index, place_index, site_index, frame_index, stack_index,
        thread_index;
    struct notes notes;
    const char *failure; /* what there was no room for; NULL while all is well */
    bool is_incomplete;
    bool wants_partial;
    bool is_reread;
    bool has_sites_again;     /* an address that was unloaded may be there as two sites */
    size_t reread_processes;  /* so far */
    struct stretch site_sets; /* pages come as they are needed */
};

static uint32_t fail(struct model *model, const char *what)
{
    if (!model->failure)
        model->failure = what;
    return 0;
}

static void tables_init(struct model *model)
{
    arena_init(&model->arena);
    table_init(&model->texts, &model->arena, sizeof(struct text_row));
    table_init(&model->pools, &model->arena, sizeof(uint32_t));
    table_init(&model->places, &model->arena, sizeof(uint64_t));
    table_init(&model->sites, &model->arena, sizeof(struct site_row));
    table_init(&model->frames, &model->arena, sizeof(struct model_frame));
    table_init(&model->stacks, &model->arena, sizeof(struct model_stack));
    table_init(&model->threads, &model->arena, sizeof(struct model_thread));
    table_init(&model->processes, &model->arena, sizeof(struct model_process));
    table_init(&model->modules, &model->arena, sizeof(struct model_module));
    table_init(&model->processes_again, &model->arena, sizeof(struct model_process));
    notes_init(&model->notes);
}

enum mt_result model_create(struct model **out, struct mt_error *error)
{
    struct model *model = calloc(1, sizeof(*model));

    if (!model)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for a model");
    tables_init(model);
    model_text(model, "", 0);
    if (!stretch_init(&model->site_sets, SITE_SETS * sizeof(struct site_set)) ||
        !stretch_extend(&model->site_sets, SITE_SETS * sizeof(struct site_set)) ||
        !table_add(&model->sites) || !table_add(&model->frames) || !table_add(&model->stacks) ||
        model->failure) {
        model_destroy(model);
        return mt_error_set(error, MT_NO_MEMORY, "no memory for a model");
    }
    *out = model;
    return MT_OK;
}

void model_destroy(struct model *model)
{
    if (!model)
        return;
    hash_index_release(&model->text_index);
    hash_index_release(&model->pool_index);
    hash_index_release(&model->place_index);
    hash_index_release(&model->site_index);
    hash_index_release(&model->frame_index);
    hash_index_release(&model->stack_index);
    hash_index_release(&model->thread_index);
    notes_release(&model->notes);
    stretch_release(&model->site_sets);
    arena_release(&model->arena);
    free(model);
}

/* A new row that the index knows under hash; NULL after a failure, which is then remembered. */
static void *row_add(struct model *model, struct table *table, struct hash_index *index,
                     uint64_t hash, size_t limit, const char *what)
{
    void *row;

    if (model->failure)
        return NULL;
    if (table->count >= limit || !hash_index_add(index, hash, (uint32_t)table->count)) {
        fail(model, what);
        return NULL;
    }
    row = table_add(table);
    if (!row)
        fail(model, what);
    return row;
}

uint32_t model_text(struct model *model, const char *bytes, size_t size_bytes)
{
    uint64_t hash = hash_bytes(bytes, size_bytes);
    size_t probe = 0;
    uint32_t found;
    struct text_row *row;
    char *copy;

    while (hash_index_next(&model->text_index, hash, &probe, &found)) {
        if (found >= model->texts.count)
            continue;
        row = table_at(&model->texts, found);
        if (row->size_bytes == size_bytes && memcmp(row->bytes, bytes, size_bytes) == 0)
            return found;
    }
    copy = arena_text(&model->arena, bytes, size_bytes);
    if (!copy)
        return fail(model, "texts");
    row = row_add(model, &model->texts, &model->text_index, hash, UINT32_MAX, "texts");
    if (!row)
        return 0;
    row->bytes = copy;
    row->size_bytes = size_bytes;
    return (uint32_t)(model->texts.count - 1);
}

uint16_t model_pool(struct model *model, uint32_t name_text)
{
    uint64_t hash = hash_u64(name_text);
    size_t probe = 0;
    uint32_t found;
    uint32_t *row;

    while (hash_index_next(&model->pool_index, hash, &probe, &found))
        if (found < model->pools.count && *(uint32_t *)table_at(&model->pools, found) == name_text)
            return (uint16_t)found;
    row = row_add(model, &model->pools, &model->pool_index, hash, UINT16_MAX, "65535 pools");
    if (!row)
        return 0;
    *row = name_text;
    return (uint16_t)(model->pools.count - 1);
}

uint16_t model_place(struct model *model, struct mt_place place)
{
    uint64_t packed = mt_place_pack(place);
    uint64_t hash = hash_u64(packed);
    size_t probe = 0;
    uint32_t found;
    uint64_t *row;

    while (hash_index_next(&model->place_index, hash, &probe, &found))
        if (found < model->places.count && *(uint64_t *)table_at(&model->places, found) == packed)
            return (uint16_t)found;
    row = row_add(model, &model->places, &model->place_index, hash, UINT16_MAX, "65535 places");
    if (!row)
        return 0;
    *row = packed;
    return (uint16_t)(model->places.count - 1);
}

static bool is_site(const struct site_row *row, const struct model_site *site)
{
    return row->site.address == site->address && row->site.label == site->label &&
           row->site.stack == site->stack && row->site.process == site->process;
}

/*
 * Of the rows that are this site. While reading for the first time, the one that is not over; when
 * reading again all are there, and the right one is the newest that is not younger than the event.
 */
static uint32_t site_find(const struct model *model, const struct model_site *site, uint64_t hash)
{
    size_t probe = 0;
    uint32_t found, best = 0;
    uint64_t best_ns = 0;

    while (hash_index_next(&model->site_index, hash, &probe, &found)) {
        const struct site_row *row =
            found < model->sites.count ? table_at(&model->sites, found) : NULL;

        if (!row || !is_site(row, site))
            continue;
        if (!model->is_reread && !row->is_over)
            return found;
        if (model->is_reread &&
            (!best || (row->site.time_ns <= site->time_ns && row->site.time_ns >= best_ns))) {
            best = found;
            best_ns = row->site.time_ns;
        }
    }
    return best;
}

static uint64_t site_hash(const struct model_site *site)
{
    return hash_pair(site->address ? site->address : site->label,
                     (uint64_t)site->stack << 16 | site->process);
}

static struct site_set *site_set_of(const struct model *model, uint64_t hash)
{
    return (struct site_set *)model->site_sets.base + hash % SITE_SETS;
}

/* Of a site without a label. In a second reading, sites of one address are told apart by time. */
static struct site_set *known_sites(const struct model *model, const struct model_site *site,
                                    uint64_t hash)
{
    if (site->label || (model->is_reread && model->has_sites_again))
        return NULL;
    return site_set_of(model, hash);
}

static uint32_t site_set_find(const struct site_set *set, const struct model_site *site)
{
    for (unsigned i = 0; i < SITE_SET_WAYS; i++)
        if (set->address[i] == site->address && set->stack[i] == site->stack &&
            set->process[i] == site->process && set->index[i])
            return set->index[i];
    return 0;
}

static void site_set_put(struct site_set *set, const struct model_site *site, uint32_t index)
{
    for (unsigned i = SITE_SET_WAYS - 1; i > 0; i--) {
        set->address[i] = set->address[i - 1];
        set->stack[i] = set->stack[i - 1];
        set->index[i] = set->index[i - 1];
        set->process[i] = set->process[i - 1];
    }
    set->address[0] = site->address;
    set->stack[0] = site->stack;
    set->index[0] = index;
    set->process[0] = site->process;
}

void model_site_soon(const struct model *model, struct model_site site)
{
    __builtin_prefetch(site_set_of(model, site_hash(&site)));
}

uint32_t model_site(struct model *model, struct model_site site)
{
    uint64_t hash = site_hash(&site);
    uint32_t found;
    struct site_row *row;
    struct site_set *known;

    if (!site.address && !site.label && !site.stack)
        return 0;
    known = known_sites(model, &site, hash);
    found = known ? site_set_find(known, &site) : 0;
    if (found)
        return found;
    found = site_find(model, &site, hash);
    if (known && found)
        site_set_put(known, &site, found);
    if (found)
        return found;
    row = row_add(model, &model->sites, &model->site_index, hash, UINT32_MAX, "call sites");
    if (!row)
        return 0;
    row->site = site;
    return (uint32_t)(model->sites.count - 1);
}

/* The module that was there, not the moment, makes two frames of one address different. */
static bool is_frame(const struct model *model, const struct model_frame *row,
                     const struct model_frame *frame)
{
    if (row->address != frame->address || row->function != frame->function ||
        row->file != frame->file || row->module != frame->module || row->line != frame->line ||
        row->kind != frame->kind || row->process != frame->process)
        return false;
    for (size_t i = 0;
         row->address && row->time_ns != frame->time_ns && i < model_module_count(model); i++) {
        const struct model_module *module = model_module_at(model, i);

        if (module->process == frame->process && module->unloaded_ns != UINT64_MAX &&
            frame->address - module->base < module->size_bytes &&
            (row->time_ns <= module->unloaded_ns) != (frame->time_ns <= module->unloaded_ns))
            return false;
    }
    return true;
}

uint32_t model_frame(struct model *model, struct model_frame frame)
{
    uint64_t hash = hash_pair(
        frame.address ^ (uint64_t)frame.process << 48,
        hash_pair((uint64_t)frame.function << 32 | (frame.file ^ frame.module), frame.line));
    size_t probe = 0;
    uint32_t found;
    struct model_frame *row;

    while (hash_index_next(&model->frame_index, hash, &probe, &found)) {
        row = found < model->frames.count ? table_at(&model->frames, found) : NULL;
        if (row && is_frame(model, row, &frame))
            return found;
    }
    row = row_add(model, &model->frames, &model->frame_index, hash, UINT32_MAX, "frames");
    if (!row)
        return 0;
    *row = frame;
    return (uint32_t)(model->frames.count - 1);
}

uint32_t model_stack(struct model *model, uint32_t outer, uint32_t frame)
{
    uint64_t hash = hash_pair(outer, frame);
    size_t probe = 0;
    uint32_t found;
    struct model_stack *row;

    while (hash_index_next(&model->stack_index, hash, &probe, &found)) {
        row = found < model->stacks.count ? table_at(&model->stacks, found) : NULL;
        if (row && row->outer == outer && row->frame == frame)
            return found;
    }
    row = row_add(model, &model->stacks, &model->stack_index, hash, UINT32_MAX, "stacks");
    if (!row)
        return 0;
    *row = (struct model_stack){.frame = frame, .outer = outer};
    return (uint32_t)(model->stacks.count - 1);
}

uint32_t model_thread(struct model *model, struct model_thread thread)
{
    uint64_t hash = hash_pair(thread.thread_id, thread.process);
    size_t probe = 0;
    uint32_t found;
    struct model_thread *row;

    while (hash_index_next(&model->thread_index, hash, &probe, &found)) {
        if (found >= model->threads.count)
            continue;
        row = table_at(&model->threads, found);
        if (row->thread_id != thread.thread_id || row->process != thread.process)
            continue;
        if (thread.name && thread.name != row->name)
            row->name = thread.name;
        return found;
    }
    row = row_add(model, &model->threads, &model->thread_index, hash, UINT32_MAX, "threads");
    if (!row)
        return 0;
    *row = thread;
    return (uint32_t)(model->threads.count - 1);
}

/* The row of the first reading stays as it is: it may be looked at meanwhile. */
static uint16_t process_again(struct model *model, const struct model_process *process)
{
    size_t index = model->reread_processes++;

    while (model->processes_again.count <= index)
        if (!table_add(&model->processes_again))
            return (uint16_t)fail(model, "processes");
    *(struct model_process *)table_at(&model->processes_again, index) = *process;
    return (uint16_t)index;
}

uint16_t model_process(struct model *model, const struct model_process *process)
{
    struct model_process *row = NULL;

    if (model->is_reread && model->reread_processes < model->processes.count)
        return process_again(model, process);
    if (model->processes.count < UINT16_MAX)
        row = table_add(&model->processes);
    if (!row)
        return (uint16_t)fail(model, "65535 processes");
    *row = *process;
    return (uint16_t)(model->processes.count - 1);
}

void model_module(struct model *model, const struct model_module *module)
{
    struct model_module *row = model->is_reread ? NULL : table_add(&model->modules);

    if (model->is_reread)
        return;
    if (row)
        *row = *module;
    else
        fail(model, "modules");
}

/* What is loaded to the same addresses later has other functions there. */
static void sites_end(struct model *model, uint16_t process, uint64_t base, uint64_t size_bytes)
{
    for (size_t i = 1; i < model->sites.count; i++) {
        struct site_row *row = table_at(&model->sites, i);

        if (row->site.process == process && row->site.address - base < size_bytes)
            row->is_over = model->has_sites_again = true;
    }
    stretch_clear(&model->site_sets);
}

void model_module_gone(struct model *model, uint16_t process, uint64_t base, uint64_t time_ns)
{
    for (size_t i = model->modules.count; i-- > 0;) {
        struct model_module *module = table_at(&model->modules, i);

        if (module->process != process || module->base != base || module->unloaded_ns != UINT64_MAX)
            continue;
        module->unloaded_ns = time_ns;
        sites_end(model, process, base, module->size_bytes);
        return;
    }
}

void model_note(struct model *model, uint64_t count, const char *format, ...)
{
    char sentence[1024];
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    if (length >= 0 && !notes_add(&model->notes, sentence, count, model->is_reread))
        fail(model, "notes");
}

void model_rewind(struct model *model)
{
    model->is_reread = true;
    model->reread_processes = 0;
}

void model_set_incomplete(struct model *model)
{
    if (!model->is_incomplete)
        model->is_incomplete = true;
}

void model_want_partial(struct model *model)
{
    model->wants_partial = true;
}

bool model_wants_partial(const struct model *model)
{
    return model->wants_partial;
}

void model_note_damage(struct model *model, const struct mt_error *damage)
{
    model_note(model, 0, "%s; only what was read before it is here", damage->message);
    model_set_incomplete(model);
}

bool model_is_incomplete(const struct model *model)
{
    return model->is_incomplete;
}

enum mt_result model_status(const struct model *model, struct mt_error *error)
{
    if (model->failure)
        return mt_error_set(error, MT_NO_MEMORY, "no room for more %s", model->failure);
    return MT_OK;
}

size_t model_text_count(const struct model *model)
{
    return table_count(&model->texts);
}

size_t model_pool_count(const struct model *model)
{
    return table_count(&model->pools);
}

size_t model_place_count(const struct model *model)
{
    return table_count(&model->places);
}

size_t model_site_count(const struct model *model)
{
    return table_count(&model->sites);
}

size_t model_frame_count(const struct model *model)
{
    return table_count(&model->frames);
}

size_t model_stack_count(const struct model *model)
{
    return table_count(&model->stacks);
}

size_t model_thread_count(const struct model *model)
{
    return table_count(&model->threads);
}

size_t model_process_count(const struct model *model)
{
    return table_count(&model->processes);
}

size_t model_module_count(const struct model *model)
{
    return table_count(&model->modules);
}

size_t model_note_count(const struct model *model)
{
    return notes_count(&model->notes);
}

const char *model_text_at(const struct model *model, uint32_t index)
{
    return ((const struct text_row *)table_at(&model->texts, index))->bytes;
}

uint32_t model_pool_name_at(const struct model *model, uint16_t index)
{
    return index < model_pool_count(model) ? *(const uint32_t *)table_at(&model->pools, index) : 0;
}

struct mt_place model_place_at(const struct model *model, uint16_t index)
{
    return mt_place_unpack(
        index < model_place_count(model) ? *(const uint64_t *)table_at(&model->places, index) : 0);
}

const struct model_site *model_site_at(const struct model *model, uint32_t index)
{
    return &((const struct site_row *)table_at(&model->sites, index))->site;
}

const struct model_frame *model_frame_at(const struct model *model, uint32_t index)
{
    return table_at(&model->frames, index);
}

const struct model_stack *model_stack_at(const struct model *model, uint32_t index)
{
    return table_at(&model->stacks, index);
}

const struct model_thread *model_thread_at(const struct model *model, uint32_t index)
{
    return table_at(&model->threads, index);
}

struct model_process *model_process_at(struct model *model, uint16_t index)
{
    return table_at(&model->processes, index);
}

struct model_process *model_process_fill(struct model *model, uint16_t index)
{
    if (model->is_reread && index < model->processes_again.count)
        return table_at(&model->processes_again, index);
    return table_at(&model->processes, index);
}

const struct model_module *model_module_at(const struct model *model, size_t index)
{
    return table_at(&model->modules, index);
}

const char *model_note_at(const struct model *model, size_t index, uint64_t *count)
{
    return notes_at(&model->notes, index, count);
}
