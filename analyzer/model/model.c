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
#include "leaktide/invariant.h"
#include "memory_failures.h"
#include "module_map.h"
#include "notes.h"
#include "sentence.h"
#include "stretch.h"
#include "table.h"

struct text_row {
    const char *bytes;
    size_t size_bytes;
};

/*
 * Sites and frames at an address are distinguished by the module that was there: what is loaded to
 * the same addresses later has other functions, and the same module, loaded there again, has the
 * same.
 */
struct site_row {
    uint32_t module_next; /* one more than the row of its module; 0: none was known yet */
    struct model_site site;
};

struct frame_row {
    uint32_t module_next;
    struct model_frame frame;
};

/*
 * A stack whose row comes right after that of its caller is found there, and is not in the index:
 * of a recorded stack, all frames but the first that is new.
 */
struct stack_row {
    struct model_stack stack;
    uint32_t site; /* that is this stack and has no label; 0: none is known */
};

struct kept_row {
    uint16_t process;
    uint32_t stream;
    struct kept_sites kept;
};

struct module_row {
    struct model_module module;
    bool
        replaces; /* one that was not told to be gone yet: the next that is gone here is that one */
};

/* Looking a site up costs several cache misses where there are many; this one, that can be asked
 * for in time. A set is a line of memory, the newest site first. */
enum { SITE_SETS = 1 << 16, SITE_SET_WAYS = 4 };

struct site_set {
    _Alignas(64) uint64_t address[SITE_SET_WAYS];
    uint32_t index[SITE_SET_WAYS]; /* 0: empty */
    uint16_t process[SITE_SET_WAYS];
    uint16_t epoch[SITE_SET_WAYS]; /* of its region, when it was put there */
};

/* Addresses in regions of 2 MiB: where modules change, sets forget the sites of those. */
enum { REGION_BITS = 21, REGIONS = 1 << 12 };

struct pool_row {
    uint32_t name_text;
    const struct pool *known;
};

struct model {
    struct arena arena;
    struct table texts, pools, places, sites, frames, stacks, kept_sites, threads, processes,
        modules;
    struct model_process no_process; /* filled in where there was no memory for a row */
    struct table processes_again;    /* as a second reading fills them in; nobody looks at them */
    struct hash_index text_index, pool_index, place_index, site_index, frame_index, stack_index,
        kept_index, thread_index, module_index;
    struct module_map module_map; /* as far as was read */
    uint16_t region_epochs[REGIONS];
    struct notes notes;
    const char *failure;    /* what there was no room for; NULL while all is well */
    size_t memory_failures; /* before this model */
    uint64_t lost_count;    /* of processes that have no row */
    size_t helper_count;
    struct model_share shares[PART_COUNT];
    char first_damage[sizeof(((struct mt_error *)0)->message)];
    bool is_incomplete;
    bool wants_partial;
    bool wants_no_sites;
    bool wants_one_process;
    uint16_t wanted_process;
    bool is_reread;
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
    table_init(&model->pools, &model->arena, sizeof(struct pool_row));
    table_init(&model->places, &model->arena, sizeof(uint64_t));
    table_init(&model->sites, &model->arena, sizeof(struct site_row));
    table_init(&model->frames, &model->arena, sizeof(struct frame_row));
    table_init(&model->stacks, &model->arena, sizeof(struct stack_row));
    table_init(&model->kept_sites, &model->arena, sizeof(struct kept_row));
    table_init(&model->threads, &model->arena, sizeof(struct model_thread));
    table_init(&model->processes, &model->arena, sizeof(struct model_process));
    table_init(&model->modules, &model->arena, sizeof(struct module_row));
    table_init(&model->processes_again, &model->arena, sizeof(struct model_process));
    notes_init(&model->notes);
    module_map_init(&model->module_map);
}

enum mt_result model_create(struct model **out, struct mt_error *error)
{
    size_t memory_failures = memory_failure_count();
    struct model *model = calloc(1, sizeof(*model));

