/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites as people know them.
 */
#include "symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cxx_name.h"
#include "frame_names.h"
#include "frame_parts.h"
#include "hash.h"
#include "keyed_table.h"
#include "list.h"
#include "module_symbols.h"
#include "readable_name.h"
#include "sentence.h"
#include "site_identity.h"
#include "site_rules.h"
#include "stack_facts.h"
#include "text_builder.h"
#include "wrappers.h"

enum { name_most_bytes = 64, wrapper_sample = 1 << 14 /* stacks that are looked at for them */ };

/* What is known of a site so far. */
struct site_row {
    const char *label; /* NULL: not asked for */
    uint64_t id, key;  /* 0: not asked for */
};

/* What names sites, and what is inside of it where that is the same for all of them. */
struct telling_place {
    uint64_t stack; /* that ends in the most telling frame */
    const struct named_frame *frame, *called;
    const char *label; /* NULL: not asked for; as of the wrappers that were known then */
    size_t wrapper_site_count;
};

struct frame_label {
    uint64_t frame; /* is known by its address */
    const char *label;
};

/* Sites that are called from one place are one, but for what they call there. */
struct place_id {
    const struct telling_place *place;
    const struct named_frame *called; /* NULL: does not count */
    uint64_t id;
};

struct symbols {
    struct model *model;
    struct arena arena;
    struct site_rules rules;
    bool has_built_in_rules;
    struct frame_parts parts;
    struct module_symbols modules;
    struct frame_names names;
    struct stack_facts facts;
    struct wrappers wrappers;
    size_t wrapper_site_count; /* sites when they were looked for */
    struct site_row *sites;    /* by site */
    size_t site_count;
    struct keyed_table places; /* struct telling_place */
    struct keyed_table labels; /* struct frame_label */
    struct table ids;          /* struct place_id */
    struct hash_index id_index;
    /* The stack that was asked for last. */
    const struct named_frame *stack[SYMBOLS_DEPTH_MOST];
    size_t depth;
    struct symbol_frame frames[SYMBOLS_DEPTH_MOST];
};

enum mt_result symbols_create(struct model *model, struct symbols **out, struct mt_error *error)
{
    struct symbols *symbols = calloc(1, sizeof(*symbols));

    if (!symbols)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for symbols");
    symbols->model = model;
    arena_init(&symbols->arena);
    site_rules_init(&symbols->rules);
    module_symbols_init(&symbols->modules, model);
    frame_names_init(&symbols->names, model, &symbols->rules, &symbols->modules);
    wrappers_init(&symbols->wrappers);
    frame_parts_init(&symbols->parts, &symbols->rules);
    stack_facts_init(&symbols->facts, model, &symbols->names);
    keyed_table_init(&symbols->places, &symbols->arena, sizeof(struct telling_place));
    keyed_table_init(&symbols->labels, &symbols->arena, sizeof(struct frame_label));
    table_init(&symbols->ids, &symbols->arena, sizeof(struct place_id));
    hash_index_init(&symbols->id_index);
    *out = symbols;
    return MT_OK;
}

void symbols_destroy(struct symbols *symbols)
{
    if (!symbols)
        return;
    wrappers_release(&symbols->wrappers);
    frame_parts_release(&symbols->parts);
    keyed_table_release(&symbols->places);
    keyed_table_release(&symbols->labels);
    hash_index_release(&symbols->id_index);
    stack_facts_release(&symbols->facts);
    frame_names_release(&symbols->names);
    module_symbols_release(&symbols->modules);
    site_rules_release(&symbols->rules);
    arena_release(&symbols->arena);
    free(symbols->sites);
    free(symbols);
}

/* --- where names come from ----------------------------------------------------------------- */

/* The next of a list; NULL after the last, or without memory. Lives in the arena. */
static const char *take_path(struct symbols *symbols, const char **list)
{
    size_t length;
    const char *path;

    if (!*list)
        return NULL;
    *list += strspn(*list, ":");
    length = strcspn(*list, ":");
    path = length ? arena_text(&symbols->arena, *list, length) : NULL;
    *list += length;
    return path;
}

static enum mt_result check_folder(const char *option, const char *what, const char *path,
                                   struct mt_error *error)
{
    struct stat status;
    const char *wrong = NULL;

