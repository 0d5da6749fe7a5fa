/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ledgers, origins and steps as people name them.
 */
#include "labels.h"

#include <inttypes.h>
#include <string.h>

#include "text_builder.h"

const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);

    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Some pools say it in their name already: "hal_virtual". */
static const char *kind_word(const char *pool, enum ledger_kind kind)
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

const char *label_process(const struct question *question, struct report *report, uint16_t process)
{
    const struct model_process *row = model_process_at(tally_model(question->tally), process);

    if (row->rank >= 0 && !row->executable && !row->process_id)
        return report_text(report, "rank %" PRId32, row->rank);
    if (!row->executable && !row->process_id)
        return base_name(model_text_at(question->model, row->source));
    if (row->executable)
        return report_text(report, "%s %" PRIu64,
                           base_name(model_text_at(question->model, row->executable)),
                           row->process_id);
    return report_text(report, "process %" PRIu64 "%s%s", row->process_id,
                       is_one_of_several(question, process) ? " of " : "",
                       is_one_of_several(question, process)
                           ? base_name(model_text_at(question->model, row->source))
                           : "");
}

const char *label_pool(const struct question *question, const struct ledger *ledger)
{
    return model_text_at(question->model, model_pool_name_at(question->model, ledger->pool));
}

const char *label_ledger(const struct question *question, struct report *report, uint16_t index)
{
    const struct ledger *ledger = tally_ledger_at(question->tally, index);
    const char *pool = label_pool(question, ledger);
    const char *kind = kind_word(pool, ledger->kind);
    const char *device = "", *process = "";

    if (ledger->device >= 0)
        device = report_text(report, " device %" PRId32, ledger->device);
    if (*kind)
        kind = report_text(report, " (%s)", kind);
    if (model_process_count(question->model) > 1) {
        process = report_text(report, ", %s", label_process(question, report, ledger->process));
    }
    return report_text(report, "%s%s%s%s", *pool ? pool : "(unnamed)", device, kind, process);
}

const char *label_who(const struct question *question, struct report *report, struct who who)
{
    if (who.site)
        return symbols_label(question->symbols, who.site);
    if (who.operator_text)
        return report_text(report, "operator %s",
                           model_text_at(question->model, who.operator_text));
    if (who.owner_text)
        return report_text(report, "owner %s", model_text_at(question->model, who.owner_text));
    if (who.size_class)
        return report_text(report, "(unknown), about %s each",
                           label_size(report, UINT64_C(1) << (who.size_class - 1)));
    return "(unknown)";
}

struct value value_site(const char *label)
{
    return strcmp(label, "(unknown)") == 0 ? value_unknown(label) : value_text(label);
}

struct value value_who(const struct question *question, struct report *report, struct who who)
{
    return value_site(label_who(question, report, who));
}

const char *label_unseen_callers(const struct question *question, struct report *report,
                                 uint16_t ledger, struct who who)
{
    size_t count;
    const struct symbol_frame *frames = symbols_frames(question->symbols, who.site, &count);

    if (strcmp(question->source_kind, "leaktide run") != 0 ||
        tally_ledger_at(question->tally, ledger)->device >= 0 || count != 1 ||
        (frames[0].line && !frames[0].is_plumbing))
        return NULL;
    return report_text(report,
                       "%s asked for this memory, and who called it was not recorded: record with "
                       "--call-stack=c, or with --call-stack=python,c for Python.",
                       label_who(question, report, who));
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

const char *label_in_step(const struct question *question, struct report *report, uint16_t process,
                          uint32_t step_index)
{
    const struct step *step = tally_step_of(question->tally, process, step_index);

    if (step)
        return report_text(report, " in step %" PRIu64, step->number);
    if (!tally_process_at(question->tally, process).step_count)
        return "";
    return step_index ? " after the last step" : " before the first step";
}

const char *label_size(struct report *report, uint64_t bytes)
{
    struct text_builder text;
    const char *label;

    text_init(&text);
    text_add_size(&text, bytes);
    label = report_text(report, "%s", text_get(&text));
    text_release(&text);
    return label;
}

const char *label_count(struct report *report, uint64_t count)
{
    struct text_builder text;
    const char *label;

    text_init(&text);
    text_add_count(&text, count);
    label = report_text(report, "%s", text_get(&text));
    text_release(&text);
    return label;
}

const char *label_counted(struct report *report, uint64_t count, const char *one)
{
    return report_text(report, "%s %s%s", label_count(report, count), one, count == 1 ? "" : "s");
}