    if (!model)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for a model");
    model->memory_failures = memory_failures;
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
    hash_index_release(&model->kept_index);
    hash_index_release(&model->thread_index);
    hash_index_release(&model->module_index);
    module_map_release(&model->module_map);
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
    struct pool_row *row;

    while (hash_index_next(&model->pool_index, hash, &probe, &found))
        if (found < model->pools.count &&
            ((struct pool_row *)table_at(&model->pools, found))->name_text == name_text)
            return (uint16_t)found;
    row = row_add(model, &model->pools, &model->pool_index, hash, UINT16_MAX, "65535 pools");
    if (!row)
        return 0;
    *row = (struct pool_row){name_text, pool_by_name(model_text_at(model, name_text))};
    return (uint16_t)(model->pools.count - 1);
}

uint16_t model_known_pool(struct model *model, enum pool_id id)
{
    const char *name = pool_by_id(id)->name;

    return model_pool(model, model_text(model, name, strlen(name)));
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

/* --- what is at an address ------------------------------------------------------------------ */

/* A kind of row that begins with its module_next. */
struct at_address {
    struct table *table;
    struct hash_index *index;
    bool (*is_row)(const void *row, const void *wanted);
    const char *name; /* for what there was no room */
};

/* The call is before the address it returns to, which may already be another module. */
static uint32_t module_next_at(const struct model *model, uint16_t process, uint64_t address)
{
    return address ? module_map_at(&model->module_map, process, address - 1) : 0;
}

static uint64_t hash_with_module(uint64_t hash, uint32_t module_next)
{
    return module_next ? hash_pair(hash, module_next) : hash;
}

/* module_next 0: with any module, which is the first that was known. */
static uint32_t row_find(const struct at_address *kind, const void *wanted, uint64_t hash,
                         uint32_t module_next)
{
    uint64_t hash_here = hash_with_module(hash, module_next);
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(kind->index, hash_here, &probe, &found)) {
        const uint32_t *row = found < kind->table->count ? table_at(kind->table, found) : NULL;

        if (row && (!module_next || *row == module_next) && kind->is_row(row, wanted))
            return found;
    }
    return 0;
}

/* The index knows each row by its module, and the first of those that are alike without one. */
static uint32_t row_make(struct model *model, const struct at_address *kind, uint64_t hash,
                         uint32_t module_next, bool is_first)
{
    uint32_t index = (uint32_t)kind->table->count;
    uint32_t *row = row_add(model, kind->table, kind->index, hash_with_module(hash, module_next),
                            UINT32_MAX, kind->name);

    if (!row)
        return 0;
    *row = module_next;
    if (module_next && is_first && !hash_index_add(kind->index, hash, index))
        return fail(model, kind->name);
    return index;
}

/*
 * The row of what is wanted, or a new one; *is_new: it is to be filled. A row that was made before
 * anything was known to be there belongs to the module that was found there first: constructors run
 * before their module is recorded. A reading that is not the first makes no row, and takes the
 * first one if it should meet an event on the other side of an unload.
 */
static uint32_t row_at_address(struct model *model, const struct at_address *kind,
                               const void *wanted, uint64_t hash, uint32_t module_next,
                               bool *is_new)
{
    uint32_t found = row_find(kind, wanted, hash, module_next);
    uint32_t first = found || !module_next ? found : row_find(kind, wanted, hash, 0);
    uint32_t *row = first ? table_at(kind->table, first) : NULL;

    *is_new = false;
    if (found || (row && model->is_reread))
        return first;
    if (row && !*row) {
        *row = module_next;
        if (!hash_index_add(kind->index, hash_with_module(hash, module_next), first))
            return fail(model, kind->name);
        return first;
    }
    *is_new = true;
    return row_make(model, kind, hash, module_next, !row);
}

/* --- sites ---------------------------------------------------------------------------------- */

