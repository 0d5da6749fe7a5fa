/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A picture as datasets of a report. docs/html-report.md tells what each column is.
 *
 * A list of rows becomes one array per column; each function below is one dataset.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "labels.h"
#include "ledger_figures.h"
#include "name_list.h"
#include "origins.h"
#include "page_stacks.h"
#include "picture.h"
#include "sentence.h"
#include "sheet.h"

enum { series_most = 256, steps_most = 200000, account_points_most = 60000 };

/* Each picture of a report has datasets of its own. */
static const char *named(const struct picture *picture, struct report *report, const char *name)
{
    const char *prefix = picture->question->picture_name;

    return prefix ? report_text(report, "%s%s", prefix, name) : name;
}

static void add_range(const struct picture *picture, struct report *report)
{
    static const char *const keys[] = {"start_ns",        "end_ns",     "rest_stretch_ns",
                                       "rest_bytes",      "rest_count", "rest_size_most_bytes",
                                       "phases_left_out", NULL};
    struct sheet sheet = sheet_of(keys);
    const struct kept_blocks *kept = &picture->kept;

    sheet_add(&sheet, (const uint64_t[]){picture->limits.start_ns, picture->limits.end_ns,
                                         kept->stretch_ns, kept->rest_bytes, kept->rest_block_count,
                                         kept->rest_size_most, picture->phases.left_out_count});
    sheet_to_report(&sheet, report, named(picture, report, "picture"));
}

static void add_processes(const struct picture *picture, struct name_list *names,
                          struct report *report)
{
    static const char *const keys[] = {"name", "start_ns", "end_ns", "is_rank", "rank", NULL};
    struct model *model = tally_model(picture->question->tally);
    struct sheet sheet = sheet_of(keys);

    for (size_t i = 0; i < model_process_count(model); i++) {
        const struct model_process *process = model_process_at(model, (uint16_t)i);
        const char *label = label_process(picture->question, report_arena(report), (uint16_t)i);

        sheet_add(&sheet, (const uint64_t[]){names_put(names, label), process->start_ns,
                                             process->end_ns, process->rank >= 0,
                                             process->rank >= 0 ? (uint64_t)process->rank : 0});
    }
    sheet_to_report(&sheet, report, named(picture, report, "processes"));
}

static void add_ledgers(const struct picture *picture, struct name_list *names,
                        struct report *report)
{
    static const char *const keys[] = {"name",
                                       "process",
                                       "pool",
                                       "device_next",
                                       "kind",
                                       "peak_bytes",
                                       "peak_ns",
                                       "peak_count",
                                       "alloc_count",
                                       "end_bytes",
                                       "unseen_peak_bytes",
                                       NULL};
    const struct question *question = picture->question;
    struct sheet sheet = sheet_of(keys);

    for (size_t i = 0; i < picture->ledger_count; i++) {
        const struct ledger *ledger = tally_ledger_at(question->tally, i);
        const char *pool =
            model_text_at(question->model, model_pool_name_at(question->model, ledger->pool));

        sheet_add(&sheet,
                  (const uint64_t[]){
                      names_put(names, label_ledger(question, report_arena(report), (uint16_t)i)),
                      ledger->process, names_put(names, pool), (uint64_t)(ledger->device + 1),
                      ledger->kind, ledger->peak_bytes, ledger->peak_time_ns, ledger->peak_count,
                      ledger->alloc_count, ledger->live_bytes,
                      ledger_figures_of(question, (uint16_t)i).unseen_peak_bytes});
    }
    sheet_to_report(&sheet, report, named(picture, report, "ledgers"));
}

/* What a curve is of. The page knows these numbers. */
enum curve_of { CURVE_LIVE, CURVE_RESERVED, CURVE_SAMPLE, CURVE_PEAK_DETAIL, CURVE_ACCOUNT };

struct curve_sheets {
    struct sheet curves, points;
};

static void add_point(struct sheet *points, const struct curve_point *point)
{
    sheet_add(points, (const uint64_t[]){point->time_ns, point->last, point->last - point->low,
                                         point->high - point->last});
}

static void add_curve(struct curve_sheets *sheets, const struct curve *curve, enum curve_of of,
                      uint64_t subject)
{
    if (!curve->count)
        return;
    sheet_add(&sheets->curves, (const uint64_t[]){of, subject, curve->stretch_ns, curve->count});
    for (size_t i = 0; i < curve->count; i++)
        add_point(&sheets->points, &curve->points[i]);
}

