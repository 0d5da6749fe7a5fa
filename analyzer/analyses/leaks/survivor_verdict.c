/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What overdue survivors mean, in words.
 */
#include "survivor_verdict.h"

#include <inttypes.h>
#include <string.h>

#include "cxx_name.h"
#include "leak_words.h"
#include "leaktide/preload.h"
#include "place.h"
#include "sentence.h"
#include "survivor_answers.h"
#include "text_builder.h"
#include "thresholds.h"

enum {
    stacks_shown = 3,
    functions_shown = 3,
    findings_most = 20,
    function_most_bytes = 60,
    leaking_stacks_most = 200 /* of one finding */
};

/* --- stacks ---------------------------------------------------------------------------------- */

static bool is_of_tracer(const struct symbol_frame *frame)
{
    return strcmp(frame->module, MT_TRACER_FILE_NAME) == 0;
}

/* Where to begin. Below a line of Python, a library that asked for the memory comes first; where
 * there is none, what of the interpreter asked says what it is ("list_resize < app1"). Without
 * Python, allocators say nothing, and the site's own function comes first. */
static size_t first_told(const struct symbol_frame *frames, size_t count)
{
    size_t telling = 0, library = count;

    for (size_t i = 0; i < count; i++) {
        if (frames[i].is_python)
            return library < i ? library : 0;
        if (frames[i].is_telling)
            telling = i;
        if (library == count && !frames[i].is_plumbing && !is_of_tracer(&frames[i]))
            library = i;
    }
    return telling;
}

/* "PyDict_Copy < dict_merge < update_keys": from where the memory was asked for, outward to the
 * program's line. */
static void add_functions(struct text_builder *text, const struct symbol_frame *frames,
                          size_t count)
{
    size_t shown = 0;

    for (size_t i = first_told(frames, count); i < count && shown < functions_shown; i++) {
        if ((shown && strcmp(frames[i].function, frames[i - 1].function) == 0) ||
            is_of_tracer(&frames[i]))
            continue;
        text_add_format(text, "%s", shown ? " < " : "");
        add_short_name(text, frames[i].function, function_most_bytes);
        shown++;
        if (frames[i].is_python)
            break;
    }
}

/* What a stack left, and its functions; NULL: it has none. */
struct share {
    uint64_t bytes;
    const char *functions;
};

static struct share share_of(const struct question *question, struct report *report,
                             const struct survivor_stack *stack)
{
    struct share share = {stack->overdue.bytes, NULL};
    size_t count;
    const struct symbol_frame *frames = symbols_frames(question->symbols, stack->who.site, &count);
    struct text_builder text;

    if (!count)
        return share;
    text_init(&text);
    add_functions(&text, frames, count);
    share.functions = report_text(report, "%s", text_get(&text));
    text_release(&text);
    return share;
}

/* Stacks that differ where it is not shown are one. Returns how many there are then. */
static size_t share_add(struct share *shares, size_t count, struct share share)
{
    if (!share.functions)
        return count;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(shares[i].functions, share.functions) == 0) {
            shares[i].bytes += share.bytes;
            return count;
        }
    }
    shares[count] = share;
    return count + 1;
}

/* "sum_row (ctypes): 61 %; PyDict_Copy < dict_merge: 39 %" Of at most three stacks. */
static const char *survivor_shares(const struct question *question, struct report *report,
                                   const struct survivor_origin *origin)
{
    size_t most = origin->stack_count < stacks_shown ? origin->stack_count : stacks_shown;
    struct share shares[stacks_shown];
    struct text_builder text;
    const char *words;
    size_t count = 0;

    for (size_t i = 0; i < most; i++)
        count = share_add(shares, count, share_of(question, report, &origin->stacks[i]));
    text_init(&text);
    for (size_t i = 0; i < count; i++)
        text_add_format(&text, "%s%u %% %s", i ? "; " : "",
                        percent_of(shares[i].bytes, origin->bytes), shares[i].functions);
    words = report_text(report, "%s", count ? text_get(&text) : "");
    text_release(&text);
    return words;
}

/* --- findings -------------------------------------------------------------------------------- */

static struct value stack_at(const struct question *question, struct report *report,
                             const struct survivor_origin *origin, size_t index)
{
    return index < origin->stack_count ? value_stack_of(question, report, origin->stacks[index].who)
                                       : value_none();
}

