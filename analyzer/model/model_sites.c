/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asked: sites, frames and stacks.
 */
#include "hash.h"
#include "list.h"
#include "model_state.h"

static const uint32_t frame_most = (UINT32_C(1) << 30) - 1; /* struct model_stack */

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
        const uint32_t *row = table_at(kind->table, found);

        if ((!module_next || *row == module_next) && kind->is_row(row, wanted))
            return found;
    }
    return 0;
}

/* The index knows each row by its module, and the first of those that are alike without one. */
static uint32_t row_make(struct model *model, const struct at_address *kind, uint64_t hash,
                         uint32_t module_next, bool is_first)
{
    uint32_t index = (uint32_t)kind->table->count;
    uint32_t *row = model_row_add(model, kind->table, kind->index,
                                  hash_with_module(hash, module_next), UINT32_MAX, kind->name);

    if (!row)
        return 0;
    *row = module_next;
    if (module_next && is_first && !hash_index_add(kind->index, hash, index))
        return model_fail(model, kind->name);
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
            return model_fail(model, kind->name);
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

/* The first site that is this stack is found by the row of the stack alone. */
static uint32_t site_of_stack(struct model *model, const struct model_site *site)
{
    struct stack_row *stack = model_stack_row(model, site->stack);
    struct site_row *row;

    if (stack->site)
        return is_site(table_at(&model->sites, stack->site), site) ? stack->site : 0;
    row = model->failure || model->sites.count >= UINT32_MAX ? NULL : table_add(&model->sites);
    if (!row)
        return model_fail(model, "call sites");
    row->site = *site;
    stack->site = (uint32_t)(model->sites.count - 1);
    return stack->site;
}

uint32_t model_site(struct model *model, struct model_site site)
{
    uint64_t hash = site_hash(&site);
    struct site_set *set = site.label || site.stack ? NULL : site_set_of(model, hash);
    uint16_t epoch = *model_region_epoch(model, site.address);
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

/* Of a new frame. False: no memory. */
static bool frame_part_put(struct model *model, uint32_t index)
{
    enum frame_part part;

    if (!model->frame_rule)
        return true;
    part = model->frame_rule(model->frame_rule_context, model, index);
    if (part != FRAME_OTHER &&
        !list_reach(&model->frame_parts, &model->frame_part_count, index, sizeof(uint8_t)))
        return false;
    if (index < model->frame_part_count)
        model->frame_parts[index] = (uint8_t)part;
    return true;
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

    if (!index || !is_new)
        return index;
    ((struct frame_row *)table_at(&model->frames, index))->frame = frame;
    return frame_part_put(model, index) ? index : model_fail(model, "frames");
}

static bool is_stack(const struct model *model, uint32_t index, uint32_t outer, uint32_t frame)
{
    const struct model_stack *stack =
        index < model->stacks.count ? &model_stack_row(model, index)->stack : NULL;

    return stack && stack->outer == outer && stack->frame == frame;
}

static uint64_t stack_hash(uint32_t outer, uint32_t frame)
{
    return hash_u64((uint64_t)outer << 32 | frame);
}

static enum frame_part frame_part_of(const struct model *model, uint32_t frame)
{
    return frame < model->frame_part_count ? (enum frame_part)model->frame_parts[frame]
                                           : FRAME_OTHER;
}

static enum stack_part part_at(const struct model *model, uint32_t stack)
{
    return model_stack_row(model, stack)->stack.part;
}

/* Of what a frame is called from there. */
static enum stack_part stack_part_of(enum stack_part outer, enum frame_part frame)
{
    if (frame == FRAME_OF_PROGRAM)
        return STACK_OF_PROGRAM;
    return outer == STACK_OF_PROGRAM && frame == FRAME_OF_LOADER ? STACK_OF_LOAD : outer;
}

bool model_stack_is_without_native(const struct model *model, uint32_t stack)
{
    return model->loads_wanted == LOADS_OF_PYTHON && part_at(model, stack) == STACK_OF_LOAD;
}

static bool is_left_out(const struct model *model, uint32_t outer, uint32_t frame)
{
    enum frame_part part = frame_part_of(model, frame);

    if (model->loads_wanted == LOADS_WHOLE || part_at(model, outer) != STACK_OF_LOAD)
        return false;
    if (model->loads_wanted == LOADS_OF_PYTHON &&
        model_frame_at(model, frame)->kind != FRAME_PYTHON)
        return true;
    if (part == FRAME_UNKNOWN)
        return frame_part_of(model, model_stack_row(model, outer)->stack.frame) == FRAME_UNKNOWN;
    return part == FRAME_OTHER || part == FRAME_OF_LOADER;
}

uint32_t model_stack(struct model *model, uint32_t outer, uint32_t frame)
{
    uint32_t index = (uint32_t)model->stacks.count;
    struct stack_row *row;

    if (is_left_out(model, outer, frame))
        return outer;
    if (index == outer + 1) { /* nobody was called from there yet */
        row = model->failure || index == UINT32_MAX ? NULL : table_add(&model->stacks);
    } else {
        uint64_t hash;
        size_t probe = 0;
        uint32_t found;

        if (is_stack(model, outer + 1, outer, frame))
            return outer + 1;
        hash = stack_hash(outer, frame);
        while (hash_index_next(&model->stack_index, hash, &probe, &found))
            if (is_stack(model, found, outer, frame))
                return found;
        row = model_row_add(model, &model->stacks, &model->stack_index, hash, UINT32_MAX, "stacks");
    }
    if (!row || frame > frame_most)
        return model_fail(model, "stacks");
    row->stack = (struct model_stack){
        .frame = frame & frame_most,
        .part = stack_part_of(part_at(model, outer), frame_part_of(model, frame)),
        .outer = outer};
    return index;
}

void model_stack_soon(const struct model *model, uint32_t outer, uint32_t frame)
{
    hash_index_soon(&model->stack_index, stack_hash(outer, frame));
}

bool model_stack_is_inside_load(const struct model *model, uint32_t stack)
{
    return part_at(model, stack) == STACK_OF_LOAD &&
           part_at(model, model_stack_row(model, stack)->stack.outer) == STACK_OF_LOAD;
}

bool model_site_is_of_load(const struct model *model, uint32_t site)
{
    return part_at(model, model_site_at(model, site)->stack) == STACK_OF_LOAD;
}

uint32_t *model_keep_sites(struct model *model, uint16_t process, uint32_t stream,
                           uint64_t first_id, size_t count)
{
    uint32_t *sites = model->is_reread ? NULL : arena_alloc(&model->arena, count * sizeof(*sites));
    struct kept_row *row;

    if (!sites)
        return NULL;
    row = model_row_add(model, &model->kept_sites, &model->kept_index, hash_pair(process, stream),
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

/* --- rows ----------------------------------------------------------------------------------- */

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

const struct model_site *model_site_at(const struct model *model, uint32_t index)
{
    return &((const struct site_row *)table_at(&model->sites, index))->site;
}

const struct model_frame *model_frame_at(const struct model *model, uint32_t index)
{
    return &((const struct frame_row *)table_at(&model->frames, index))->frame;
}

const struct model_stack *model_stack_at(const struct model *model, uint32_t index)
{
    return &model_stack_row(model, index)->stack;
}