static bool is_site(const void *row, const void *wanted)
{
    const struct model_site *a = &((const struct site_row *)row)->site, *b = wanted;

    return a->address == b->address && a->label == b->label && a->stack == b->stack &&
           a->process == b->process;
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

static uint16_t *region_epoch(struct model *model, uint64_t address)
{
    return &model->region_epochs[address >> REGION_BITS & (REGIONS - 1)];
}

static uint32_t site_set_find(const struct site_set *set, const struct model_site *site,
                              uint16_t epoch)
{
    for (unsigned i = 0; i < SITE_SET_WAYS; i++)
        if (set->address[i] == site->address && set->process[i] == site->process &&
            set->epoch[i] == epoch && set->index[i])
            return set->index[i];
    return 0;
}

static void site_set_put(struct site_set *set, const struct model_site *site, uint16_t epoch,
                         uint32_t index)
{
    for (unsigned i = SITE_SET_WAYS - 1; i > 0; i--) {
        set->address[i] = set->address[i - 1];
        set->index[i] = set->index[i - 1];
        set->process[i] = set->process[i - 1];
        set->epoch[i] = set->epoch[i - 1];
    }
    set->address[0] = site->address;
    set->index[0] = index;
    set->process[0] = site->process;
    set->epoch[0] = epoch;
}

void model_site_soon(const struct model *model, struct model_site site)
{
    __builtin_prefetch(site_set_of(model, site_hash(&site)));
}

/* A site with a stack is distinguished by its frames. */
static uint32_t site_find(struct model *model, const struct model_site *site, uint64_t hash)
{
    const struct at_address kind = {&model->sites, &model->site_index, is_site, "call sites"};
    uint32_t module_next = site->stack ? 0 : module_next_at(model, site->process, site->address);
    bool is_new;
    uint32_t index = row_at_address(model, &kind, site, hash, module_next, &is_new);

    if (index && is_new)
        ((struct site_row *)table_at(&model->sites, index))->site = *site;
    return index;
}

static struct stack_row *stack_row_at(const struct model *model, uint32_t index)
{
    return table_at_sized(&model->stacks, index, sizeof(struct stack_row));
}

/* The first site that is this stack is found by the row of the stack alone. */
static uint32_t site_of_stack(struct model *model, const struct model_site *site)
{
    struct stack_row *stack = stack_row_at(model, site->stack);
    struct site_row *row;

    if (stack->site)
        return is_site(table_at(&model->sites, stack->site), site) ? stack->site : 0;
    row = model->failure || model->sites.count >= UINT32_MAX ? NULL : table_add(&model->sites);
    if (!row)
        return fail(model, "call sites");
    row->site = *site;
    stack->site = (uint32_t)(model->sites.count - 1);
    return stack->site;
}

uint32_t model_site(struct model *model, struct model_site site)
{
    uint64_t hash = site_hash(&site);
    struct site_set *set = site.label || site.stack ? NULL : site_set_of(model, hash);
    uint16_t epoch = *region_epoch(model, site.address);
    uint32_t found = 0;

    if (!site.address && !site.label && !site.stack)
        return 0;
    if (site.stack && !site.label)
        found = site_of_stack(model, &site);
    else if (set)
        found = site_set_find(set, &site, epoch);
    if (found)
        return found;
    found = site_find(model, &site, hash);
    if (set && found)
        site_set_put(set, &site, epoch, found);
    return found;
}

/* --- frames and stacks ---------------------------------------------------------------------- */

static bool is_frame(const void *row, const void *wanted)
{
    const struct model_frame *a = &((const struct frame_row *)row)->frame, *b = wanted;

    return a->address == b->address && a->function == b->function && a->file == b->file &&
           a->module == b->module && a->line == b->line && a->kind == b->kind &&
           a->process == b->process;
}

uint32_t model_frame(struct model *model, struct model_frame frame)
{
    const struct at_address kind = {&model->frames, &model->frame_index, is_frame, "frames"};
    uint64_t hash = hash_pair(
        frame.address ^ (uint64_t)frame.process << 48,
        hash_pair((uint64_t)frame.function << 32 | (frame.file ^ frame.module), frame.line));
    uint32_t module_next = module_next_at(model, frame.process, frame.address);
    bool is_new;
    uint32_t index = row_at_address(model, &kind, &frame, hash, module_next, &is_new);

    if (index && is_new)
        ((struct frame_row *)table_at(&model->frames, index))->frame = frame;
    return index;
}

static bool is_stack(const struct model *model, uint32_t index, uint32_t outer, uint32_t frame)
{
    const struct model_stack *stack =
        index < model->stacks.count ? &stack_row_at(model, index)->stack : NULL;

    return stack && stack->outer == outer && stack->frame == frame;
}

uint32_t model_stack(struct model *model, uint32_t outer, uint32_t frame)
{
    uint32_t index = (uint32_t)model->stacks.count;
    struct stack_row *row;

    if (index == outer + 1) { /* nobody was called from there yet */
        row = model->failure || index == UINT32_MAX ? NULL : table_add(&model->stacks);
    } else {
        uint64_t hash = hash_pair(outer, frame);
        size_t probe = 0;
        uint32_t found;

        if (is_stack(model, outer + 1, outer, frame))
            return outer + 1;
        while (hash_index_next(&model->stack_index, hash, &probe, &found))
            if (is_stack(model, found, outer, frame))
                return found;
        row = row_add(model, &model->stacks, &model->stack_index, hash, UINT32_MAX, "stacks");
    }
    if (!row)
        return fail(model, "stacks");
    row->stack = (struct model_stack){.frame = frame, .outer = outer};
    return index;
}

uint32_t *model_keep_sites(struct model *model, uint16_t process, uint32_t stream,
                           uint64_t first_id, size_t count)
{
    uint32_t *sites = model->is_reread ? NULL : arena_alloc(&model->arena, count * sizeof(*sites));
    struct kept_row *row;

    if (!sites)
        return NULL;
    row = row_add(model, &model->kept_sites, &model->kept_index, hash_pair(process, stream),
                  UINT32_MAX, "stacks");
    if (!row)
        return NULL;
    *row = (struct kept_row){process, stream, {sites, first_id, count}};
    return sites;
}

struct kept_sites model_kept_sites(const struct model *model, uint16_t process, uint32_t stream)
{
    size_t probe = 0;
    uint32_t found;

    while (model->is_reread &&
           hash_index_next(&model->kept_index, hash_pair(process, stream), &probe, &found)) {
        const struct kept_row *row = table_at(&model->kept_sites, found);

        if (row->process == process && row->stream == stream)
            return row->kept;
    }
    return (struct kept_sites){.count = 0};
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

/* --- modules -------------------------------------------------------------------------------- */

static uint64_t module_hash(const struct model_module *module)
{
    return hash_pair(hash_pair(module->base, module->size_bytes),
                     hash_pair((uint64_t)module->path << 16 | module->process,
                               hash_bytes(module->build_id, module->build_id_bytes)));
}

static bool is_module(const struct model_module *a, const struct model_module *b)
{
    return a->process == b->process && a->base == b->base && a->size_bytes == b->size_bytes &&
           a->bias == b->bias && a->path == b->path && a->build_id_bytes == b->build_id_bytes &&
           memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0;
}

static struct module_row *module_row_at(const struct model *model, size_t index)
{
    return table_at(&model->modules, index);
}

/* One more than its row; 0: it was never loaded there. */
static uint32_t module_find(const struct model *model, const struct model_module *module)
{
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&model->module_index, module_hash(module), &probe, &found))
        if (found < model->modules.count && is_module(&module_row_at(model, found)->module, module))
            return found + 1;
    return 0;
}

