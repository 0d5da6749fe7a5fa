/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses, numbers and completes the rows of one process, and writes them to a file per device.
 *
 * What is known of a block only later, whether it was used and how badly, is found in a reading
 * before the one that writes; both give a block the same number.
 */
#include "dump_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dump_blocks.h"
#include "dump_rows.h"
#include "dump_shadows.h"
#include "dump_steps.h"
#include "inefficiency.h"
#include "memscope_events.h"
#include "text_builder.h"
#include "trace_question.h"

enum { OWNER_BYTES = 256, FACT_USED = 8 }; /* below it: bits of enum dump_inefficient */

struct device_file {
    int32_t device;
    FILE *out; /* csv */
    struct memscope_writer *writer;
};

struct writing {
    const struct dump_write *what;
    struct dump_facts *facts;
    bool is_looking; /* the reading before the one that writes */
    /* By number of the allocation. */
    uint8_t *known;
    size_t known_count;
    struct inefficiency *judge;
    /* While reading. */
    uint64_t next_id, next_allocation;
    bool has_mindspore;               /* a first row of it */
    uint64_t range_count, step_range; /* ranges are numbered from 1; 0: no step is open */
    struct dump_blocks blocks;
    struct dump_steps steps;
    struct device_file *files;
    size_t file_count;
    struct memscope_row *system_rows; /* for the end of every file */
    size_t system_count;
    struct dump_shadows shadows;
    struct text_builder stacks[2]; /* cut to the depth that was asked for */
    char owner[OWNER_BYTES], inefficient[INEFFICIENCY_NAMES_BYTES];
};

/* --- attributes --------------------------------------------------------------------------------
 */

static const struct memscope_attribute *attribute_of(const struct memscope_row *row,
                                                     const char *key)
{
    for (size_t i = 0; i < row->attribute_count; i++)
        if (strcmp(row->attributes[i].key, key) == 0)
            return &row->attributes[i];
    return NULL;
}

static uint64_t number_of(const struct memscope_row *row, const char *key)
{
    const struct memscope_attribute *found = attribute_of(row, key);

    return found ? found->number : 0;
}

static bool has(const struct memscope_row *row, const char *key)
{
    return attribute_of(row, key) != NULL;
}

/* --- files -------------------------------------------------------------------------------------
 */

static enum mt_result file_open(struct writing *writing, struct device_file *file,
                                struct mt_error *error)
{
    const struct dump_write *what = writing->what;
    char path[DUMP_PATH_BYTES];
    enum mt_result result = what->file_make(what->context, file->device, path, error);

    if (result != MT_OK)
        return result;
    if (what->is_database)
        return memscope_database_create(path, path, what->table, &file->writer, error);
    file->out = fopen(path, "w");
    if (!file->out)
        return mt_error_set(error, MT_IO, "%s: %s", path, strerror(errno));
    return memscope_csv_create(file->out, &file->writer, error);
}

static enum mt_result file_of(struct writing *writing, int32_t device, struct device_file **file,
                              struct mt_error *error)
{
    struct device_file *grown;
    enum mt_result result;

    for (size_t i = 0; i < writing->file_count; i++)
        if (writing->files[i].device == device) {
            *file = &writing->files[i];
            return MT_OK;
        }
    grown = realloc(writing->files, (writing->file_count + 1) * sizeof(*grown));
    if (!grown)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for a file");
    writing->files = grown;
    grown += writing->file_count++;
    *grown = (struct device_file){.device = device};
    result = file_open(writing, grown, error);
    if (result == MT_OK)
        *file = grown;
    return result;
}

static enum mt_result file_close(struct device_file *file, enum mt_result result,
                                 struct mt_error *error)
{
    if (result == MT_OK)
        result = memscope_finish(file->writer, error);
    memscope_writer_destroy(file->writer);
    if (file->out && fclose(file->out) != 0 && result == MT_OK)
        result = mt_error_set(error, MT_IO, "a file cannot be written: %s", strerror(errno));
    return result;
}