    if (stat(path, &status) != 0)
        wrong = strerror(errno);
    else if (!S_ISDIR(status.st_mode))
        wrong = "not a folder";
    if (!wrong)
        return MT_OK;
    return mt_error_of(error, option,
                       mt_error_set(error, MT_USAGE, "%s %s: %s", what, path, wrong));
}

static enum mt_result add_folders(struct symbols *symbols, const char *list, struct mt_error *error)
{
    struct debug_places *places = &symbols->modules.places;
    size_t most = list ? strlen(list) / 2 + 1 : 0;
    const char **folders = arena_alloc(&symbols->arena, (most + 1) * sizeof(*folders));
    enum mt_result result = MT_OK;
    const char *folder;

    if (!folders)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for names of folders");
    while (result == MT_OK && (folder = take_path(symbols, &list))) {
        result =
            check_folder("debug_folders", translated("the folder with debug data"), folder, error);
        folders[places->folder_count++] = folder;
    }
    places->folders = folders;
    return result;
}

/* The built-in rules come last, and nobody adds any once the first site was asked for. */
static void rules_complete(struct symbols *symbols)
{
    if (symbols->has_built_in_rules)
        return;
    symbols->has_built_in_rules = true;
    site_rules_add_built_in(&symbols->rules, NULL);
}

enum mt_result symbols_configure(struct symbols *symbols, const struct symbols_options *options,
                                 struct mt_error *error)
{
    const char *rules = options->rule_files, *path;
    enum mt_result result = MT_OK;

    symbols->modules.name_folders = options->name_folders;
    symbols->modules.name_folder_count = options->name_folder_count;
    if (options->asks_servers && !symbols->modules.server)
        symbols->modules.server = debug_server_open();
    while (result == MT_OK && (path = take_path(symbols, &rules)))
        result = site_rules_add_file(&symbols->rules, path, error);
    if (result == MT_OK && options->sysroot) {
        result = check_folder("sysroot", "the sysroot", options->sysroot, error);
        symbols->modules.places.sysroot =
            arena_text(&symbols->arena, options->sysroot, strlen(options->sysroot));
    }
    if (result == MT_OK)
        result = add_folders(symbols, options->debug_folders, error);
    if (result == MT_OK) {
        rules_complete(symbols);
        model_set_frame_rule(symbols->model, frame_part_by_rules, &symbols->parts);
    }
    return result;
}

/* The row of a site; NULL without memory. */
static struct site_row *row_of(struct symbols *symbols, uint32_t site)
{
    size_t count = model_site_count(symbols->model);

    if (site < symbols->site_count ||
        (site < count &&
         list_extend(&symbols->sites, &symbols->site_count, count, sizeof(*symbols->sites))))
        return &symbols->sites[site];
    return NULL;
}

/* --- the frames of a site ------------------------------------------------------------------ */

static void push_frames(struct symbols *symbols, struct named_frames named)
{
    for (size_t i = 0; i < named.count && symbols->depth < SYMBOLS_DEPTH_MOST; i++)
        symbols->stack[symbols->depth++] = &named.rows[i];
}

/* Which frames of a stack: a load is one to those that name and compare, and shown as it was. */
enum frames_wanted { FRAMES_THAT_NAME, FRAMES_SHOWN };

/* Adds the frames of a stack of the model to symbols->stack. */
static void push_stack(struct symbols *symbols, uint32_t stack, enum frames_wanted wanted)
{
    while (stack && symbols->depth < SYMBOLS_DEPTH_MOST) {
        const struct model_stack *top = model_stack_at(symbols->model, stack);

        if (wanted == FRAMES_SHOWN || !model_stack_is_inside_load(symbols->model, stack))
            push_frames(symbols, frame_names_of(&symbols->names, top->frame));
        stack = top->outer;
    }
}

/* Fills symbols->stack; it stays empty for sites that are only a label. */
static void stack_of(struct symbols *symbols, uint32_t site, enum frames_wanted wanted)
{
    const struct model_site *row = model_site_at(symbols->model, site);

    rules_complete(symbols);
    symbols->depth = 0;
    push_stack(symbols, row->stack, wanted);
    if (!row->stack && row->address)
        push_frames(symbols, frame_names_at(&symbols->names,
                                            &(struct model_frame){.process = row->process,
                                                                  .address = row->address,
                                                                  .time_ns = row->time_ns},
                                            model_site_module(symbols->model, site)));
}