static struct value share_at(const struct survivor_origin *origin, size_t index)
{
    if (index >= origin->stack_count)
        return value_none();
    return value_number(VALUE_PERCENT,
                        percent_of(origin->stacks[index].overdue.bytes, origin->bytes));
}

static void add_finding(const struct question *question, struct report *report,
                        const struct leak *leak)
{
    struct arena *texts = report_arena(report);
    const struct survivor_process *process = leak->loop;
    const struct survivor_origin *origin = leak->survivors;
    const struct survivor_stack *first = &origin->stacks[0];
    struct place_in_code place = place_of(question, texts, first->who);
    const char *shares = survivor_shares(question, report, origin);
    const struct field facts[] = {
        {"ledger", NULL, value_text(label_ledger(question, texts, first->ledger))},
        {"site", NULL, value_site(leak->name)},
        {"site_key", NULL, value_text(report_text(report, "%016" PRIx64, leak->key))},
        {"function", NULL, value_place_text(place.function)},
        {"file", NULL, value_place_text(place.file)},
        {"line", NULL, value_place_line(&place)},
        {"growth_bytes_per_step", NULL,
         leak->rate_bytes ? value_bytes(leak->rate_bytes) : value_none()},
        {"growth_blocks_per_1000_steps", NULL,
         process->turns ? value_count(survivors_blocks_per_1000_turns(process, origin))
                        : value_none()},
        {"turn_count", NULL, process->turns ? value_count(process->turns) : value_none()},
        {"is_one_growing_block", NULL, value_number(VALUE_FLAG, first->overdue.is_growing)},
        {"overdue_bytes", NULL, value_bytes(origin->bytes)},
        {"overdue_count", NULL, value_count(origin->count)},
        {"process_count", NULL, value_count(leak->process_count)},
        {"stack_count", NULL, value_count(origin->stack_count)},
        {"stack_percent", NULL, share_at(origin, 0)},
        {"stack", NULL, stack_at(question, report, origin, 0)},
        {"second_stack_percent", NULL, share_at(origin, 1)},
        {"second_stack", NULL, stack_at(question, report, origin, 1)},
        {"third_stack_percent", NULL, share_at(origin, 2)},
        {"third_stack", NULL, stack_at(question, report, origin, 2)},
    };

    report_finding(report, "leak",
                   report_text(report, *shares ? "leak: %s. SURVIVORS: %s" : "leak: %s%s",
                               leak_sentence(question, texts, leak), shares),
                   facts, sizeof(facts) / sizeof(facts[0]));
}

