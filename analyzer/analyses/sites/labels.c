/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ledgers, origins and steps as people name them.
 */
#include "labels.h"

#include <inttypes.h>
#include <string.h>

#include "path_text.h"
#include "sentence.h"
#include "text_builder.h"

bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);

    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Some pools say it in their name already: "hal_virtual". */
const char *label_kind(const char *pool, enum ledger_kind kind)
{
    static const char *const words[LEDGER_KIND_COUNT] = {
        [LEDGER_MEMORY] = "",         [LEDGER_HOST] = "host",
        [LEDGER_VIRTUAL] = "virtual", [LEDGER_MAPPING] = "mapping",
        [LEDGER_IMPORTED] = "import", [LEDGER_REGISTERED] = "registered",
        [LEDGER_VIEW] = "view",
    };

    return ends_with(pool, words[kind]) ? "" : words[kind];
}

/* Recordings of one process, read together, are distinguished by their files. */
static bool is_one_of_several(const struct question *question, uint16_t process)
{
    uint64_t id = model_process_at(tally_model(question->tally), process)->process_id;

    for (size_t i = 0; i < model_process_count(question->model); i++)
        if (i != process &&
            model_process_at(tally_model(question->tally), (uint16_t)i)->process_id == id)
            return true;
    return false;
}

const char *label_process(const struct question *question, struct arena *arena, uint16_t process)
{
    const struct model_process *row = model_process_at(tally_model(question->tally), process);

    if (row->rank >= 0 && !row->executable && !row->process_id)
        return arena_format(arena, "rank %" PRId32, row->rank);
    if (!row->executable && !row->process_id)
        return path_base(model_text_at(question->model, row->source));
    if (row->executable)
        return arena_format(arena, "%s %" PRIu64,
                            path_base(model_text_at(question->model, row->executable)),
                            row->process_id);
    return arena_format(arena, "process %" PRIu64 "%s%s", row->process_id,
                        is_one_of_several(question, process) ? " of " : "",
                        is_one_of_several(question, process)
                            ? path_base(model_text_at(question->model, row->source))
                            : "");
}

const char *label_pool(const struct question *question, const struct ledger *ledger)
{
    return model_text_at(question->model, model_pool_name_at(question->model, ledger->pool));
}

const char *label_ledger(const struct question *question, struct arena *arena, uint16_t index)
{
    const struct ledger *ledger = tally_ledger_at(question->tally, index);
    const char *pool = label_pool(question, ledger);
    const char *kind = label_kind(pool, ledger->kind);
    const char *device = "", *process = "";

    if (ledger->device >= 0)
        device = arena_format(arena, " device %" PRId32, ledger->device);
    if (*kind)
        kind = arena_format(arena, " (%s)", kind);
    if (process_count_meant(question) > 1 ||
        model_process_at(tally_model(question->tally), ledger->process)->is_helper) {
        process = arena_format(arena, ", %s", label_process(question, arena, ledger->process));
    }
    return arena_format(arena, "%s%s%s%s", *pool ? pool : "(unnamed)", device, kind, process);
}

size_t ledgers_shown(const struct question *question, const uint16_t *order, size_t count)
{
    size_t shown = rows_shown(question, count);

    while (question->top && shown > 1 &&
           model_process_at(tally_model(question->tally),
                            tally_ledger_at(question->tally, order[shown - 1])->process)
               ->is_helper)
        shown--;
    return shown;
}

const char *label_who(const struct question *question, struct arena *arena, struct who who)
{
    if (who.site)
        return symbols_label(question->symbols, who.site);
    if (who.operator_text)
        return arena_format(arena, "operator %s",
                            model_text_at(question->model, who.operator_text));
    if (who.owner_text)
        return arena_format(arena, "owner %s", model_text_at(question->model, who.owner_text));
    if (who.size_class)
        return arena_format(arena, "(unknown), about %s each",
                            label_size(arena, UINT64_C(1) << (who.size_class - 1)));
    return "(unknown)";
}

struct value value_site(const char *label)
{
    return strcmp(label, "(unknown)") == 0 ? value_unknown(label) : value_text(label);
}

struct value value_who(const struct question *question, struct arena *arena, struct who who)
{
    return value_site(label_who(question, arena, who));
}

const char *label_unseen_callers(const struct question *question, struct arena *arena,
                                 uint16_t ledger, struct who who)
{
    size_t count;
    const struct symbol_frame *frames = symbols_frames(question->symbols, who.site, &count);

    if (strcmp(question->source_kind, SOURCE_KIND_OWN) != 0 ||
        tally_ledger_at(question->tally, ledger)->device >= 0 || count != 1 ||
        (frames[0].line && !frames[0].is_plumbing))
        return NULL;
    return sentence(arena,
                    "%s asked for this memory, and who called it was not recorded: record with "
                    "--call-stack=c, or with --call-stack=python,c for Python.",
                    label_who(question, arena, who));
}