/* Of many sites, some at equal distances: a function that everybody calls is in those as well. */
static void see_stacks(struct symbols *symbols, size_t site_count)
{
    size_t stride = site_count / wrapper_sample + 1;

    for (size_t site = 1; site < site_count; site += stride) {
        stack_of(symbols, (uint32_t)site, FRAMES_THAT_NAME);
        if (symbols->depth)
            wrappers_see(&symbols->wrappers, symbols->stack, symbols->depth);
    }
}

/* Again when twice as many sites are known, where names are asked for while a recording is read. */
static void look_for_wrappers(struct symbols *symbols)
{
    size_t site_count = model_site_count(symbols->model);

    if (site_count < 2 * symbols->wrapper_site_count || !site_count)
        return;
    symbols->wrapper_site_count = site_count;
    for (int round = 0; round < WRAPPER_ROUNDS; round++) {
        see_stacks(symbols, site_count);
        if (!wrappers_find(&symbols->wrappers))
            return;
    }
}

/* Of the stack that was asked for last. */
static size_t telling_of(const struct symbols *symbols)
{
    return wrappers_telling(&symbols->wrappers, symbols->stack, symbols->depth);
}

/* --- what names sites ---------------------------------------------------------------------- */

/* Of a site's stack; NULL: it has none, or one that is cut. Borrowed as by stack_facts_of(). */
static const struct stack_fact *site_fact(struct symbols *symbols, uint32_t site)
{
    uint32_t stack = model_site_at(symbols->model, site)->stack;
    const struct stack_fact *fact;

    rules_complete(symbols);
    fact = stack ? stack_facts_of(&symbols->facts, stack) : NULL;
    return fact && fact->depth <= SYMBOLS_DEPTH_MOST ? fact : NULL;
}

/* Of operators, the telling frame is of a caller: the one that was asked for. */
static void place_of_operator(struct symbols *symbols, struct telling_place *place, size_t telling)
{
    symbols->depth = 0;
    push_stack(symbols, (uint32_t)place->stack, FRAMES_THAT_NAME);
    telling = operator_entry(symbols->stack, symbols->depth, telling);
    place->frame = symbols->stack[telling];
    place->called = telling ? symbols->stack[telling - 1] : NULL;
}

/* stack: that ends in a telling frame. */
static struct telling_place place_make(struct symbols *symbols, uint32_t stack)
{
    const struct model_stack *row = model_stack_at(symbols->model, stack);
    const struct named_frames frames = frame_names_of(&symbols->names, row->frame);
    struct telling_place place = {.stack = stack};

    if (frames.telling >= frames.count)
        return place;
    place.frame = &frames.rows[frames.telling];
    place.called = frames.telling ? place.frame - 1 : NULL;
    if (frames.class == CLASS_OPERATOR)
        place_of_operator(symbols, &place, frames.telling);
    return place;
}

/* What names the stacks that go through this one; NULL without memory. */
static struct telling_place *place_of(struct symbols *symbols, uint32_t stack)
{
    struct telling_place *row = keyed_table_find(&symbols->places, stack), made;

    if (row)
        return row;
    made = place_make(symbols, stack);
    row = made.frame ? keyed_table_add(&symbols->places, stack) : NULL;
    if (row)
        *row = made;
    return row;
}

/* --- labels -------------------------------------------------------------------------------- */

/* Where all names of a class begin and end alike, that says nothing: "linear", "MulBackward0". */
static void add_name(struct text_builder *text, const struct named_frame *frame)
{
    static const char *const beginnings[FRAME_CLASS_COUNT] = {
        [CLASS_BACKWARD] = "torch::autograd::generated::",
        [CLASS_OPERATOR] = "at::_ops::",
    };
    const char *beginning = beginnings[frame->class], *name = frame->function;

    if (!beginning || strncmp(name, beginning, strlen(beginning)) != 0) {
        add_short_name(text, name, name_most_bytes);
        return;
    }
    name += strlen(beginning);
    if (frame->class == CLASS_OPERATOR)
        text_add_format(text, "at::%.*s", (int)strcspn(name, ":"), name);
    else
        add_short_name(text, name, name_most_bytes);
}