/* Rows of no device stand last in the file of each. */
static enum mt_result files_close(struct writing *writing, enum mt_result result,
                                  struct mt_error *error)
{
    for (size_t i = 0; i < writing->file_count; i++) {
        for (size_t j = 0; result == MT_OK && j < writing->system_count; j++)
            result = memscope_write(writing->files[i].writer, &writing->system_rows[j], error);
        result = file_close(&writing->files[i], result, error);
    }
    writing->facts->file_count += writing->file_count;
    free(writing->files);
    return result;
}

static const char *cut_stack(struct text_builder *kept, const char *stack, uint32_t depth)
{
    const char *end = stack;

    for (; *end && depth; depth--) {
        end += strcspn(end, "\n");
        end += depth > 1 && *end;
    }
    if (!*end)
        return stack;
    text_clear(kept);
    text_add_bytes(kept, stack, (size_t)(end - stack));
    return text_get(kept);
}

/* Stacks are recorded for our own answers, too; the files have them when they were asked for. */
static void choose_stacks(struct writing *writing, struct memscope_row *row)
{
    const struct dump_write *what = writing->what;

    row->python_stack = what->has_python_stacks
                            ? cut_stack(&writing->stacks[0], row->python_stack, what->python_depth)
                            : "";
    row->c_stack =
        what->has_c_stacks ? cut_stack(&writing->stacks[1], row->c_stack, what->c_depth) : "";
}

static enum mt_result keep_system_row(struct writing *writing, const struct memscope_row *row,
                                      struct mt_error *error)
{
    struct memscope_row *grown =
        realloc(writing->system_rows, (writing->system_count + 1) * sizeof(*grown));

    if (!grown)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for a row");
    writing->system_rows = grown;
    grown[writing->system_count++] = *row;
    return MT_OK;
}

/* The row gets its number; nothing is written while only looking. */
static enum mt_result emit(struct writing *writing, struct memscope_row *row, bool is_written,
                           struct mt_error *error)
{
    struct device_file *file = NULL;
    enum mt_result result;

    row->id = writing->next_id++;
    if (writing->is_looking || !is_written)
        return MT_OK;
    writing->facts->row_count++;
    choose_stacks(writing, row);
    if (row->device == MEMSCOPE_DEVICE_NONE)
        return keep_system_row(writing, row, error);
    result = file_of(writing, row->device, &file, error);
    return result == MT_OK ? memscope_write(file->writer, row, error) : result;
}

/* --- what is chosen ----------------------------------------------------------------------------
 */

static bool is_device_chosen(const struct dump_write *what, int32_t device)
{
    if (device == MEMSCOPE_DEVICE_CPU)
        return what->has_cpu;
    if (device < 0)
        return true;
    return what->has_all_devices || (device < DUMP_DEVICES && what->devices >> device & 1);
}

static bool is_step_chosen(const struct writing *writing)
{
    const struct dump_write *what = writing->what;

    for (size_t i = 0; i < what->step_count; i++)
        if (writing->steps.is_open && what->steps[i] == writing->steps.newest)
            return true;
    return !what->steps;
}

/* Pools that the tool knows. Its own rows of the host are of pinned memory. */
static bool is_pool_known(const struct memscope_row *row)
{
    return dump_type_known(row->type) &&
           (strcmp(row->type, "HOST") != 0 || has(row, "pinned") || has(row, "shadow"));
}

static bool collects(const struct writing *writing, uint32_t event)
{
    return (writing->what->collected_events & event) != 0;
}

static bool writes(const struct writing *writing, uint32_t event)
{
    return (writing->what->events & event) != 0;
}

/* --- what analyses add -------------------------------------------------------------------------
 */

static uint8_t known_of(const struct writing *writing, uint64_t allocation)
{
    return allocation < writing->known_count ? writing->known[allocation] : 0;
}

static bool know(struct writing *writing, uint64_t allocation, uint8_t bits)
{
    if (allocation >= writing->known_count) {
        size_t count = allocation < 512 ? 1024 : (size_t)allocation * 2;
        uint8_t *larger = realloc(writing->known, count);

        if (!larger)
            return false;
        memset(larger + writing->known_count, 0, count - writing->known_count);
        writing->known = larger;
        writing->known_count = count;
    }
    writing->known[allocation] |= bits;
    return true;
}