struct value value_stack_of(const struct question *question, struct report *report, struct who who)
{
    size_t count;
    const struct symbol_frame *frames = symbols_frames(question->symbols, who.site, &count);
    struct report_frame shown[SYMBOLS_DEPTH_MOST];

    if (count < 2)
        return value_none();
    for (size_t i = 0; i < count; i++)
        shown[i] = (struct report_frame){
            .function = frames[i].function,
            .file = frames[i].file,
            .module = frames[i].module,
            .line = frames[i].line,
            .folded_as = frames[i].is_plumbing && !frames[i].is_telling ? frames[i].whose : NULL,
            .is_inlined = frames[i].is_inlined,
            .is_python = frames[i].is_python,
        };
    return report_stack(report, shown, count);
}

struct value value_name(const struct question *question, uint32_t text)
{
    return text ? value_text(model_text_at(question->model, text)) : value_none();
}

uint64_t step_number(const struct tally *tally, uint16_t process, uint32_t index)
{
    const struct step *step = tally_step_of(tally, process, index);

    return step ? step->number : index;
}

const char *label_in_step(const struct question *question, struct arena *arena, uint16_t process,
                          uint32_t step_index)
{
    const struct step *step = tally_step_of(question->tally, process, step_index);

    if (step)
        return sentence(arena, " in step %" PRIu64, step->number);
    if (!tally_process_at(question->tally, process).step_count)
        return "";
    return step_index ? translated(" after the last step") : translated(" before the first step");
}

const char *label_size(struct arena *arena, uint64_t bytes)
{
    struct text_builder text;

    text_init(&text);
    text_add_size(&text, bytes);
    return text_keep(&text, arena);
}

const char *label_moment(const struct question *question, struct arena *arena, uint64_t ns)
{
    if (model_times_are_events(tally_model(question->tally)))
        return sentence(arena, "at event %" PRIu64, ns);
    return sentence(arena, "%" PRIu64 ".%03" PRIu64 " s after the start", ns / 1000000000,
                    ns / 1000000 % 1000);
}

const char *label_duration(struct arena *arena, uint64_t ns)
{
    struct text_builder text;

    text_init(&text);
    text_add_duration(&text, ns);
    return text_keep(&text, arena);
}

/* Of the smallest number too. */
static uint64_t size_of(int64_t change)
{
    return change < 0 ? 0 - (uint64_t)change : (uint64_t)change;
}

static const char *sign_of(int64_t change)
{
    return change < 0 ? "-" : "+";
}

const char *label_size_change(struct arena *arena, int64_t change)
{
    return arena_format(arena, "%s%s", sign_of(change), label_size(arena, size_of(change)));
}

const char *label_share(struct arena *arena, uint64_t hundredths)
{
    return arena_format(arena, "%" PRIu64 ".%02" PRIu64 " %%", hundredths / 100, hundredths % 100);
}

const char *label_share_change(struct arena *arena, int64_t hundredths)
{
    return arena_format(arena, "%s%s", sign_of(hundredths),
                        label_share(arena, size_of(hundredths)));
}

const char *label_count(struct arena *arena, uint64_t count)
{
    struct text_builder text;

    text_init(&text);
    text_add_count(&text, count);
    return text_keep(&text, arena);
}

/* In other languages a number goes with a word for the kind of thing, and there may be no plural.
 */
static const struct {
    const char *one, *many;
} counted_things[] = {
    {"block", "%s blocks"},
    {"call", "%s calls"},
    {"event", "%s events"},
    {"hole", "%s holes"},
    {"kernel", "%s kernels"},
    {"leak", "%s leaks"},
    {"ledger", "%s ledgers"},
    {"more block", "%s more blocks"},
    {"more step", "%s more steps"},
    {"name", "%s names"},
    {"older block", "%s older blocks"},
    {"other rank", "%s other ranks"},
    {"process", "%s processes"},
    {"segment", "%s segments"},
    {"site", "%s sites"},
    {"stack", "%s stacks"},
    {"step", "%s steps"},
    {"turn", "%s turns"},
};

const char *label_counted(struct arena *arena, uint64_t count, const char *one)
{
    for (size_t i = 0; i < sizeof(counted_things) / sizeof(counted_things[0]); i++)
        if (strcmp(counted_things[i].one, one) == 0 &&
            translated(counted_things[i].many) != counted_things[i].many)
            return sentence(arena, counted_things[i].many, label_count(arena, count));
    return arena_format(arena, "%s %s%s", label_count(arena, count), one, count == 1 ? "" : "s");
}
