/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What overdue survivors mean, in words.
 */
#include "survivor_verdict.h"

#include <inttypes.h>
#include <string.h>

#include "cxx_name.h"
#include "growth.h"
#include "leak_doubt.h"
#include "leak_words.h"
#include "leaktide/preload.h"
#include "missing.h"
#include "place.h"
#include "sentence.h"
#include "survivor_answers.h"
#include "text_builder.h"

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

const char *survivor_shares(const struct question *question, struct report *report,
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
                        const struct survivor_process *process,
                        const struct survivor_origin *origin)
{
    struct arena *texts = report_arena(report);
    const struct survivor_stack *first = &origin->stacks[0];
    struct place_in_code place = place_of(question, texts, first->who);
    uint64_t per_turn = survivors_per_turn(process, origin);
    const char *shares = survivor_shares(question, report, origin);
    const struct field facts[] = {
        {"ledger", NULL, value_text(label_ledger(question, texts, first->ledger))},
        {"site", NULL, value_who(question, texts, first->who)},
        {"function", NULL, value_place_text(place.function)},
        {"file", NULL, value_place_text(place.file)},
        {"line", NULL, value_place_line(&place)},
        {"growth_bytes_per_step", NULL, per_turn ? value_bytes(per_turn) : value_none()},
        {"growth_blocks_per_1000_steps", NULL,
         process->turns ? value_count(survivors_blocks_per_1000_turns(process, origin))
                        : value_none()},
        {"turn_count", NULL, process->turns ? value_count(process->turns) : value_none()},
        {"is_one_growing_block", NULL, value_number(VALUE_FLAG, first->overdue.is_growing)},
        {"overdue_bytes", NULL, value_bytes(origin->bytes)},
        {"overdue_count", NULL, value_count(origin->count)},
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
                               survivor_sentence(question, texts, process, origin), shares),
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
                               const struct survivor_process *process, size_t origin_count)
{
    struct report_table *table;

    if (!question->is_for_pictures)
        return;
    table = report_table(report, "leaking_stacks", "What leaks, stack by stack", "");
    for (size_t i = 0; i < origin_count; i++) {
        const struct survivor_origin *origin = &process->origins[i];

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

    return last > first && last - first >= span - span / 10;
}

/* In two pools. */
static bool is_same_line(const struct question *question, struct who a, struct who b)
{
    return a.site && b.site &&
           strcmp(symbols_label(question->symbols, a.site),
                  symbols_label(question->symbols, b.site)) == 0;
}

/* As holder_of() in leaks.c, where there are no steps. */
static const struct survivor_origin *holder_of(const struct question *question,
                                               const struct survivor_process *process)
{
    const struct survivor_origin *first = &process->origins[0];
    size_t count = survivors_leak_count(process);

    if (first->keeps_all || first->stacks[0].overdue.is_growing)
        return NULL;
    for (size_t i = 1; i < count; i++) {
        const struct survivor_origin *origin = &process->origins[i];

        if (origin->keeps_all &&
            !is_same_line(question, first->stacks[0].who, origin->stacks[0].who) &&
            is_of_same_time(&first->stacks[0].overdue, &origin->stacks[0].overdue))
            return origin;
    }
    return NULL;
}

/* Where the first line is on a thread of a runtime: the line of Python that leaves most over the
 * same time. NULL: there is none, or the first line has Python. */
static const struct survivor_origin *line_of_python(const struct survivor_process *process)
{
    const struct survivor_stack *first = &process->origins[0].stacks[0];
    size_t count = survivors_leak_count(process);

    if (first->traits & STACK_IS_PYTHON)
        return NULL;
    for (size_t i = 1; i < count; i++) {
        const struct survivor_stack *stack = &process->origins[i].stacks[0];

        if (stack->traits & STACK_IS_PYTHON && is_of_same_time(&first->overdue, &stack->overdue))
            return &process->origins[i];
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
                       const struct survivor_process *process)
{
    const struct survivor_origin *holder = holder_of(question, process);
    const struct survivor_origin *python = line_of_python(process);

    if (python)
        report_verdict(
            report, RANK_LEAKS,
            "LINE OF PYTHON: %s leaves blocks over the same time; the stack of the first "
            "line has no Python.",
            leak_who(question, report_arena(report), python->stacks[0].who));
    if (holder && holder != python)
        report_verdict(report, RANK_LEAKS, LEAK_HOLDER_SENTENCE,
                       leak_who(question, report_arena(report), holder->stacks[0].who));
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

static void say_leak(const struct question *question, struct report *report,
                     const struct survivor_process *process)
{
    struct arena *texts = report_arena(report);
    const char *shares = survivor_shares(question, report, &process->origins[0]);
    size_t count = survivors_leak_count(process);
    const char *more =
        count > 1 ? report_text(report, "; %s at %s in all", label_size(texts, process->bytes),
                                label_counted(texts, count, "site"))
                  : "";

    report_verdict(report, RANK_LEAKS, "LEAK: %s%s.",
                   survivor_sentence(question, texts, process, &process->origins[0]), more);
    if (*shares)
        report_verdict(report, RANK_LEAKS, "SURVIVORS: %s.", shares);
    say_ground(question, report, process);
    report_outcome(report, REPORT_FOUND);
    count = count < findings_most ? count : findings_most;
    for (size_t i = 0; i < count; i++)
        add_finding(question, report, process, &process->origins[i]);
    add_leaking_stacks(question, report, process, count);
}

static const char *as_many_turns(struct report *report, const struct survivor_process *process)
{
    return process->turns ? report_text(report, "%s more",
                                        label_counted(report_arena(report), process->turns, "turn"))
                          : translated("as many turns again");
}

static uint64_t fading_bytes(const struct survivor_origin *origin)
{
    return origin->fading_bytes;
}

static uint64_t garbage_bytes(const struct survivor_origin *origin)
{
    return origin->garbage_bytes;
}

/* Where most of these bytes are. */
static struct who who_has_most(const struct survivor_process *process,
                               uint64_t (*bytes_of)(const struct survivor_origin *))
{
    const struct survivor_origin *most = &process->origins[0];

    for (size_t i = 1; i < process->origin_count; i++)
        if (bytes_of(&process->origins[i]) > bytes_of(most))
            most = &process->origins[i];
    return most->stacks[0].who;
}

static void say_few_turns(const struct question *question, struct report *report,
                          const struct survivor_process *process)
{
    report_verdict(report, RANK_LEAKS,
                   "MAY BE A LEAK: %s. A loop of so few turns may fill a list on purpose: %s in "
                   "all decide.",
                   survivor_sentence(question, report_arena(report), process, &process->origins[0]),
                   label_counted(report_arena(report), SURVIVOR_TURNS_LEAST, "turn"));
}

static void say_fading(const struct question *question, struct report *report,
                       const struct survivor_process *process)
{
    report_verdict(report, RANK_LEAKS,
                   "MAY BE A CACHE that still fills: %s stay, most of it of %s, fewer and fewer "
                   "as time goes on; %s decide.",
                   label_size(report_arena(report), process->fading_bytes),
                   leak_who(question, report_arena(report), who_has_most(process, fading_bytes)),
                   as_many_turns(report, process));
}

static void say_garbage(const struct question *question, struct report *report,
                        const struct survivor_process *process)
{
    report_verdict(
        report, RANK_LEAKS,
        "MAY BE GARBAGE: %s stay, most of it of %s, which a collector frees, and the "
        "recording has no two collections of its whole heap that left them. A longer "
        "run decides, or one that collects in the loop (gc() of node --expose-gc, System.gc()).",
        label_size(report_arena(report), process->garbage_bytes),
        leak_who(question, report_arena(report), who_has_most(process, garbage_bytes)));
}

static void say_unnamed(const struct question *question, struct report *report,
                        const struct survivor_process *process)
{
    report_verdict(
        report, RANK_LEAKS,
        "MAY BE A LEAK: %s stay, most of it of %s. Functions of the interpreter have no names "
        "here, so whether a collection or a bounded cache would let it go is not knowable. "
        "Analyse it where the interpreter is, or with its debug data.",
        label_size(report_arena(report), process->garbage_bytes),
        leak_who(question, report_arena(report), who_has_most(process, garbage_bytes)));
}

/* What is no leak yet. */
static void say_remarks(const struct question *question, struct report *report,
                        const struct survivor_process *process)
{
    struct arena *texts = report_arena(report);
    const struct survivor_origin *origin = process->origins;

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
static void say_leak_and_waiting(const struct question *question, struct report *report,
                                 const struct survivor_process *process)
{
    say_leak(question, report, process);
    if (survivors_wait(process) && process->waiting_bytes > process->bytes)
        say_waiting(question, report, process);
}

static uint64_t active_count(const struct survivors *survivors)
{
    uint64_t count = 0;

    for (size_t i = 0; i < survivors->process_count; i++)
        if (survivors->processes[i].is_judged)
            count += survivors->processes[i].active_count;
    return count;
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

static bool has_leak(const struct survivors *survivors)
{
    for (size_t i = 0; i < survivors->process_count; i++)
        if (survivors_are_leak(&survivors->processes[i]))
            return true;
    return false;
}

static void say_turns(const struct question *question, struct report *report,
                      const struct survivors *survivors)
{
    for (size_t i = 0; i < survivors->process_count; i++) {
        const struct survivor_process *process = &survivors->processes[i];

        if (survivors_may_be_garbage(process) && process->lacks_names)
            say_unnamed(question, report, process);
        else if (survivors_may_be_garbage(process))
            say_garbage(question, report, process);
        else if (survivors_are_undecided(process))
            say_fading(question, report, process);
        else if (survivors_are_of_few_turns(process))
            say_few_turns(question, report, process);
    }
}

/* Resident memory that grows is no "No leak", whatever the blocks do. */
static void say_unseen_growth(const struct question *question, struct report *report,
                              const struct survivors *survivors)
{
    const struct survivor_process *process = survivors_with_unseen_growth(survivors);
    struct arena *texts = report_arena(report);
    const struct resident_cause *cause = resident_cause_of(&process->unseen.part);
    uint64_t per_turn = survivors_unseen_per_turn(process);

    report_verdict(
        report, RANK_LEAKS,
        "CANNOT SAY whether something leaks: %s grew by %s in %s%s that no recorded "
        "block explains; most of it is %s. To do: %s.",
        label_process(question, texts, process->process), label_size(texts, process->unseen.bytes),
        label_duration(texts, process->unseen.duration_ns),
        per_turn ? report_text(report, ", %s per turn,", label_size(texts, per_turn)) : "",
        translated(cause->meaning), translated(cause->what_to_do));
}

static const char *when_it_stopped(struct arena *texts, const struct stopped_loop *loop)
{
    if (!loop->after_ns) /* times of births are known about */
        return translated("ended just before the program did");
    return arena_format(texts, translated("ended %s before the program did"),
                        label_duration(texts, loop->after_ns));
}

/* What goes on to the end may leak nothing: most of the work was before. */
static void say_stopped_loop(const struct question *question, struct report *report,
                             const struct survivors *survivors)
{
    const struct survivor_process *process = survivors_of_stopped_loop(survivors);
    const struct stopped_loop *loop = &process->stopped;
    struct arena *texts = report_arena(report);

    report_verdict(
        report, RANK_LEAKS,
        "CANNOT SAY whether something leaks: a loop of %s %s, and %s of it in %s stay, most "
        "of them made at %s. That is data that was loaded, or a leak: mark steps, or "
        "name what begins one, to judge it.",
        label_duration(texts, loop->lasted_ns), when_it_stopped(texts, loop),
        label_size(texts, loop->bytes), label_counted(texts, loop->count, "block"),
        leak_who(question, texts, loop->who));
}

/* Its stacks were judged one by one. */
static void say_rise(const struct question *question, struct report *report,
                     const struct survivors *survivors)
{
    const struct survivor_process *process = survivors_that_rise(survivors);
    struct arena *texts = report_arena(report);

    report_verdict(
        report, RANK_LEAKS,
        "CANNOT SAY whether something leaks: what %s holds rose by %s in %s, evenly to the end of "
        "its work, and no stack alone tells why. That is data that is built, an allocator within "
        "the program, or a leak. Mark steps, name what begins one, or switch such an allocator off "
        "(PHP: USE_ZEND_ALLOC=0).",
        label_process(question, texts, process->process), label_size(texts, process->risen.bytes),
        label_duration(texts, process->risen.duration_ns));
}

/* Before the last collection could begin. What went with it is often of the same objects. */
static void say_let_go(const struct question *question, struct report *report,
                       const struct survivor_process *process)
{
    struct arena *texts = report_arena(report);

    report_verdict(
        report, RANK_LEAKS,
        "CANNOT SAY whether something leaks: %s, most of it at %s, stay until the end, "
        "and an exit handler lets go %s of it, most of that of %s: a leak, or garbage if "
        "that handler runs the collector. gc.collect() in the loop tells which.",
        label_size(texts, process->waiting_bytes), leak_who(question, texts, process->waiting_who),
        label_size(texts, process->let_go_bytes), leak_who(question, texts, process->let_go_who));
}

/* So much that it may be the leak. */
static void say_that_waits(const struct question *question, struct report *report,
                           const struct survivors *survivors)
{
    const struct survivor_process *process = survivors_that_wait(survivors);
    struct arena *texts = report_arena(report);

    if (survivors_are_let_go(process)) {
        say_let_go(question, report, process);
        return;
    }
    report_verdict(report, RANK_LEAKS,
                   "CANNOT SAY whether something leaks: %s, most of it at %s, stay until the "
                   "interpreter ends and are let go then: garbage that no collection met, or a "
                   "leak that an exit handler frees. gc.collect() in the loop tells which.",
                   label_size(texts, process->waiting_bytes),
                   leak_who(question, texts, process->waiting_who));
}

/* What was made in the loop was not made to its end, or that was one step. */
static void say_pool(const struct question *question, struct report *report,
                     const struct survivors *survivors)
{
    struct arena *texts = report_arena(report);
    const struct survivor_process *pass = survivors_in_one_pass(survivors);
    uint16_t ledger;

    if (pass)
        report_verdict(report, RANK_LEAKS,
                       "CANNOT SAY whether %s leaks: %s of one loop stay, and less than a quarter "
                       "of that was ever freed again. This may be one step that had not ended: "
                       "record several.",
                       label_ledger(question, texts, pass->pass_ledger),
                       label_size(texts, pass->pass_bytes));
    else if (survivors_lack_pool(survivors, question->tally, &ledger))
        report_verdict(report, RANK_LEAKS,
                       "CANNOT SAY whether %s leaks: most blocks made there while the loop ran are "
                       "of stacks that had stopped before its end. Of the rest nothing was found "
                       "to leak.",
                       label_ledger(question, texts, ledger));
}

bool survivors_say_doubts(const struct question *question, struct report *report,
                          const struct survivors *survivors)
{
    switch (leak_doubt_of(question, survivors)) {
    case LEAK_DOUBT_TURNS:
        say_turns(question, report, survivors);
        break;
    case LEAK_DOUBT_UNSEEN:
        say_unseen_growth(question, report, survivors);
        break;
    case LEAK_DOUBT_LOOP:
        say_stopped_loop(question, report, survivors);
        break;
    case LEAK_DOUBT_WAITING:
        say_that_waits(question, report, survivors);
        break;
    case LEAK_DOUBT_RISE:
        say_rise(question, report, survivors);
        break;
    case LEAK_DOUBT_HIDDEN:
        report_verdict(
            report, RANK_LEAKS,
            "CANNOT SAY whether Python objects leak: CPython's own allocator made those "
            "of up to 512 bytes, and they are not recorded; --call-stack=python or "
            "PYTHONMALLOC=malloc has them recorded. Of the rest nothing was found to leak.");
        break;
    case LEAK_DOUBT_POOL:
        say_pool(question, report, survivors);
        break;
    case LEAK_DOUBT_MISSING:
        report_verdict(report, RANK_LEAKS, SEEN_NO_LEAK_SENTENCE);
        break;
    default:
        return false;
    }
    report_outcome(report, REPORT_NO_DATA);
    return true;
}

static void say_no_leak(struct report *report, const struct survivors *survivors)
{
    struct arena *texts = report_arena(report);
    const struct survivor_process *heaviest = &survivors->processes[0];

    report_verdict(report, RANK_LEAKS, "No leak: of %s allocating to the end, %s.",
                   label_counted(texts, active_count(survivors), "stack"),
                   translated(heaviest->bytes || heaviest->bounded_bytes
                                  ? "what stays is light or bounded"
                                  : "none leaves blocks behind"));
}

void survivors_say(const struct question *question, struct report *report,
                   const struct survivors *survivors)
{
    bool has_doubt_of_waiting = leak_doubt_of(question, survivors) == LEAK_DOUBT_WAITING;

    for (size_t i = 0; i < survivors->process_count; i++)
        if (survivors_are_leak(&survivors->processes[i]))
            say_leak_and_waiting(question, report, &survivors->processes[i]);
    if (has_leak(survivors))
        return;
    if (!survivors_say_doubts(question, report, survivors))
        say_no_leak(report, survivors);
    say_unjudged(question, report, survivors);
    say_remarks(question, report, &survivors->processes[0]);
    survivors_say_waiting(question, report, survivors,
                          has_doubt_of_waiting ? survivors_that_wait(survivors) : NULL);
}