/* Only where the curve itself is shortened. */
static void add_detail(struct curve_sheets *sheets, const struct picture *picture, size_t index)
{
    const struct curve_detail *detail = &picture->details[index];
    uint16_t ledger = picture->detail_ledgers[index];

    if (!picture->live[ledger].stretch_ns)
        return;
    sheet_add(&sheets->curves,
              (const uint64_t[]){CURVE_PEAK_DETAIL, ledger, 0, curve_detail_count(detail)});
    for (size_t i = 0; i < curve_detail_count(detail); i++)
        add_point(&sheets->points, curve_detail_at(detail, i));
}

static bool has_part(const struct memory_accounts_all *accounts, enum account_part part)
{
    for (size_t i = 0; i < accounts->count; i++)
        if (memory_account_part(memory_accounts_at(accounts, i), part))
            return true;
    return false;
}

static void add_account_point(struct curve_sheets *sheets, const struct memory_account *account,
                              enum account_part part)
{
    uint64_t bytes = memory_account_part(account, part);

    add_point(&sheets->points,
              &(struct curve_point){
                  .time_ns = account->time_ns, .last = bytes, .low = bytes, .high = bytes});
}

/* One part of a process's accounts: of each stride accounts the highest, and that of the exit. */
static void add_account_part(struct curve_sheets *sheets,
                             const struct memory_accounts_all *accounts, size_t stride,
                             enum account_part part, uint64_t subject)
{
    size_t strides = (accounts->row_count + stride - 1) / stride;

    sheet_add(&sheets->curves,
              (const uint64_t[]){CURVE_ACCOUNT, subject, 0, strides + (accounts->at_exit != NULL)});
    for (size_t i = 0; i < accounts->row_count; i += stride) {
        size_t left = accounts->row_count - i;

        size_t at = memory_accounts_highest(accounts->accounts, accounts->first + i,
                                            left < stride ? left : stride);

        add_account_point(sheets, &accounts->accounts->rows[at], part);
    }
    if (accounts->at_exit)
        add_account_point(sheets, accounts->at_exit, part);
}

/* What the resident memory of each process is made of, over time. */
static void add_accounts(const struct picture *picture, struct name_list *names,
                         struct curve_sheets *sheets, struct report *report)
{
    static const char *const keys[] = {"part", "process", NULL};
    const struct memory_accounts *accounts = tally_accounts(picture->question->tally);
    size_t points = accounts->count * ACCOUNT_PART_COUNT;
    size_t stride = points ? (points + account_points_most - 1) / account_points_most : 1;
    struct sheet sheet = sheet_of(keys);
    uint64_t subject = 0;

    for (size_t p = 0; p < model_process_count(picture->question->model); p++) {
        const struct memory_accounts_all all = memory_accounts_all_of(accounts, (uint16_t)p);

        for (int part = 0; part < ACCOUNT_PART_COUNT; part++) {
            if (!has_part(&all, (enum account_part)part))
                continue;
            add_account_part(sheets, &all, stride, (enum account_part)part, subject++);
            sheet_add(&sheet, (const uint64_t[]){
                                  names_put(names, account_part_name((enum account_part)part)), p});
        }
    }
    sheet_to_report(&sheet, report, named(picture, report, "accounts"));
}

static void add_curves(const struct picture *picture, struct name_list *names,
                       struct report *report)
{
    static const char *const curve_keys[] = {"of", "subject", "stretch_ns", "point_count", NULL};
    static const char *const point_keys[] = {"time_ns", "last_bytes", "below_bytes", "above_bytes",
                                             NULL};
    struct curve_sheets sheets = {sheet_of(curve_keys), sheet_of(point_keys)};

    for (size_t i = 0; i < picture->ledger_count; i++) {
        add_curve(&sheets, &picture->live[i], CURVE_LIVE, i);
        add_curve(&sheets, &picture->reserved[i], CURVE_RESERVED, i);
    }
    for (size_t i = 0; i < picture->sample_count; i++)
        add_curve(&sheets, &picture->samples[i], CURVE_SAMPLE, i);
    for (size_t i = 0; i < picture->detail_count; i++)
        add_detail(&sheets, picture, i);
    add_accounts(picture, names, &sheets, report);
    sheet_to_report(&sheets.curves, report, named(picture, report, "curves"));
    sheet_to_report(&sheets.points, report, named(picture, report, "points"));
}

static void add_samples(const struct picture *picture, struct name_list *names,
                        struct report *report)
{
    static const char *const keys[] = {"counter", "process", "device_next", NULL};
    const struct question *question = picture->question;
    struct sheet sheet = sheet_of(keys);