/* Loaded, or loaded again. What was there before is gone, whether or not that was told. */
static uint32_t module_loaded(struct model *model, const struct model_module *module)
{
    uint32_t next = module_find(model, module);
    uint32_t before = module_map_at(&model->module_map, module->process, module->base);
    struct module_row *row = next ? module_row_at(model, next - 1) : NULL;

    if (!row) {
        row = row_add(model, &model->modules, &model->module_index, module_hash(module),
                      UINT32_MAX - 1, "modules");
        if (!row)
            return 0;
        row->module = *module;
        next = (uint32_t)model->modules.count;
    }
    row->module.unloaded_ns = module->unloaded_ns;
    if (before && before != next) {
        struct model_module *old = &module_row_at(model, before - 1)->module;

        row->replaces = old->base == module->base && old->unloaded_ns == UINT64_MAX;
        if (row->replaces)
            old->unloaded_ns = module->loaded_ns;
    }
    return next;
}

/* Sets forget the sites of the regions. An epoch that comes round again would know old ones. */
static void regions_change(struct model *model, uint64_t first, uint64_t last)
{
    uint64_t count = (last >> REGION_BITS) - (first >> REGION_BITS) + 1;

    for (uint64_t i = 0; i < count && i < REGIONS; i++)
        if (!++*region_epoch(model, first + (i << REGION_BITS)))
            stretch_clear(&model->site_sets);
}