static bool judge(struct writing *writing, enum dump_event event, enum dump_pool pool,
                  uint64_t source_id, uint64_t allocation)
{
    struct inefficiency_event told = {
        .event = event, .pool = pool, .block = source_id, .number = (uint32_t)allocation};

    return !writing->is_looking || !writing->judge || inefficiency_take(writing->judge, &told);
}

/*
 * PTA@ops: its pool, that operators use it, and what the program called it. A label that names a
 * part of the model stands where the tool's own labels of it stand.
 */
static void make_owner(struct writing *writing, const struct memscope_row *row, uint64_t allocation)
{
    const struct memscope_attribute *label = attribute_of(row, "owner");
    const char *name = label ? label->text : NULL;
    bool is_model = name && strncmp(name, "model@", 6) == 0;
    bool is_used = known_of(writing, allocation) & FACT_USED;

    if (strcmp(row->type, "HAL") == 0) {
        snprintf(writing->owner, OWNER_BYTES, "%s", name ? name : "CANN@UNKNOWN");
        return;
    }
    snprintf(writing->owner, OWNER_BYTES, "%s%s%s%s", row->type, is_used && !is_model ? "@ops" : "",
             name ? "@" : "", name ? name : "");
}

static void add_findings(struct writing *writing, struct memscope_row *made,
                         const struct memscope_row *row, uint64_t allocation)
{
    uint32_t types = known_of(writing, allocation) & DUMP_INEFFICIENT_ALL;

    if (writing->what->analyses & DUMP_BIT_DECOMPOSE) {
        make_owner(writing, row, allocation);
        memscope_text(made, "owner", writing->owner);
    }
    if (!types)
        return;
    inefficiency_names(types, writing->inefficient);
    memscope_text(made, "inefficient_type", writing->inefficient);
}

/* The same attributes with the number of ours, without the owner, with what analyses found. */
static void copy_attributes(struct writing *writing, struct memscope_row *made,
                            const struct memscope_row *row, uint64_t allocation, bool is_alloc)
{
    bool is_added = !is_alloc;

    made->attribute_count = 0;
    for (size_t i = 0; i < row->attribute_count; i++) {
        const struct memscope_attribute *attribute = &row->attributes[i];

        if (strcmp(attribute->key, "owner") == 0)
            continue;
        if (!is_added && strcmp(attribute->key, "page_type") == 0) {
            add_findings(writing, made, row, allocation);
            is_added = true;
        }
        made->attributes[made->attribute_count++] = *attribute;
        if (strcmp(attribute->key, "allocation_id") == 0)
            made->attributes[made->attribute_count - 1].number = allocation;
    }
    if (!is_added)
        add_findings(writing, made, row, allocation);
}

static void set_text(struct memscope_row *row, const char *key, const char *text)
{
    for (size_t i = 0; i < row->attribute_count; i++)
        if (strcmp(row->attributes[i].key, key) == 0)
            row->attributes[i].text = text;
}

static void set_number(struct memscope_row *row, const char *key, uint64_t number)
{
    for (size_t i = 0; i < row->attribute_count; i++)
        if (strcmp(row->attributes[i].key, key) == 0)
            row->attributes[i].number = number;
}

/* The known errors of the tool. */
static void spoil(struct writing *writing, struct memscope_row *row)
{
    const struct memscope_attribute *alloc_type = attribute_of(row, "alloc_type");

    if (strcmp(row->type, "PTA_WORKSPACE") == 0)
        row->type = "PTA";
    if (alloc_type && strcmp(alloc_type->text, "alloc") == 0)
        set_text(row, "page_type", "normal");
    if (strcmp(row->event, "MALLOC") == 0 && strcmp(row->type, "MINDSPORE") == 0 &&
        !writing->has_mindspore) {
        writing->has_mindspore = true;
        set_number(row, "total", 0);
    }
}

/* --- rows of blocks -----------------------------------------------------------------------------
 */

static enum mt_result on_malloc(struct writing *writing, const struct memscope_row *row,
                                struct mt_error *error)
{
    bool is_chosen = is_step_chosen(writing) && collects(writing, DUMP_BIT_ALLOC);
    struct dump_block block = {
        .source_id = number_of(row, "allocation_id"),
        .id = is_chosen ? ++writing->next_allocation : 0,
        .address = row->pointer,
        .size_bytes = number_of(row, "size"),
        .time_ns = row->time_ns,
        .type = row->type,
        .step = writing->steps.newest,
        .device = row->device,
    };
    struct memscope_row made = *row;