/* "(models/net.py:12)", "(net.c:88)", "(net.c)" */
static void add_file(struct text_builder *text, const struct named_frame *frame)
{
    text_add_format(text, " (%s",
                    frame->is_python ? short_path(frame->file) : base_of_path(frame->file));
    if (frame->line)
        text_add_format(text, ":%" PRIu32, frame->line);
    text_add(text, ")");
}

/* "train+0x12f0", "0x12f0 (train)" where it is not known what the address counts from, "0x12f0" */
static void add_unnamed(struct text_builder *text, const struct named_frame *frame)
{
    if (frame->is_linked)
        text_add_format(text, "%s+", frame->module);
    text_add_format(text, "0x%" PRIx64, frame->address);
    if (*frame->module && !frame->is_linked)
        text_add_format(text, " (%s)", frame->module);
}

static void add_frame(struct text_builder *text, const struct named_frame *frame)
{
    if (!*frame->function) {
        add_unnamed(text, frame);
        return;
    }
    add_name(text, frame);
    if (*frame->file) {
        add_file(text, frame);
        return;
    }
    if (frame->has_offset && frame->class != CLASS_OPERATOR)
        text_add_format(text, "+0x%" PRIx64, frame->offset_bytes + 1);
    if (*frame->module)
        text_add_format(text, " (%s)", frame->module);
}

/* "(unknown)" for frame NULL; NULL without memory. */
static const char *label_compose(struct symbols *symbols, const struct named_frame *frame)
{
    struct text_builder text;
    const char *label;

    text_init(&text);
    if (frame)
        add_frame(&text, frame);
    label = text.size_bytes ? arena_text(&symbols->arena, text_get(&text), text.size_bytes)
                            : "(unknown)";
    text_release(&text);
    return label;
}

/* The same text each time. NULL without memory. */
static const char *label_of_frame(struct symbols *symbols, const struct named_frame *frame)
{
    struct frame_label *row = keyed_table_find(&symbols->labels, (uintptr_t)frame);
    const char *label;

    if (row)
        return row->label;
    label = label_compose(symbols, frame);
    row = label ? keyed_table_add(&symbols->labels, (uintptr_t)frame) : NULL;
    if (row)
        row->label = label;
    return label;
}

/* Wrappers are outward of the most telling frame; where that frame is none, nothing outward of it
 * is looked at. */
static const char *label_from(struct symbols *symbols, const struct telling_place *place)
{
    if (wrappers_keep(&symbols->wrappers, place->frame))
        return label_of_frame(symbols, place->frame);
    symbols->depth = 0;
    push_stack(symbols, (uint32_t)place->stack, FRAMES_THAT_NAME);
    return label_of_frame(symbols, symbols->stack[telling_of(symbols)]);
}

/* One for all sites of the place. */
static const char *label_of_place(struct symbols *symbols, struct telling_place *place)
{
    if (!place->label || place->wrapper_site_count != symbols->wrapper_site_count) {
        place->label = label_from(symbols, place);
        place->wrapper_site_count = symbols->wrapper_site_count;
    }
    return place->label;
}

static const char *label_make(struct symbols *symbols, uint32_t site)
{
    const struct model_site *row = model_site_at(symbols->model, site);
    const struct stack_fact *fact;
    struct telling_place own, *place;

    if (row->label && !row->stack)
        return model_text_at(symbols->model, row->label);
    look_for_wrappers(symbols);
    fact = site_fact(symbols, site);
    if (fact && fact->telling == row->stack) { /* a place of no other site: it is not remembered */
        own = place_make(symbols, row->stack);
        if (own.frame)
            return label_from(symbols, &own);
    }
    place = fact ? place_of(symbols, fact->telling) : NULL;
    if (place)
        return label_of_place(symbols, place);
    stack_of(symbols, site, FRAMES_THAT_NAME);
    return label_compose(symbols, symbols->depth ? symbols->stack[telling_of(symbols)] : NULL);
}