bool model_module(struct model *model, const struct model_module *module)
{
    struct module_stretch stretch = {module->process, module->base,
                                     module->base + module->size_bytes - 1};
    uint32_t next = model->is_reread ? module_find(model, module) : module_loaded(model, module);
    enum module_map_change change;

    if (!next || !module->size_bytes)
        return false;
    if (stretch.last < stretch.first)
        stretch.last = UINT64_MAX;
    change = module_map_put(&model->module_map, stretch, next);
    if (change == MODULE_MAP_NO_MEMORY)
        fail(model, "modules");
    if (change != MODULE_MAP_SAME)
        regions_change(model, stretch.first, stretch.last);
    return change == MODULE_MAP_OTHER;
}

/* What is there stays known until something else is loaded to the same addresses. */
void model_module_gone(struct model *model, uint16_t process, uint64_t base, uint64_t time_ns)
{
    uint32_t next = model->is_reread ? 0 : module_map_at(&model->module_map, process, base);
    struct module_row *row = next ? module_row_at(model, next - 1) : NULL;

    if (!row || row->module.base != base)
        return;
    if (!row->replaces && row->module.unloaded_ns == UINT64_MAX)
        row->module.unloaded_ns = time_ns;
    row->replaces = false;
}

void model_note(struct model *model, uint64_t count, const char *english, ...)
{
    char sentence[1024];
    va_list arguments;
    int length;

    va_start(arguments, english);
    length = vsnprintf(sentence, sizeof(sentence), translated(english), arguments);
    va_end(arguments);
    if (length >= 0 && !notes_add(&model->notes, sentence, count, model->is_reread))
        fail(model, "notes");
}

void model_rewind(struct model *model)
{
    model->is_reread = true;
    model->reread_processes = 0;
    module_map_release(&model->module_map);
    stretch_clear(&model->site_sets);
}

void model_set_incomplete(struct model *model)
{
    if (!model->is_incomplete)
        model->is_incomplete = true;
}

void model_add_share(struct model *model, enum model_part part, struct model_share share)
{
    if (model->is_reread)
        return;
    model->shares[part].missing += share.missing;
    model->shares[part].whole += share.whole;
    if (share.missing)
        model_set_incomplete(model);
}

struct model_share model_share_of(const struct model *model, enum model_part part)
{
    return model->shares[part];
}

const char *model_first_damage(const struct model *model)
{
    return model->first_damage;
}

void model_add_lost(struct model *model, uint64_t count)
{
    if (!model->is_reread)
        model->lost_count += count;
}

uint64_t model_lost_count(const struct model *model)
{
    return model->lost_count;
}

void model_want_no_sites(struct model *model)
{
    model->wants_no_sites = true;
}

bool model_wants_sites(const struct model *model)
{
    return !model->wants_no_sites;
}

void model_want_partial(struct model *model)
{
    model->wants_partial = true;
}

bool model_wants_partial(const struct model *model)
{
    return model->wants_partial;
}

void model_want_process(struct model *model, uint16_t process)
{
    model->wants_one_process = true;
    model->wanted_process = process;
}

