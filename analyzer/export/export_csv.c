/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every block as a line of csv, when its life is over: for spreadsheets and scripts.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "export.h"
#include "labels.h"
#include "lives.h"

static void put_number_if(struct outlet *out, bool is_known, uint64_t number)
{
    outlet_add(out, ",");
    if (is_known)
        outlet_number(out, number);
}

static void put_names(struct outlet *out, const struct question *question,
                      const struct group_detail *detail)
{
    outlet_format(
        out, ",%s,%s,%s", detail->site ? symbols_label(question->symbols, detail->site) : "",
        detail->operator_text ? model_text_at(question->model, detail->operator_text) : "",
        detail->owner_text ? model_text_at(question->model, detail->owner_text) : "");
}

struct csv_export {
    const struct export_request *request;
    const char **ledgers; /* names, by ledger */
};

static bool on_over(void *context, const struct life *life)
{
    const struct csv_export *export = context;
    const struct export_request *request = export->request;
    const struct question *question = request->question;
    const struct ledger *ledger = tally_ledger_at(question->tally, life->ledger);
    const struct model_process *process = model_process_at(request->model, ledger->process);
    bool is_freed = life->freed_event != 0;
    struct outlet *out = request->text;

    outlet_format(out, "%" PRIu64 ",%" PRIu64, life->index + 1, process->process_id);
    put_number_if(out, process->rank >= 0, (uint64_t)process->rank);
    outlet_format(
        out, ",%s,%s", export->ledgers[life->ledger],
        model_text_at(question->model, model_pool_name_at(question->model, ledger->pool)));
    put_number_if(out, ledger->device >= 0, (uint64_t)ledger->device);
    outlet_format(out, ",0x%" PRIx64 ",%" PRIu64 ",%" PRIu64, life->address, life->size_bytes,
                  life->born_ns);
    put_number_if(out, is_freed, life->freed_ns);
    outlet_format(out, ",%" PRIu32, life->born_step);
    put_number_if(out, is_freed, life->freed_step);
    put_names(out, question, tally_detail_at(question->tally, life->group));
    outlet_add(out, "\n");
    return !outlet_has_failed(out);
}

enum mt_result export_csv(const struct export_request *request, struct mt_error *error)
{
    size_t count = tally_ledger_count(request->question->tally);
    struct csv_export export = {.request = request,
                                .ledgers = calloc(count + 1, sizeof(*export.ledgers))};
    const struct life_visitor visitor = {.context = &export, .over = on_over};
    enum mt_result result;

    if (!export.ledgers)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for names of ledgers");
    for (size_t i = 0; i < count; i++)
        export.ledgers[i] = label_ledger(request->question, request->labels, (uint16_t)i);
    outlet_add(request->text, "block,process_id,rank,ledger,pool,device,address,size_bytes,born_ns,"
                              "freed_ns,born_step,freed_step,site,operator,owner\n");
    result = lives_read(request->question->events, request->model, &visitor, error);
    free(export.ledgers);
    return result;
}