    for (size_t i = 0; i < picture->sample_count; i++) {
        const struct sample_row *row = tally_sample_at(question->tally, i);

        sheet_add(&sheet,
                  (const uint64_t[]){
                      names_put(names, model_text_at(question->model, row->counter)), row->process,
                      (uint64_t)(model_place_at(question->model, row->place).device + 1)});
    }
    sheet_to_report(&sheet, report, named(picture, report, "samples"));
}

/* A rest has one label for all, and nothing else in common. */
static struct who who_of(const struct page_group *group, const struct group_detail *detail)
{
    if (group->is_rest)
        return (struct who){0, 0, 0, 0};
    return (struct who){detail->site, detail->operator_text, detail->owner_text, 0};
}

static uint32_t node_of(struct page_stacks *stacks, const struct page_group *group, uint32_t site)
{
    if (group->is_rest || !site)
        return 0;
    if (group->stack || model_site_at(stacks->question->model, site)->stack)
        return page_stacks_put(stacks, group->stack);
    return page_stacks_put_site(stacks, site);
}

/* What the pool alone counts: no block is of it, and it has no stack. */
static void add_unseen(const struct question *question, struct name_list *names,
                       struct sheet *sheet)
{
    uint32_t label = names_put(names, translated("(older than the recording)"));
    uint32_t category = names_put(names, category_name(CATEGORY_OLDER));

    for (size_t i = 0; i < tally_ledger_count(question->tally); i++) {
        struct ledger_figures figures = ledger_figures_of(question, (uint16_t)i);

        if (figures.unseen_peak_bytes || figures.unseen_end_bytes)
            sheet_add(sheet, (const uint64_t[]){i, 0, label, 0, 0, 0, figures.unseen_peak_bytes, 0,
                                                figures.unseen_end_bytes, 1, category});
    }
}

static void add_groups(const struct picture *picture, struct name_list *names,
                       struct page_stacks *stacks, struct report *report)
{
    static const char *const keys[] = {"ledger",    "stack",       "label",      "operator",
                                       "owner",     "module",      "peak_bytes", "peak_count",
                                       "end_bytes", "group_count", "category",   NULL};
    const struct question *question = picture->question;
    struct sheet sheet = sheet_of(keys);
    size_t joined = 0;

    sheet_add(&sheet, (const uint64_t[SHEET_COLUMNS_MOST]){0}); /* group 0 does not exist */
    for (size_t i = 1; i < picture->groups.count; i++) {
        const struct page_group *row = &picture->groups.rows[i];
        const struct group_detail *detail = tally_detail_at(question->tally, row->first);
        struct who who = who_of(row, detail);
        int32_t module = model_place_at(question->model, detail->place).module;
        const char *label =
            row->is_rest ? "(other sites)" : label_who(question, report_arena(report), who);

        joined += row->group_count > 1 ? row->group_count : 0;
        sheet_add(&sheet, (const uint64_t[]){
                              tally_group_at(question->tally, row->first)->ledger,
                              node_of(stacks, row, detail->site), names_put(names, label),
                              names_put(names, model_text_at(question->model, who.operator_text)),
                              names_put(names, model_text_at(question->model, who.owner_text)),
                              row->is_rest ? 0 : (uint64_t)(module + 1), row->peak_bytes,
                              row->peak_count, row->end_bytes, row->group_count,
                              names_put(names, category_name(row->category))});
    }
    add_unseen(question, names, &sheet);
    sheet_to_report(&sheet, report, named(picture, report, "groups"));
    if (joined)
        report_note(report, joined,
                    "call stacks of little memory that the pictures join where their site is one: "
                    "they show the frames that these share");
}

static void add_stacks(const struct picture *picture, const struct page_stacks *stacks,
                       struct report *report)
{
    static const char *const frame_keys[] = {"function", "file", "line", "module", "flags", NULL};
    static const char *const node_keys[] = {"frame", "outer", NULL};
    struct sheet frames = sheet_of(frame_keys), nodes = sheet_of(node_keys);

    for (size_t i = 0; i < stacks->frames.count; i++) {
        const struct page_frame *row = table_at(&stacks->frames, i);

        sheet_add(&frames,
                  (const uint64_t[]){row->function, row->file, row->line, row->module, row->flags});
    }
    for (size_t i = 0; i < stacks->nodes.count; i++) {
        const struct page_node *row = table_at(&stacks->nodes, i);

        sheet_add(&nodes, (const uint64_t[]){row->frame, row->outer});
    }
    sheet_to_report(&frames, report, named(picture, report, "frames"));
    sheet_to_report(&nodes, report, named(picture, report, "stack_nodes"));
    if (stacks->has_failed)
        report_note(report, 0, "pictures: not enough memory for all call stacks");
}