static void add_leaking_stack(const struct question *question, struct report *report,
                              struct report_table *table, const struct survivor_origin *origin,
                              const struct survivor_stack *stack)
{
    struct arena *texts = report_arena(report);
    const struct field fields[] = {
        {"overdue_bytes", "stays", value_bytes(stack->overdue.bytes)},
        {"overdue_count", "blocks", value_count(stack->overdue.count)},
        {"first_ns", "from", value_time(stack->first_ns)},
        {"last_ns", "to", value_time(stack->last_ns)},
        {"site", "site", value_who(question, texts, origin->stacks[0].who)},
        {"stack", "stack", value_stack_of(question, report, stack->who)},
        {"ledger", "ledger", value_text(label_ledger(question, texts, stack->ledger))},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

/* For a page, which draws them: elsewhere a finding has its three heaviest stacks. */
static void add_leaking_stacks(const struct question *question, struct report *report,
                               const struct leak *leaks, size_t count)
{
    struct report_table *table;

    if (!question->is_for_pictures)
        return;
    table = report_table(report, "leaking_stacks", "What leaks, stack by stack", "");
    for (size_t i = 0; i < count; i++) {
        const struct survivor_origin *origin = leaks[i].survivors;

        for (size_t k = 0; k < origin->stack_count && k < leaking_stacks_most; k++)
            add_leaking_stack(question, report, table, origin, &origin->stacks[k]);
    }
}

/* Overdue over nine tenths of the same time. */
static bool is_of_same_time(const struct overdue *a, const struct overdue *b)
{
    uint32_t first = a->first > b->first ? a->first : b->first;
    uint32_t last = a->last < b->last ? a->last : b->last;
    uint32_t span_a = a->last - a->first, span_b = b->last - b->first;
    uint32_t span = span_a > span_b ? span_a : span_b;

    return last > first && last - first >= span - span / FEW_SHARE;
}

/* In two pools. */
static bool is_same_line(const struct question *question, struct who a, struct who b)
{
    return a.site && b.site &&
           strcmp(symbols_label(question->symbols, a.site),
                  symbols_label(question->symbols, b.site)) == 0;
}

/* As holder_of() in leaks.c, where there are no steps. */
static const struct leak *holder_of(const struct question *question, const struct leak *leaks,
                                    size_t count)
{
    const struct survivor_origin *first = leaks[0].survivors;

    if (first->keeps_all || first->stacks[0].overdue.is_growing)
        return NULL;
    for (size_t i = 1; i < count; i++) {
        const struct survivor_origin *origin = leaks[i].survivors;

        if (origin->keeps_all && !is_same_line(question, leaks[0].who, leaks[i].who) &&
            is_of_same_time(&first->stacks[0].overdue, &origin->stacks[0].overdue))
            return &leaks[i];
    }
    return NULL;
}

/* Where the first line is on a thread of a runtime: the line of Python that leaves most over the
 * same time. NULL: there is none, or the first line has Python. */
static const struct leak *line_of_python(const struct leak *leaks, size_t count)
{
    const struct survivor_stack *first = &leaks[0].survivors->stacks[0];

    if (first->traits & STACK_IS_PYTHON)
        return NULL;
    for (size_t i = 1; i < count; i++) {
        const struct survivor_stack *stack = &leaks[i].survivors->stacks[0];

        if (stack->traits & STACK_IS_PYTHON && is_of_same_time(&first->overdue, &stack->overdue))
            return &leaks[i];
    }
    return NULL;
}

/* An interpreter that is linked statically ends unseen, though its process was seen to end. */
static bool has_exited(const struct question *question, const struct survivor_process *process)
{
    return model_process_at(tally_model(question->tally), process->process)->has_exited;
}

static void say_given_again(const struct question *question, struct report *report,
                            const struct survivor_origin *origin)
{
    struct arena *texts = report_arena(report);

    report_verdict(report, RANK_LEAKS,
                   "MAY BE ANOTHER LINE: the %s of %s are floats, lists, tuples or dicts. CPython "
                   "gives freed ones to whoever asks next, so the line that keeps them may be "
                   "another.",
                   label_size(texts, origin->bytes),
                   leak_who(question, texts, origin->stacks[0].who));
}

/* What else there is to know about where to look, and what the sentence rests on. */
static void say_ground(const struct question *question, struct report *report,
                       const struct leak *leaks, size_t count)
{
    const struct survivor_process *process = leaks[0].loop;
    const struct leak *holder = holder_of(question, leaks, count);
    const struct leak *python = line_of_python(leaks, count);

    if (python)
        report_verdict(
            report, RANK_LEAKS,
            "LINE OF PYTHON: %s leaves blocks over the same time; the stack of the first "
            "line has no Python.",
            python->name);
    if (holder && holder != python)
        report_verdict(report, RANK_LEAKS, LEAK_HOLDER_SENTENCE, holder->name);
    if (process->given_again)
        say_given_again(question, report, process->given_again);
    if (process->is_cut && !has_exited(question, process))
        report_verdict(report, RANK_LEAKS,
                       "The end of the interpreter is not in the recording (killed, or still "
                       "running): garbage that waited for its collector counts as left.");
    if (survivors_may_be_data(process))
        report_verdict(
            report, RANK_LEAKS,
            "MAY BE DATA: %u %% of what was asked for meanwhile stays, and no turns of a "
            "loop are seen; what a program builds on purpose looks the same. Mark steps, "
            "or name what begins one, to tell.",
            percent_of(process->bytes, process->asked_bytes));
}

static void say_twins(struct report *report, const struct leak *leak)
{
    if (leak->process_count > 1)
        report_verdict(
            report, RANK_LEAKS,
            "WORKERS: the first line leaks in %zu of %zu processes of the program, %s in "
            "all of them.",
            (size_t)leak->process_count, (size_t)leak->program_count,
            label_size(report_arena(report), leak->bytes_in_all));
}

/* Of one process, all of them. */
static void say_leaks(const struct question *question, struct report *report,
                      const struct leak *leaks, size_t count)
{
    struct arena *texts = report_arena(report);
    const char *shares = survivor_shares(question, report, leaks[0].survivors);
    const char *more = count > 1 ? report_text(report, "; %s at %s in all",
                                               label_size(texts, leaks[0].loop->bytes),
                                               label_counted(texts, count, "site"))
                                 : "";

    report_verdict(report, RANK_LEAKS, "LEAK: %s%s.", leak_sentence(question, texts, &leaks[0]),
                   more);
    say_twins(report, &leaks[0]);
    if (*shares)
        report_verdict(report, RANK_LEAKS, "SURVIVORS: %s.", shares);
    say_ground(question, report, leaks, count);
    report_outcome(report, REPORT_FOUND);
    count = count < findings_most ? count : findings_most;
    for (size_t i = 0; i < count; i++)
        if (!leaks[i].is_told_by_heavier)
            add_finding(question, report, &leaks[i]);
    add_leaking_stacks(question, report, leaks, count);
}

static const char *as_many_turns(struct report *report, const struct survivor_process *process)
{
    return process->turns ? report_text(report, "%s more",
                                        label_counted(report_arena(report), process->turns, "turn"))
                          : translated("as many turns again");
}

/* What a helper kept is over, and was little; nobody records it longer. */
static void say_remarks(const struct question *question, struct report *report,
                        const struct survivor_process *process)
{
    struct arena *texts = report_arena(report);
    const struct survivor_origin *origin = process->origins;

    if (model_process_at(tally_model(question->tally), process->process)->is_helper)
        return;
    if (process->bounded_bytes)
        report_verdict(report, RANK_LEAKS,
                       "MAY BE A CACHE: %s below a cache that says how much it holds at most; %s "
                       "decide.",
                       label_size(texts, process->bounded_bytes), as_many_turns(report, process));
    if (process->bytes && !process->has_rested && !survivors_are_of_few_turns(process))
        report_verdict(
            report, RANK_LEAKS,
            "REMARK: %s stay, most of it at %s. That is light for a leak: record longer to "
            "be sure.",
            label_size(texts, process->bytes), leak_who(question, texts, origin->stacks[0].who));
}

/* Of all processes but helpers. What may be a history was said as a doubt. */
static void say_larger_work(const struct question *question, struct report *report,
                            const struct survivors *survivors)
{
    struct arena *texts = report_arena(report);

    for (size_t i = 0; i < survivors->process_count; i++) {
        const struct survivor_process *process = &survivors->processes[i];
        const struct larger_loop *larger = &process->larger;

        if (!larger->most_bytes || larger->doubtful_bytes ||
            model_process_at(tally_model(question->tally), process->process)->is_helper)
            continue;
        report_verdict(report, RANK_LEAKS,
                       "REMARK: each turn asks for more: a block of %s is larger by %s each time, "
                       "and so is what each turn gives back. That is larger work, and no leak.",
                       leak_who(question, texts, larger->who),
                       label_size(texts, larger->step_bytes));
    }
}

static void say_waiting(const struct question *question, struct report *report,
                        const struct survivor_process *process)
{
    struct arena *texts = report_arena(report);

    report_verdict(report, RANK_LEAKS,
                   "REMARK: %s, most of it at %s, stay until the interpreter ends and are "
                   "let go then: garbage that no collection met, or what an exit handler "
                   "frees. gc.collect() in the loop tells which.",
                   label_size(texts, process->waiting_bytes),
                   leak_who(question, texts, process->waiting_who));
}

void survivors_say_errands(const struct question *question, struct report *report,
                           const struct survivors *survivors)
{
    const struct survivor_process *first = NULL;
    struct arena *texts = report_arena(report);
    size_t count = 0;

    for (size_t i = 0; i < survivors->process_count; i++) {
        if (!survivors_are_of_errand(&survivors->processes[i]))
            continue;
        first = first ? first : &survivors->processes[i];
        count++;
    }
    if (first)
        report_verdict(report, RANK_LEAKS,
                       "REMARK: %s that the job called and outlived grew until the end: of %s "
                       "stay %s, most of it at %s. That is given back when such a program ends; "
                       "record it alone to judge it.",
                       label_counted(texts, count, "program"),
                       label_process(question, texts, first->process),
                       label_size(texts, first->bytes),
                       leak_who(question, texts, first->origins->stacks[0].who));
}

void survivors_say_waiting(const struct question *question, struct report *report,
                           const struct survivors *survivors, const struct survivor_process *but)
{
    for (size_t i = 0; i < survivors->process_count; i++)
        if (survivors_wait(&survivors->processes[i]) && &survivors->processes[i] != but)
            say_waiting(question, report, &survivors->processes[i]);
}

/* A runtime that ends itself in an exit handler frees the tensors; only their handles leak then. */
static void say_leaks_and_waiting(const struct question *question, struct report *report,
                                  const struct leak *leaks, size_t count)
{
    const struct survivor_process *process = leaks[0].loop;

    say_leaks(question, report, leaks, count);
    if (survivors_wait(process) && process->waiting_bytes > process->bytes)
        say_waiting(question, report, process);
}

static void say_unjudged_pools(const struct question *question, struct report *report,
                               const struct survivor_process *process)
{
    struct arena *texts = report_arena(report);

    for (size_t i = 0; process->is_judged && i < process->unjudged_pool_count; i++)
        report_verdict(report, RANK_LEAKS,
                       "Not judged: %s that stay in %s, of stacks that had stopped before the end.",
                       label_size(texts, process->unjudged_pools[i].unjudged_bytes),
                       label_ledger(question, texts, process->unjudged_pools[i].ledger));
}

/* What the sentence before does not speak of. */
static void say_unjudged(const struct question *question, struct report *report,
                         const struct survivors *survivors)
{
    size_t count = survivors_unjudged_processes(survivors);

    for (size_t i = 0; i < survivors->process_count; i++)
        say_unjudged_pools(question, report, &survivors->processes[i]);
    if (count)
        report_verdict(report, RANK_LEAKS,
                       "Not judged: %s %s, where too little of what is allocated repeats to the "
                       "end.",
                       label_count(report_arena(report), count),
                       translated(count == 1 ? "process" : "processes"));
}

bool survivors_say_doubt(const struct question *question, struct report *report,
                         const struct verdict *verdict)
{
    if (!verdict->doubt_count)
        return false;
    report_verdict(report, RANK_LEAKS, "%s",
                   doubt_sentence(question, report_arena(report), &verdict->doubts[0]));
    report_outcome(report, REPORT_NO_DATA);
    return true;
}

static void say_no_leak(struct report *report, const struct verdict *verdict)
{
    const struct survivor_process *heaviest = &verdict->survivors->processes[0];

    report_verdict(report, RANK_LEAKS, "No leak: of %s allocating to the end, %s.",
                   label_counted(report_arena(report), verdict->judged_count, "stack"),
                   translated(heaviest->bytes || heaviest->bounded_bytes
                                  ? "what stays is light or bounded"
                                  : "none leaves blocks behind"));
}

/* The process whose waiting memory is the doubt; NULL: something else is, or nothing. */
static const struct survivor_process *doubted_waiting(const struct verdict *verdict)
{
    const struct doubt *doubt = verdict->doubts;
    bool is_of_waiting =
        verdict->doubt_count && (doubt->kind == DOUBT_WAITING || doubt->kind == DOUBT_LET_GO);

    return is_of_waiting ? survivors_of_process(verdict->survivors, doubt->process) : NULL;
}

void survivors_say(const struct question *question, struct report *report,
                   const struct verdict *verdict)
{
    const struct survivors *survivors = verdict->survivors;
    size_t count;

    for (size_t i = 0; i < verdict->leak_count; i += count) {
        const struct leak *leaks = &verdict->leaks[i];
        bool has_news = !leaks->is_told_by_heavier;

        for (count = 1; i + count < verdict->leak_count && leaks[count].loop == leaks->loop;)
            has_news |= !leaks[count++].is_told_by_heavier;
        if (has_news)
            say_leaks_and_waiting(question, report, leaks, count);
    }
    if (verdict->leak_count)
        return;
    if (!survivors_say_doubt(question, report, verdict))
        say_no_leak(report, verdict);
    say_unjudged(question, report, survivors);
    say_remarks(question, report, &survivors->processes[0]);
    say_larger_work(question, report, survivors);
    survivors_say_waiting(question, report, survivors, doubted_waiting(verdict));
}