const char *symbols_label(struct symbols *symbols, uint32_t site)
{
    struct site_row *row = site ? row_of(symbols, site) : NULL;

    if (!site)
        return "(unknown)";
    if (row && !row->label)
        row->label = label_make(symbols, site);
    return row && row->label ? row->label : "(no memory)";
}

/* --- frames -------------------------------------------------------------------------------- */

static struct symbol_frame shown_frame(const struct named_frame *frame)
{
    return (struct symbol_frame){
        .function = frame->function,
        .file = frame->file,
        .module = frame->module,
        .module_path = frame->module_path,
        .link_address = frame->is_linked ? frame->address : 0,
        .line = frame->line,
        .is_inlined = frame->is_inlined,
        .is_plumbing = frame_classes[frame->class].is_plumbing,
        .is_allocator = frame->class == CLASS_ALLOCATOR,
        .is_python = frame->is_python,
        .whose = frame_classes[frame->class].whose,
    };
}

/* A frame needs something to be called by. */
static const char *name_of_unnamed(struct symbols *symbols, const struct named_frame *frame)
{
    struct text_builder text;
    const char *name;

    text_init(&text);
    add_unnamed(&text, frame);
    name = arena_text(&symbols->arena, text_get(&text), text.size_bytes);
    text_release(&text);
    return name ? name : "";
}

/*
 * Fills symbols->frames from symbols->stack. How an operator does its work is as little of interest
 * as how an allocator does. is_inside: of one that calls the outermost frame.
 */
static void show_stack(struct symbols *symbols, bool is_inside)
{
    for (size_t i = symbols->depth; i-- > 0;) {
        const struct named_frame *frame = symbols->stack[i];
        struct symbol_frame *shown = &symbols->frames[i];

        *shown = shown_frame(frame);
        if (!*shown->function)
            shown->function = name_of_unnamed(symbols, frame);
        if (frame->class == CLASS_OPERATOR && is_inside) {
            shown->is_plumbing = true;
            shown->whose = frame_classes[CLASS_MACHINERY].whose;
        }
        is_inside = is_inside_operator(is_inside, frame->class);
    }
}

const struct symbol_frame *symbols_frames(struct symbols *symbols, uint32_t site, size_t *count)
{
    *count = 0;
    if (!site)
        return symbols->frames;
    look_for_wrappers(symbols);
    stack_of(symbols, site, FRAMES_SHOWN);
    if (!symbols->depth) {
        symbols->frames[(*count)++] = (struct symbol_frame){
            .function = symbols_label(symbols, site),
            .file = "",
            .module = "",
            .module_path = "",
            .is_telling = true,
            .whose = "",
        };
        return symbols->frames;
    }
    show_stack(symbols, false);
    symbols->frames[telling_of(symbols)].is_telling = true;
    *count = symbols->depth;
    return symbols->frames;
}

const struct symbol_frame *symbols_stack_frames(struct symbols *symbols, uint32_t stack,
                                                size_t *count)
{
    const struct model_stack *row = model_stack_at(symbols->model, stack);
    const struct stack_fact *outer;

    rules_complete(symbols);
    outer = row->outer ? stack_facts_of(&symbols->facts, row->outer) : NULL;
    symbols->depth = 0;
    push_frames(symbols, frame_names_of(&symbols->names, row->frame));
    show_stack(symbols, outer && outer->is_operator);
    *count = symbols->depth;
    return symbols->frames;
}

static void keep_site(struct symbols *symbols, const struct model_site *row, size_t site,
                      const char *folder)
{
    const struct return_place place = {model_site_module(symbols->model, (uint32_t)site),
                                       row->process, row->address, row->time_ns};

    if (!row->stack && !row->label && row->address)
        module_symbols_keep(&symbols->modules, &place, folder);
}

void symbols_keep(struct symbols *symbols, const char *folder)
{
    frame_names_keep(&symbols->names, folder);
    for (size_t i = 1; i < model_site_count(symbols->model); i++)
        keep_site(symbols, model_site_at(symbols->model, (uint32_t)i), i, folder);
}

/* --- what stays ---------------------------------------------------------------------------- */

/* "train+0x40 (a.out)" and "forward (net.py:88)" without what moves: offset and line. */
static size_t steady_length(const char *label)
{
    const char *end = strpbrk(label, "+(");

    while (end && end > label && end[-1] == ' ')
        end--;
    return end && end > label ? (size_t)(end - label) : strlen(label);
}