static void add_blocks(const struct picture *picture, struct name_list *names,
                       struct report *report)
{
    static const char *const keys[] = {"born_ns", "life_ns_next", "size_bytes", "group",
                                       "thread",  "address",      "stream",     NULL};
    struct model *model = tally_model(picture->question->tally);
    struct sheet sheet = sheet_of(keys);

    for (size_t i = 0; i < picture->kept.count; i++) {
        const struct life *life = &picture->kept.blocks[i];
        uint64_t age = life->freed_ns == UINT64_MAX ? 0 : life->freed_ns - life->born_ns + 1;

        uint16_t process = tally_ledger_at(picture->question->tally, life->ledger)->process;
        bool has_address = !model_process_at(model, process)->blocks_are_rows;

        sheet_add(&sheet, (const uint64_t[]){life->born_ns, age, life->size_bytes, life->group,
                                             life->thread, has_address ? life->address : 0,
                                             names_put(names, model_text_at(model, life->stream))});
    }
    sheet_to_report(&sheet, report, named(picture, report, "blocks"));
}

/* Those of blocks, by number. */
static void add_threads(const struct picture *picture, struct name_list *names,
                        struct report *report)
{
    static const char *const keys[] = {"name", NULL};
    const struct question *question = picture->question;
    struct sheet sheet = sheet_of(keys);

    for (size_t i = 0; i < model_thread_count(question->model); i++) {
        const struct model_thread *thread = model_thread_at(question->model, (uint32_t)i);
        const char *name = model_text_at(question->model, thread->name);

        sheet_add(&sheet, (const uint64_t[]){
                              names_put(names, report_text(report, "%s%s%" PRIu64, name,
                                                           *name ? " " : "", thread->thread_id))});
    }
    sheet_to_report(&sheet, report, named(picture, report, "threads"));
}

static void add_rest(const struct picture *picture, struct report *report)
{
    static const char *const keys[] = {"stretch",    "group",       "size_class",  "born_bytes",
                                       "born_count", "freed_bytes", "freed_count", NULL};
    struct sheet sheet = sheet_of(keys);

    for (size_t i = 0; i < picture->kept.rest_count; i++) {
        const struct rest_row *row = &picture->kept.rest[i];

        sheet_add(&sheet,
                  (const uint64_t[]){row->stretch, row->group, row->size_class, row->born_bytes,
                                     row->born_count, row->freed_bytes, row->freed_count});
    }
    sheet_to_report(&sheet, report, named(picture, report, "rest"));
}

/* Of each process the last ones, where there are very many. */
static void add_steps(const struct picture *picture, struct report *report)
{
    static const char *const keys[] = {"process", "index", "number", "begin_ns", "end_ns", NULL};
    const struct tally *tally = picture->question->tally;
    size_t most = steps_most / (model_process_count(picture->question->model) + 1) + 1;
    struct sheet sheet = sheet_of(keys);
    size_t left_out = 0;

    for (size_t i = 0; i < tally_step_count(tally); i++) {
        const struct step *step = tally_step_at(tally, i);
        uint64_t end_ns = step->is_ended ? step->end_ns : picture->limits.end_ns;

        if (step->index + most <= tally_process_at(tally, step->process).step_count) {
            left_out++;
            continue;
        }
        sheet_add(&sheet, (const uint64_t[]){step->process, step->index, step->number,
                                             step->begin_ns, end_ns});
    }
    sheet_to_report(&sheet, report, named(picture, report, "steps"));
    if (left_out)
        report_note(report, left_out,
                    "steps that the timeline does not show: it has the last ones of a process");
}

static void add_phases(const struct picture *picture, const struct phases *phases,
                       const char *dataset, struct name_list *names, struct report *report)
{
    static const char *const keys[] = {"process", "name", "begin_ns", "end_ns", NULL};
    struct sheet sheet = sheet_of(keys);

    for (size_t i = 0; i < phases->count; i++) {
        const struct phase *phase = &phases->rows[i];
        const char *name = model_text_at(picture->question->model, phase->text);

        sheet_add(&sheet, (const uint64_t[]){phase->process, names_put(names, name),
                                             phase->begin_ns, phase->end_ns});
    }
    sheet_to_report(&sheet, report, named(picture, report, dataset));
}

static void add_failures(const struct picture *picture, struct name_list *names,
                         struct report *report)
{
    static const char *const keys[] = {"time_ns", "size_bytes", "live_bytes",
                                       "ledger",  "site_name",  NULL};
    const struct tally *tally = picture->question->tally;
    struct sheet sheet = sheet_of(keys);