bool model_wants_process(const struct model *model, uint16_t process)
{
    return !model->wants_one_process || model->wanted_process == process;
}

static void keep_damage(struct model *model, const char *sentence)
{
    if (!model->first_damage[0])
        snprintf(model->first_damage, sizeof(model->first_damage), "%s", sentence);
    model_set_incomplete(model);
}

void model_lack(struct model *model, const char *english, ...)
{
    char sentence[sizeof(model->first_damage)];
    va_list arguments;

    va_start(arguments, english);
    vsnprintf(sentence, sizeof(sentence), translated(english), arguments);
    va_end(arguments);
    model_note(model, 0, "%s", sentence);
    keep_damage(model, sentence);
}

void model_note_damage(struct model *model, const struct mt_error *damage)
{
    model_note(model, 0, "%s; only what was read before it is here", damage->message);
    keep_damage(model, damage->message);
}

bool model_is_incomplete(const struct model *model)
{
    return model->is_incomplete;
}

/* --- assertions ----------------------------------------------------------------------------- */

static void site_check(const struct model *model, const struct site_row *row)
{
    MT_ASSERT(row->module_next <= model->modules.count);
    MT_ASSERT(row->site.label < model->texts.count);
    MT_ASSERT(row->site.stack < model->stacks.count);
    MT_ASSERT(row->site.address || row->site.label || row->site.stack);
}

static void frame_check(const struct model *model, const struct frame_row *row)
{
    MT_ASSERT(row->module_next <= model->modules.count);
    MT_ASSERT(row->frame.kind < FRAME_KIND_COUNT);
    MT_ASSERT(row->frame.function < model->texts.count);
    MT_ASSERT(row->frame.file < model->texts.count);
    MT_ASSERT(row->frame.module < model->texts.count);
}

static void stacks_check(const struct model *model)
{
    size_t in_index = 0, own_sites = 0;

    for (uint32_t i = 1; i < model->sites.count; i++)
        site_check(model, table_at(&model->sites, i));
    for (uint32_t i = 1; i < model->frames.count; i++)
        frame_check(model, table_at(&model->frames, i));
    for (uint32_t i = 1; i < model->stacks.count; i++) {
        const struct stack_row *row = stack_row_at(model, i);

        MT_ASSERT(row->stack.frame < model->frames.count);
        MT_ASSERT(row->stack.outer < i); /* so every walk outwards ends */
        MT_ASSERT(row->site < model->sites.count);
        in_index += row->stack.outer + 1 != i;
        own_sites += row->site != 0;
    }
    MT_ASSERT(model->stack_index.count == in_index);
    MT_ASSERT(model->site_index.count + own_sites + 1 >= model->sites.count);
}

static void module_check(const struct model *model, const struct model_module *module)
{
    MT_ASSERT(module->path < model->texts.count);
    MT_ASSERT(module->build_id_bytes <= sizeof(module->build_id));
}

static void process_check(const struct model *model, const struct model_process *process)
{
    MT_ASSERT(process->executable < model->texts.count);
    MT_ASSERT(process->command_line < model->texts.count);
    MT_ASSERT(process->options < model->texts.count);
    MT_ASSERT(process->source < model->texts.count);
    MT_ASSERT(process->allocator_settings < model->texts.count);
}

static void processes_check(const struct model *model)
{
    for (uint32_t i = 0; i < model->modules.count; i++)
        module_check(model, &((struct module_row *)table_at(&model->modules, i))->module);
    for (uint32_t i = 0; i < model->processes.count; i++)
        process_check(model, table_at(&model->processes, i));
    for (uint32_t i = 0; i < model->threads.count; i++)
        MT_ASSERT(((struct model_thread *)table_at(&model->threads, i))->name < model->texts.count);
    for (uint32_t i = 0; i < model->pools.count; i++) {
        const struct pool_row *pool = table_at(&model->pools, i);

        MT_ASSERT(pool->known);
        MT_ASSERT(pool->name_text < model->texts.count);
    }
    MT_ASSERT(model->reread_processes <= model->processes.count);
}