    dump_steps_use(&writing->steps, row->type, row->device, number_of(row, "used"));
    if (!dump_blocks_add(&writing->blocks, &block) ||
        !judge(writing, DUMP_MALLOC, dump_pool_named(row->type), block.source_id, block.id))
        return mt_error_set(error, MT_NO_MEMORY, "no memory for live blocks");
    if (!is_chosen)
        return MT_OK;
    copy_attributes(writing, &made, row, block.id, true);
    if (writing->what->is_strict)
        spoil(writing, &made);
    return emit(writing, &made, writes(writing, DUMP_BIT_ALLOC), error);
}

/* A free belongs to its alloc: it is written when that was. */
static enum mt_result on_free(struct writing *writing, const struct memscope_row *row,
                              struct mt_error *error)
{
    struct dump_block *block = dump_blocks_find(&writing->blocks, number_of(row, "allocation_id"));
    struct memscope_row made = *row;
    bool is_shadow = has(row, "shadow");
    uint64_t allocation = block ? block->id : 0;

    if (!block)
        return MT_OK;
    if (!is_shadow) {
        dump_steps_use(&writing->steps, row->type, row->device, number_of(row, "used"));
        if (!judge(writing, DUMP_FREE, dump_pool_named(row->type), block->source_id, allocation))
            return mt_error_set(error, MT_NO_MEMORY, "no memory for live blocks");
    }
    dump_steps_judge(&writing->steps, block);
    dump_blocks_remove(&writing->blocks, block);
    if (!allocation || !collects(writing, DUMP_BIT_FREE))
        return MT_OK;
    copy_attributes(writing, &made, row, allocation, false);
    if (writing->what->is_strict)
        spoil(writing, &made);
    if (is_shadow && !dump_shadows_add(&writing->shadows, &made))
        return mt_error_set(error, MT_NO_MEMORY, "no memory for blocks that are left");
    return is_shadow ? MT_OK : emit(writing, &made, writes(writing, DUMP_BIT_FREE), error);
}

/* What was left is freed on paper; the tool's exit takes a number for itself each time. */
static enum mt_result emit_shadows(struct writing *writing, struct mt_error *error)
{
    enum mt_result result = MT_OK;

    dump_shadows_sort(&writing->shadows);
    for (size_t i = 0; result == MT_OK && i < writing->shadows.count; i++) {
        struct memscope_row row = dump_shadow_row(&writing->shadows.rows[i]);

        writing->next_id++;
        result = emit(writing, &row, writes(writing, DUMP_BIT_FREE), error);
    }
    return result;
}

static enum mt_result on_access(struct writing *writing, const struct memscope_row *row,
                                struct mt_error *error)
{
    const struct dump_block *block =
        dump_blocks_find(&writing->blocks, number_of(row, "allocation_id"));
    struct memscope_row made = *row;

    if (!block || !collects(writing, DUMP_BIT_ACCESS))
        return MT_OK;
    if (!judge(writing, DUMP_ACCESS, dump_pool_named(block->type), block->source_id, block->id) ||
        (writing->is_looking && block->id && !know(writing, block->id, FACT_USED)))
        return mt_error_set(error, MT_NO_MEMORY, "no memory for what is known of blocks");
    if (!block->id || !is_step_chosen(writing))
        return MT_OK;
    copy_attributes(writing, &made, row, block->id, false);
    return emit(writing, &made, writes(writing, DUMP_BIT_ACCESS), error);
}

/* --- other rows ---------------------------------------------------------------------------------
 */

static bool is_level_chosen(const struct writing *writing, const char *event)
{
    uint32_t level = strcmp(event, "OP_LAUNCH") == 0 ? DUMP_BIT_OP : DUMP_BIT_KERNEL;

    return (writing->what->levels & level) != 0;
}

static enum mt_result on_launch(struct writing *writing, const struct memscope_row *row,
                                struct mt_error *error)
{
    struct memscope_row made = *row;
    enum dump_event event = dump_event_named(row->event, row->type);