    for (size_t i = 0; i < tally_failure_count(tally); i++) {
        const struct failure *failure = tally_failure_at(tally, i);
        const char *site = symbols_label(picture->question->symbols, failure->site);

        sheet_add(&sheet,
                  (const uint64_t[]){failure->time_ns, failure->size_bytes, failure->live_bytes,
                                     failure->ledger, names_put(names, site)});
    }
    sheet_to_report(&sheet, report, named(picture, report, "failures"));
}

struct heavy_origin {
    size_t origin;
    uint64_t most_bytes;
};

static int heaviest_first(const void *left, const void *right)
{
    const struct heavy_origin *a = left, *b = right;

    if (a->most_bytes != b->most_bytes)
        return a->most_bytes > b->most_bytes ? -1 : 1;
    return (a->origin > b->origin) - (a->origin < b->origin);
}

static uint64_t most_at_step_ends(const struct tally *tally, const struct origin *origin)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < origin->group_count; i++) {
        const struct step_series *series = &tally_past_at(tally, origin->groups[i])->series;
        uint64_t most = 0;

        for (size_t s = 0; s < series->count; s++)
            if (series->samples[s].bytes > most)
                most = series->samples[s].bytes;
        sum += most;
    }
    return sum;
}

static void add_series_of(const struct picture *picture, const struct origin *origin,
                          struct name_list *names, struct report *report, struct sheet *sheet)
{
    const struct question *question = picture->question;
    const struct tally *tally = question->tally;
    uint16_t process = tally_ledger_at(tally, origin->ledger)->process;
    uint32_t step_count = tally_process_at(tally, process).ended_step_count;
    uint32_t stride = (step_count + STEP_SERIES_MAX - 1) / STEP_SERIES_MAX;
    size_t count = stride ? (step_count + stride - 1) / stride : 0;
    struct step_sample alive[STEP_SERIES_MAX];
    uint32_t name;

    if (!count)
        return; /* no step of it has ended */
    name = names_put(names, label_who(question, report_arena(report), origin->who));
    origin_at_steps(tally, origin, stride, alive, count);
    for (size_t i = 0; i < count; i++)
        sheet_add(sheet, (const uint64_t[]){origin->ledger, name, alive[i].step, alive[i].bytes,
                                            alive[i].count});
}

/* Alive at step ends, of the heaviest origins. */
static void add_step_series(const struct picture *picture, struct name_list *names,
                            struct report *report)
{
    static const char *const keys[] = {"ledger",      "name",        "step_index",
                                       "alive_bytes", "alive_count", NULL};
    const struct tally *tally = picture->question->tally;
    struct sheet sheet = sheet_of(keys);
    struct heavy_origin *heavy = NULL;
    struct origins origins;
    size_t count = 0;

    if (origins_init_of(&origins, picture->question, ORIGINS_BY_SITE, group_is_in_steps)) {
        heavy = malloc((origins.count + 1) * sizeof(*heavy));
        for (size_t i = 0; heavy && i < origins.count; i++) {
            heavy[count] = (struct heavy_origin){i, most_at_step_ends(tally, &origins.rows[i])};
            count += heavy[count].most_bytes > 0;
        }
        if (count)
            qsort(heavy, count, sizeof(*heavy), heaviest_first);
        for (size_t i = 0; i < count && i < series_most; i++)
            add_series_of(picture, &origins.rows[heavy[i].origin], names, report, &sheet);
        origins_release(&origins);
    }
    free(heavy);
    sheet_to_report(&sheet, report, named(picture, report, "step_series"));
}

void picture_to_report(const struct picture *picture, struct report *report)
{
    struct name_list names;
    struct page_stacks stacks;

    names_init(&names);
    page_stacks_init(&stacks, picture->question, &names);
    add_range(picture, report);
    add_processes(picture, &names, report);
    add_ledgers(picture, &names, report);
    add_samples(picture, &names, report);
    add_curves(picture, &names, report);
    add_groups(picture, &names, &stacks, report);
    add_stacks(picture, &stacks, report);
    add_blocks(picture, &names, report);
    add_threads(picture, &names, report);
    add_rest(picture, report);
    add_steps(picture, report);
    add_phases(picture, &picture->phases, "phases", &names, report);
    add_phases(picture, &picture->operators, "operators", &names, report);
    add_failures(picture, &names, report);
    add_step_series(picture, &names, report);
    report_dataset_texts(report, report_dataset(report, named(picture, report, "names"), 1), "text",
                         names.texts, names.count);
    if (names.has_failed)
        report_note(report, 0, "pictures: not enough memory for all names");
    page_stacks_release(&stacks);
    names_release(&names);
}