/* Where all rows were made: each has its place in its index. */
static void model_check(const struct model *model)
{
    MT_ASSERT(model->texts.count && !*model_text_at(model, 0));
    MT_ASSERT(model->text_index.count == model->texts.count);
    MT_ASSERT(model->pool_index.count == model->pools.count);
    MT_ASSERT(model->place_index.count == model->places.count);
    MT_ASSERT(model->thread_index.count == model->threads.count);
    MT_ASSERT(model->frame_index.count + 1 >= model->frames.count);
    stacks_check(model);
    processes_check(model);
}

static bool is_small(const struct model *model)
{
    enum { checked_most = 4096 };

    return model->sites.count + model->stacks.count + model->texts.count <= checked_most;
}

enum mt_result model_status(const struct model *model, struct mt_error *error)
{
    if (MT_ASSERTS && !model->failure && is_small(model))
        model_check(model);
    if (model->failure)
        return mt_error_set(error, MT_NO_MEMORY, "no room for more %s", model->failure);
    return memory_status(model->memory_failures, error);
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

bool model_times_are_events(struct model *model)
{
    size_t count = model_process_count(model);

    for (size_t i = 0; i < count; i++)
        if (!model_process_at(model, (uint16_t)i)->times_are_events)
            return false;
    return count > 0;
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
    return index < model_pool_count(model)
               ? ((const struct pool_row *)table_at(&model->pools, index))->name_text
               : 0;
}

const struct pool *model_pool_at(const struct model *model, uint16_t index)
{
    return index < model_pool_count(model)
               ? ((const struct pool_row *)table_at(&model->pools, index))->known
               : pool_by_id(POOL_OTHER);
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

static const struct model_module *module_of(const struct model *model, uint32_t module_next)
{
    return module_next ? &module_row_at(model, module_next - 1)->module : NULL;
}

const struct model_module *model_site_module(const struct model *model, uint32_t index)
{
    return module_of(model, ((const struct site_row *)table_at(&model->sites, index))->module_next);
}

const struct model_module *model_frame_module(const struct model *model, uint32_t index)
{
    return module_of(model,
                     ((const struct frame_row *)table_at(&model->frames, index))->module_next);
}

const struct model_frame *model_frame_at(const struct model *model, uint32_t index)
{
    return &((const struct frame_row *)table_at(&model->frames, index))->frame;
}

const struct model_stack *model_stack_at(const struct model *model, uint32_t index)
{
    return &stack_row_at(model, index)->stack;
}

const struct model_thread *model_thread_at(const struct model *model, uint32_t index)
{
    return table_at(&model->threads, index);
}

struct model_process *model_process_at(struct model *model, uint16_t index)
{
    return table_at(&model->processes, index);
}

void model_set_helper(struct model *model, uint16_t index)
{
    struct model_process *process = model_process_at(model, index);

    model->helper_count += !process->is_helper;
    process->is_helper = true;
}

size_t model_helper_count(const struct model *model)
{
    return model->helper_count;
}

struct model_process *model_process_fill(struct model *model, uint16_t index)
{
    if (index >= table_count(&model->processes)) /* there was no memory for the first */
        return &model->no_process;
    if (model->is_reread && index < model->processes_again.count)
        return table_at(&model->processes_again, index);
    return table_at(&model->processes, index);
}

void model_process_exited(struct model *model, uint16_t index, uint8_t status)
{
    struct model_process *process = model_process_fill(model, index);

    process->has_exited = true;
    process->exit_status = status;
}

void model_process_ended_at_once(struct model *model, uint16_t index, uint8_t status)
{
    struct model_process *process = model_process_fill(model, index);

    process->ended_at_once = true;
    process->exit_status = status;
}

const struct model_module *model_module_at(const struct model *model, size_t index)
{
    return &module_row_at(model, index)->module;
}

const char *model_note_at(const struct model *model, size_t index, uint64_t *count)
{
    return notes_at(&model->notes, index, count);
}