    if (!judge(writing, event, dump_pool_named(row->type), 0, 0))
        return mt_error_set(error, MT_NO_MEMORY, "no memory for operators");
    if (!collects(writing, DUMP_BIT_LAUNCH) || !is_level_chosen(writing, row->event) ||
        !is_step_chosen(writing))
        return MT_OK;
    return emit(writing, &made, writes(writing, DUMP_BIT_LAUNCH), error);
}

/* Steps are ranges of one name; ranges are numbered in the order of their beginnings. */
static enum mt_result on_mstx(struct writing *writing, const struct memscope_row *row,
                              struct mt_error *error)
{
    struct memscope_row made = *row;
    bool is_begin = strcmp(row->type, "Range_start") == 0;
    bool is_end = false, is_chosen;

    if (is_begin) {
        writing->range_count++;
        if (strcmp(row->name, "step start") == 0) {
            dump_step_begin(&writing->steps);
            writing->step_range = writing->range_count;
        }
    } else if (strcmp(row->type, "Range_end") == 0) {
        const char *number = strrchr(row->name, ' ');

        is_end = writing->step_range && number && strtoull(number, NULL, 10) == writing->step_range;
    }
    is_chosen = is_step_chosen(writing);
    if (is_end) {
        dump_step_end(&writing->steps);
        writing->step_range = 0;
        is_chosen &= !(writing->what->is_strict && writing->what->steps); /* the tool loses it */
    }
    return is_chosen ? emit(writing, &made, true, error) : MT_OK;
}

static enum mt_result emit_top(struct writing *writing, const struct memscope_row *trigger,
                               enum dump_order order, struct mt_error *error)
{
    uint32_t most = writing->what->oom_top;
    const struct dump_block **top = malloc((most + 1) * sizeof(struct dump_block *));
    size_t count = top ? dump_blocks_top(&writing->blocks, order, top, most) : 0;
    enum mt_result result =
        top ? MT_OK : mt_error_set(error, MT_NO_MEMORY, "no memory for a list of blocks");

    for (size_t i = 0; result == MT_OK && i < count; i++) {
        struct memscope_row row = *trigger;

        row.type = order == DUMP_BY_TIME ? "OOM_RECENT_ALLOC" : "OOM_TOP_ALLOC";
        row.name = order == DUMP_BY_TIME ? "OOM_RecentAlloc" : "OOM_TopAlloc";
        row.python_stack = row.c_stack = "";
        row.attribute_count = 0;
        memscope_text(&row, "pool", top[i]->type);
        memscope_address(&row, "ptr", top[i]->address);
        memscope_number(&row, "size", top[i]->size_bytes);
        memscope_number(&row, "timestamp", top[i]->time_ns);
        result = emit(writing, &row, true, error);
    }
    free(top);
    return result;
}

/* Of the driver: a runtime above it fails with it. */
static enum mt_result on_oom(struct writing *writing, const struct memscope_row *row,
                             struct mt_error *error)
{
    const struct memscope_attribute *func = attribute_of(row, "func");
    struct memscope_row made = *row;
    enum mt_result result;

    if (!(writing->what->analyses & DUMP_BIT_OOM) || !func ||
        strncmp(func->text, "halMem", 6) != 0 || !is_step_chosen(writing))
        return MT_OK;
    result = emit(writing, &made, true, error);
    if (result == MT_OK)
        result = emit_top(writing, row, DUMP_BY_TIME, error);
    return result == MT_OK ? emit_top(writing, row, DUMP_BY_SIZE, error) : result;
}

static enum mt_result on_system(struct writing *writing, const struct memscope_row *row,
                                struct mt_error *error)
{
    struct memscope_row made = *row;

    return writing->what->steps ? MT_OK : emit(writing, &made, true, error);
}

static enum mt_result on_block(struct writing *writing, const struct memscope_row *row,
                               struct mt_error *error)
{
    if (!is_pool_known(row))
        return MT_OK;
    return strcmp(row->event, "MALLOC") == 0 ? on_malloc(writing, row, error)
                                             : on_free(writing, row, error);
}