static uint64_t id_of_stack(struct symbols *symbols, uint32_t site)
{
    const char *label;

    stack_of(symbols, site, FRAMES_THAT_NAME);
    if (symbols->depth)
        return stack_identity(symbols->stack, symbols->depth);
    label = symbols_label(symbols, site);
    return hash_bytes(label, steady_length(label)) | 1;
}

/* What the telling frame of the stack calls there, if that is part of the id. */
static const struct named_frame *called_from(struct symbols *symbols,
                                             const struct telling_place *place,
                                             const struct stack_fact *fact)
{
    const struct named_frame *called = place->called;
    struct named_frames frames;

    if (!called && fact->called) {
        frames =
            frame_names_of(&symbols->names, model_stack_at(symbols->model, fact->called)->frame);
        called = frames.count ? &frames.rows[frames.count - 1] : NULL;
    }
    return called && is_entry(called) ? called : NULL;
}

static uint64_t id_make(struct symbols *symbols, uint32_t site)
{
    const struct stack_fact *found_fact = site_fact(symbols, site);
    const struct stack_fact fact = found_fact ? *found_fact : (struct stack_fact){0};
    struct place_id wanted = {NULL}, *row;
    size_t probe = 0;
    uint32_t found;
    uint64_t hash;

    if (found_fact && fact.telling != model_site_at(symbols->model, site)->stack)
        wanted.place = place_of(symbols, fact.telling);
    if (!wanted.place)
        return id_of_stack(symbols, site);
    wanted.called = called_from(symbols, wanted.place, &fact);
    hash = hash_pair((uintptr_t)wanted.place, (uintptr_t)wanted.called);
    while (hash_index_next(&symbols->id_index, hash, &probe, &found)) {
        row = table_at(&symbols->ids, found);
        if (row->place == wanted.place && row->called == wanted.called)
            return row->id;
    }
    wanted.id = id_of_stack(symbols, site);
    row = hash_index_add_row(&symbols->id_index, hash, &symbols->ids);
    if (row)
        *row = wanted;
    return wanted.id;
}

uint64_t symbols_site_id(struct symbols *symbols, uint32_t site)
{
    struct site_row *row = site ? row_of(symbols, site) : NULL;

    if (!row)
        return 0;
    if (!row->id)
        row->id = id_make(symbols, site);
    return row->id;
}

uint64_t symbols_site_key(struct symbols *symbols, uint32_t site)
{
    struct site_row *row = site ? row_of(symbols, site) : NULL;
    const char *label;

    if (!row)
        return 0;
    if (!model_site_at(symbols->model, site)->stack)
        return hash_u64(site) | 1;
    if (!row->key) {
        label = symbols_label(symbols, site);
        row->key = hash_pair(symbols_site_id(symbols, site), hash_bytes(label, strlen(label))) | 1;
    }
    return row->key;
}

/* Modules load each other on thousands of ways, each of which allocates once. What was loaded
 * stays, whichever it was: the telling frame and what it says of the time are all that is asked. */
static uint64_t import_shape(const struct model *model, const struct stack_fact *fact)
{
    unsigned traits = fact->traits & ~(unsigned)(STACK_IS_PLAIN | STACK_IS_CONTAINER);

    return hash_pair(model_stack_at(model, fact->telling)->frame, traits) | 1;
}

struct symbols_shape symbols_shape_of(struct symbols *symbols, uint32_t site)
{
    uint32_t stack = site ? model_site_at(symbols->model, site)->stack : 0;
    const struct stack_fact *fact;
    struct symbols_shape found = {0};

    if (!site)
        return found;
    rules_complete(symbols);
    fact = stack ? stack_facts_of(&symbols->facts, stack) : NULL;
    if (!fact) {
        found.shape = hash_u64(site) | 1;
        return found;
    }
    found.traits = fact->traits;
    found.is_of_interpreter = fact->class == CLASS_INTERPRETER;
    found.shape = found.traits & STACK_IS_IMPORT ? import_shape(symbols->model, fact)
                                                 : stack_facts_shape(&symbols->facts, stack);
    return found;
}
