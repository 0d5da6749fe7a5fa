/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every block as a line of csv, when its life is over: for spreadsheets and scripts.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "csv_text.h"
#include "export.h"
#include "labels.h"
#include "lives.h"

static const char header[] = "block,process_id,rank,ledger,pool,device,address,size_bytes,born_ns,"
                             "freed_ns,born_step,freed_step,site,operator,owner\n";

static void put_text(FILE *out, const char *text)
{
    fputc(',', out);
    csv_put_text(out, text);
}

static void put_number_if(FILE *out, bool is_known, uint64_t number)
{
    fputc(',', out);
    if (is_known)
        fprintf(out, "%" PRIu64, number);
}

static void put_names(FILE *out, const struct question *question, const struct group_detail *detail)
{
    put_text(out, detail->site ? symbols_label(question->symbols, detail->site) : "");
    put_text(out,
             detail->operator_text ? model_text_at(question->model, detail->operator_text) : "");
    put_text(out, detail->owner_text ? model_text_at(question->model, detail->owner_text) : "");
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
    FILE *out = request->out;

    fprintf(out, "%" PRIu64 ",%" PRIu64, life->index + 1, process->process_id);
    put_number_if(out, process->rank >= 0, (uint64_t)process->rank);
    put_text(out, export->ledgers[life->ledger]);
    put_text(out,
             model_text_at(question->model, model_pool_name_at(question->model, ledger->pool)));
    put_number_if(out, ledger->device >= 0, (uint64_t)ledger->device);
    fprintf(out, ",0x%" PRIx64 ",%" PRIu64 ",%" PRIu64, life->address, life->size_bytes,
            life->born_ns);
    put_number_if(out, is_freed, life->freed_ns);
    fprintf(out, ",%" PRIu32, life->born_step);
    put_number_if(out, is_freed, life->freed_step);
    put_names(out, question, tally_detail_at(question->tally, life->group));
    fputc('\n', out);
    return !ferror(out);
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
    fputs(header, request->out);
    result = lives_read(request->question->events, request->model, &visitor, error);
    free(export.ledgers);
    return result;
}