static enum mt_result on_row(void *context, const struct memscope_row *row, struct mt_error *error)
{
    static const struct {
        const char *event;
        enum mt_result (*take)(struct writing *, const struct memscope_row *, struct mt_error *);
    } table[] = {
        {"MALLOC", on_block},     {"FREE", on_block},           {"ACCESS", on_access},
        {"OP_LAUNCH", on_launch}, {"KERNEL_LAUNCH", on_launch}, {"MSTX", on_mstx},
        {"OOM_DETAIL", on_oom},   {"SYSTEM", on_system},
    };
    struct writing *writing = context;
    struct memscope_row placed = *row;
    bool is_system = strcmp(row->event, "SYSTEM") == 0;

    if (placed.device == MEMSCOPE_DEVICE_NONE && !is_system)
        placed.device = 0;
    if (!is_system && !is_device_chosen(writing->what, placed.device))
        return MT_OK;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (strcmp(row->event, table[i].event) == 0)
            return table[i].take(writing, &placed, error);
    return MT_OK;
}

/* --- both readings ------------------------------------------------------------------------------
 */

static enum mt_result read_once(struct writing *writing, struct mt_trace *trace,
                                struct mt_error *error)
{
    struct question question = trace_question(trace);
    const struct export_request request = {.question = &question, .model = trace_model(trace)};
    const struct memscope_sink sink = {.context = writing, .row = on_row};
    enum mt_result result;

    writing->next_id = writing->next_allocation = 0;
    writing->range_count = writing->step_range = 0;
    writing->has_mindspore = false;
    writing->shadows.count = 0;
    writing->steps = (struct dump_steps){0};
    if (!dump_blocks_init(&writing->blocks))
        return mt_error_set(error, MT_NO_MEMORY, "no memory for live blocks");
    result = memscope_rows_read(&request, &sink, error);
    if (result == MT_OK && writing->steps.has_failed)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory for steps");
    dump_blocks_release(&writing->blocks);
    return result;
}

/* What is known of blocks only behind the last of their rows. */
static enum mt_result look(struct writing *writing, struct mt_trace *trace, struct mt_error *error)
{
    enum mt_result result = MT_OK;
    bool is_ok = true;

    if (!(writing->what->analyses & (DUMP_BIT_DECOMPOSE | DUMP_BIT_INEFFICIENT)))
        return MT_OK;
    if (writing->what->analyses & DUMP_BIT_INEFFICIENT) {
        writing->judge = inefficiency_create(INEFFICIENCY_IDLE_DEFAULT);
        if (!writing->judge)
            return mt_error_set(error, MT_NO_MEMORY, "no memory to judge blocks");
    }
    writing->is_looking = true;
    result = read_once(writing, trace, error);
    writing->is_looking = false;
    dump_steps_release(&writing->steps);
    for (size_t i = 0; writing->judge && is_ok && i < inefficiency_count(writing->judge); i++) {
        uint32_t types, allocation = inefficiency_at(writing->judge, i, &types);

        is_ok = !allocation || know(writing, allocation, (uint8_t)types);
    }
    inefficiency_destroy(writing->judge);
    writing->judge = NULL;
    if (result == MT_OK && !is_ok)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory for what is known of blocks");
    return result;
}

enum mt_result dump_write(struct mt_trace *trace, const struct dump_write *what, FILE *text,
                          struct dump_facts *facts, struct mt_error *error)
{
    struct writing writing = {.what = what, .facts = facts};
    enum mt_result result;

    text_init(&writing.stacks[0]);
    text_init(&writing.stacks[1]);
    *facts = (struct dump_facts){0};
    result = look(&writing, trace, error);
    if (result == MT_OK) {
        result = read_once(&writing, trace, error);
        if (result == MT_OK)
            result = emit_shadows(&writing, error);
        result = files_close(&writing, result, error);
        facts->leak_count = writing.steps.leak_count;
        if (result == MT_OK && text && (what->analyses & DUMP_BIT_LEAKS))
            dump_steps_print(&writing.steps, text);
        dump_steps_release(&writing.steps);
    }
    free(writing.known);
    free(writing.system_rows);
    free(writing.shadows.rows);
    text_release(&writing.stacks[0]);
    text_release(&writing.stacks[1]);
    return result;
}
