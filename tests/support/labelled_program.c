/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Made-up programs whose leaks are known.
 *
 * A kind of actor is a row of `kinds`: what it chooses when it is made, and what it does in a step.
 * What it holds stands in a queue, oldest first; what it loses stands nowhere.
 */
#include "labelled_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"

enum { HELD_MAX = 8192, ACTORS_MAX = 12, STEP_NS = 1000000, EVENT_NS = 100 };

struct block {
    uint64_t address, size_bytes;
};

struct actor {
    const struct actor_kind *kind;
    struct labelled_program *program;
    struct stage *stage;
    uint32_t site;
    uint16_t pool, place;
    uint64_t size_bytes;
    uint32_t many;     /* blocks at a time */
    uint32_t period;   /* steps */
    uint32_t limit;    /* blocks, steps: as the kind likes it */
    uint32_t start;    /* step */
    uint32_t times[4]; /* steps */
    uint32_t lossy_steps, newest_loss;
    struct label *label;
    bool has_jitter;    /* of sizes */
    struct block *held; /* a ring */
    size_t first, held_count;
};

/* Where the actors of one process play. */
struct stage {
    struct chance chance;
    struct model *model;
    struct tally *tally;
    uint16_t process;
    uint32_t thread;
    uint64_t time_ns, fresh_address;
    uint32_t step_count, step;
    uint32_t kind_count; /* of actors to choose from */
};

struct actor_kind {
    const char *name;
    bool is_leak;
    uint32_t steps_least; /* with fewer steps nobody could tell what it is */
    void (*choose)(struct actor *actor);
    void (*step)(struct actor *actor, uint32_t step); /* 0: before the first */
};

/* --- chance --------------------------------------------------------------------------------- */

/* From least to most. */
static uint32_t between(struct stage *stage, uint32_t least, uint32_t most)
{
    return chance_between(&stage->chance, least, most);
}

static bool happens(struct stage *stage, double probability)
{
    return chance_happens(&stage->chance, probability);
}

/* Small and large ones alike. */
static uint64_t some_size(struct stage *stage)
{
    static const uint64_t bases[] = {64, 512, 4096, 65536, 1 << 20, 20 << 20};

    return bases[between(stage, 0, 5)] * between(stage, 1, 12);
}

/* --- what actors do with memory ------------------------------------------------------------- */

static void feed(struct actor *actor, struct event event)
{
    struct stage *stage = actor->stage;

    event.time_ns = stage->time_ns += EVENT_NS;
    event.process = stage->process;
    event.thread = stage->thread;
    event.pool = actor->pool;
    event.place = actor->place;
    if (tally_feed(stage->tally, &event, 1, NULL) != MT_OK)
        abort();
}

static struct block make(struct actor *actor, uint64_t size_bytes)
{
    struct block block = {actor->stage->fresh_address, size_bytes};

    if (actor->has_jitter) /* an allocator rounds a request up, now like this, now like that */
        block.size_bytes += 512 * between(actor->stage, 0, 1);
    actor->stage->fresh_address += block.size_bytes + 512;
    feed(actor, (struct event){.kind = EVENT_ALLOC,
                               .address = block.address,
                               .value = block.size_bytes,
                               .site = actor->site});
    return block;
}

static void release(struct actor *actor, struct block block)
{
    feed(actor, (struct event){.kind = EVENT_FREE, .address = block.address});
}

static void lose(struct actor *actor, uint64_t size_bytes)
{
    make(actor, size_bytes);
    actor->lossy_steps += actor->newest_loss != actor->stage->step;
    actor->newest_loss = actor->stage->step;
}

static void use_briefly(struct actor *actor, uint64_t size_bytes)
{
    release(actor, make(actor, size_bytes));
}

static void hold(struct actor *actor, uint64_t size_bytes)
{
    if (actor->held_count < HELD_MAX)
        actor->held[(actor->first + actor->held_count++) % HELD_MAX] = make(actor, size_bytes);
}

static void drop_oldest(struct actor *actor)
{
    if (!actor->held_count)
        return;
    release(actor, actor->held[actor->first]);
    actor->first = (actor->first + 1) % HELD_MAX;
    actor->held_count--;
}

static void drop_all(struct actor *actor)
{
    while (actor->held_count)
        drop_oldest(actor);
}

static void drop_any(struct actor *actor)
{
    size_t i;
    struct block picked;

    if (!actor->held_count)
        return;
    i = (actor->first + between(actor->stage, 0, (uint32_t)actor->held_count - 1)) % HELD_MAX;
    picked = actor->held[i];
    actor->held[i] = actor->held[actor->first];
    actor->held[actor->first] = picked;
    drop_oldest(actor);
}

/* --- harmless ------------------------------------------------------------------------------- */

static uint32_t steps_of(const struct actor *actor)
{
    return actor->stage->step_count;
}

static void choose_few(struct actor *actor)
{
    actor->many = between(actor->stage, 1, 8);
}

static void weights_step(struct actor *actor, uint32_t step)
{
    for (uint32_t i = 0; step == 0 && i < actor->many; i++)
        hold(actor, actor->size_bytes);
}

static void optimizer_step(struct actor *actor, uint32_t step)
{
    for (uint32_t i = 0; step == 1 && i < actor->many; i++)
        hold(actor, actor->size_bytes);
}

static void choose_busy(struct actor *actor)
{
    actor->many = between(actor->stage, 5, 60);
}

static void activations_step(struct actor *actor, uint32_t step)
{
    for (uint32_t i = 0; step && i < actor->many; i++)
        hold(actor, actor->size_bytes);
    drop_all(actor);
}

static void choose_noisy(struct actor *actor)
{
    choose_few(actor);
    actor->limit = between(actor->stage, 0, 2) * actor->many;
    actor->has_jitter = happens(actor->stage, 0.5);
}

/* Alive when a step ends, freed in the next one; not always as many. */
static void gradients_step(struct actor *actor, uint32_t step)
{
    drop_all(actor);
    for (uint32_t i = between(actor->stage, 0, actor->limit); step && i < 2 * actor->many; i++)
        hold(actor, actor->size_bytes);
}

static void choose_rolling(struct actor *actor)
{
    actor->limit = between(actor->stage, 2, 1 + steps_of(actor) / 5);
    actor->many = between(actor->stage, 1, 3);
    actor->has_jitter = happens(actor->stage, 0.5);
}

static void rolling_step(struct actor *actor, uint32_t step)
{
    for (uint32_t i = 0; step && i < actor->many; i++)
        hold(actor, actor->size_bytes * (actor->has_jitter ? between(actor->stage, 1, 4) : 1));
    while (actor->held_count > (size_t)actor->limit * actor->many)
        drop_oldest(actor);
}

static void choose_brief(struct actor *actor)
{
    actor->many = between(actor->stage, 1, 20);
    actor->limit = between(actor->stage, 1, 1 + steps_of(actor) / 10); /* mean life, in steps */
}

/* Each block lives as long as chance will have it. */
static void chance_lives_step(struct actor *actor, uint32_t step)
{
    size_t before = actor->held_count;

    for (size_t i = 0; i < before; i++)
        if (happens(actor->stage, 1.0 / actor->limit))
            drop_any(actor);
    for (uint32_t i = 0; step && i < actor->many; i++)
        hold(actor, actor->size_bytes);
}

static void choose_filling(struct actor *actor)
{
    actor->limit = between(actor->stage, 2, steps_of(actor) / 2);
    actor->start = between(actor->stage, 0, steps_of(actor) / 8);
    actor->many = between(actor->stage, 1, 4);
}

static void cache_step(struct actor *actor, uint32_t step)
{
    for (uint32_t i = 0; step > actor->start && step <= actor->limit && i < actor->many; i++)
        hold(actor, actor->size_bytes);
}

static void choose_keys(struct actor *actor)
{
    actor->limit = between(actor->stage, 4, 400);
    actor->many = 1 + actor->limit * between(actor->stage, 5, 12) / steps_of(actor);
}

/* A cache by key: what was looked up before is there, so it fills slower and slower. */
static void cache_by_key_step(struct actor *actor, uint32_t step)
{
    for (uint32_t i = 0; step && i < actor->many; i++)
        if (between(actor->stage, 1, actor->limit) > actor->held_count)
            hold(actor, actor->size_bytes);
}

static void choose_full(struct actor *actor)
{
    actor->many = between(actor->stage, 1, 6);
    actor->limit = actor->many * between(actor->stage, 1, 1 + steps_of(actor) / 4);
    actor->period = between(actor->stage, 0, 1);
    actor->has_jitter = happens(actor->stage, 0.5);
}

/* Full, it throws out the oldest or any. */
static void full_cache_step(struct actor *actor, uint32_t step)
{
    for (uint32_t i = between(actor->stage, 0, 1); step && i < actor->many; i++) {
        while (actor->held_count >= actor->limit && actor->held_count)
            actor->period ? drop_any(actor) : drop_oldest(actor);
        hold(actor, actor->size_bytes);
    }
}

static void choose_slots(struct actor *actor)
{
    actor->limit = between(actor->stage, 8, HELD_MAX / 4);
    actor->many = 1 + actor->limit * between(actor->stage, 2, 6) / steps_of(actor);
}

/* An interpreter's cache of names: one slot for many of them. What comes takes a slot, and throws
 * out what was in it. */
static void slots_step(struct actor *actor, uint32_t step)
{
    for (uint32_t i = 0; step && i < actor->many; i++) {
        if (between(actor->stage, 1, actor->limit) <= actor->held_count)
            drop_any(actor);
        hold(actor, actor->size_bytes);
    }
}

static void choose_times(struct actor *actor)
{
    actor->many = between(actor->stage, 1, 3);
    for (uint32_t i = 0; i < actor->many; i++)
        actor->times[i] = between(actor->stage, 1, steps_of(actor));
    actor->has_jitter = true;
}

/* One more level now and then: made at need, kept for good. */
static void plateaus_step(struct actor *actor, uint32_t step)
{
    for (uint32_t i = 0; i < actor->many; i++)
        if (step == actor->times[i])
            hold(actor, actor->size_bytes * between(actor->stage, 1, 9));
}

/* A workspace that is too small is given back for a larger one. */
static void workspace_step(struct actor *actor, uint32_t step)
{
    if (step == 0)
        hold(actor, actor->size_bytes);
    for (uint32_t i = 0; i < actor->many; i++) {
        if (step != actor->times[i])
            continue;
        drop_all(actor);
        hold(actor, actor->size_bytes += actor->size_bytes / 3 + 512);
    }
}

static void choose_teeth(struct actor *actor)
{
    actor->period = between(actor->stage, 2, steps_of(actor) / 3);
    actor->start = between(actor->stage, 0, actor->period - 1);
    actor->many = between(actor->stage, 1, 5);
    actor->limit = between(actor->stage, 0, actor->many - 1);
}

/* Piles up until an evaluation or a collection takes all. */
static void sawtooth_step(struct actor *actor, uint32_t step)
{
    if ((step + actor->start) % actor->period == 0)
        drop_all(actor);
    for (uint32_t i = between(actor->stage, 0, actor->limit); step && i < actor->many; i++)
        hold(actor, actor->size_bytes);
}

/* Only each so many steps, and gone in the next. */
static void evaluation_step(struct actor *actor, uint32_t step)
{
    drop_all(actor);
    for (uint32_t i = 0; (step + actor->start) % actor->period == 0 && i < actor->many; i++)
        hold(actor, actor->size_bytes);
}

static void shrinking_step(struct actor *actor, uint32_t step)
{
    if (step == 0)
        for (uint32_t i = 0; i < actor->many * 10; i++)
            hold(actor, actor->size_bytes);
    else if (happens(actor->stage, 0.5))
        drop_oldest(actor);
}

static void choose_warm_up(struct actor *actor)
{
    actor->limit = between(actor->stage, 1, steps_of(actor) / 6 + 1);
    actor->many = between(actor->stage, 1, 10);
}

static void warm_up_step(struct actor *actor, uint32_t step)
{
    for (uint32_t i = 0; step && step <= actor->limit && i < actor->many; i++)
        hold(actor, actor->size_bytes);
}

static void choose_queue(struct actor *actor)
{
    actor->limit = between(actor->stage, 2, 12);
    actor->many = between(actor->stage, 1, 3);
}

/* A maker and a taker with something between them, now fuller, now emptier. */
static void queue_step(struct actor *actor, uint32_t step)
{
    for (uint32_t i = 0; step && i < actor->many; i++) {
        uint32_t move = between(actor->stage, 0, 2);

        hold(actor, actor->size_bytes); /* one passes through in any case */
        if (move != 0 || actor->held_count > actor->limit)
            drop_oldest(actor);
        if (move == 2 && actor->held_count > 1)
            drop_oldest(actor);
    }
}

/* --- leaks ---------------------------------------------------------------------------------- */

static void choose_leak(struct actor *actor)
{
    actor->period = between(actor->stage, 1, 1 + steps_of(actor) / 16);
    actor->start = between(actor->stage, 0, actor->period - 1);
    actor->many = between(actor->stage, 1, 4);
    actor->has_jitter = happens(actor->stage, 0.3);
}

static bool is_due(const struct actor *actor, uint32_t step)
{
    return step && (step + actor->start) % actor->period == 0;
}

static void leak_step(struct actor *actor, uint32_t step)
{
    for (uint32_t i = 0; is_due(actor, step) && i < actor->many; i++)
        lose(actor, actor->size_bytes);
}

/* Nearly all that it makes stays. */
static void heavy_leak_step(struct actor *actor, uint32_t step)
{
    for (uint32_t i = 0; step && i < actor->many; i++)
        lose(actor, actor->size_bytes);
    if (step)
        use_briefly(actor, actor->size_bytes);
}

static void leak_in_weights_step(struct actor *actor, uint32_t step)
{
    for (uint32_t i = 0; !step && i < 40; i++)
        hold(actor, actor->size_bytes * 64);
    leak_step(actor, step);
}

static void growing_leak_step(struct actor *actor, uint32_t step)
{
    if (is_due(actor, step))
        lose(actor, actor->size_bytes + step * 512);
}

static void choose_hot(struct actor *actor)
{
    actor->many =
        between(actor->stage, 8000 / steps_of(actor) + 100, 20000 / steps_of(actor) + 100);
}

/* One in a thousand is forgotten. */
static void hot_leak_step(struct actor *actor, uint32_t step)
{
    for (uint32_t i = 0; step && i < actor->many; i++) {
        if (happens(actor->stage, 0.001))
            lose(actor, actor->size_bytes);
        else
            use_briefly(actor, actor->size_bytes);
    }
}

/* The same, where most live over the end of a step. */
static void hot_leak_over_end_step(struct actor *actor, uint32_t step)
{
    drop_all(actor);
    for (uint32_t i = between(actor->stage, 0, actor->many / 10); step && i < actor->many; i++) {
        if (happens(actor->stage, 0.001))
            lose(actor, actor->size_bytes);
        else
            hold(actor, actor->size_bytes);
    }
}

static void choose_chance(struct actor *actor)
{
    actor->limit = between(actor->stage, 25, 80); /* percent */
}

static void chance_leak_step(struct actor *actor, uint32_t step)
{
    if (step && happens(actor->stage, actor->limit / 100.0))
        lose(actor, actor->size_bytes);
}

static void choose_noisy_leak(struct actor *actor)
{
    choose_noisy(actor);
    actor->period = between(actor->stage, 1, 1 + steps_of(actor) / 24);
}

static void leak_in_gradients_step(struct actor *actor, uint32_t step)
{
    gradients_step(actor, step);
    if (is_due(actor, step))
        lose(actor, actor->size_bytes);
}

static void choose_rolling_leak(struct actor *actor)
{
    choose_rolling(actor);
    actor->period = between(actor->stage, 1, 1 + steps_of(actor) / 24);
}

static void leak_in_rolling_step(struct actor *actor, uint32_t step)
{
    rolling_step(actor, step);
    if (is_due(actor, step))
        lose(actor, actor->size_bytes * 2);
}

static void choose_sawtooth_leak(struct actor *actor)
{
    choose_teeth(actor);
    actor->period = between(actor->stage, 2, 2 + steps_of(actor) / 8);
}

static void leak_in_sawtooth_step(struct actor *actor, uint32_t step)
{
    sawtooth_step(actor, step);
    if (step)
        lose(actor, actor->size_bytes);
}

static void choose_late(struct actor *actor)
{
    actor->start = between(actor->stage, steps_of(actor) / 4, steps_of(actor) / 2);
}

static void late_leak_step(struct actor *actor, uint32_t step)
{
    if (step > actor->start)
        lose(actor, actor->size_bytes);
}

/* history = cat(history, loss): always one block, always larger. */
static void growing_block_step(struct actor *actor, uint32_t step)
{
    if (!step)
        return;
    drop_all(actor);
    hold(actor, actor->size_bytes * step);
}

static void choose_mended(struct actor *actor)
{
    actor->many = between(actor->stage, 1, 3);
    actor->period = between(actor->stage, 3, steps_of(actor) / 2);
}

/* Most are forgotten, but now and then one is found again. */
static void mended_leak_step(struct actor *actor, uint32_t step)
{
    for (uint32_t i = 0; step && i < actor->many; i++)
        hold(actor, actor->size_bytes);
    if (step % actor->period == 0)
        drop_any(actor);
}

static const struct actor_kind kinds[] = {
    {"weights", false, 0, choose_few, weights_step},
    {"optimizer", false, 0, choose_few, optimizer_step},
    {"activations", false, 0, choose_busy, activations_step},
    {"gradients", false, 0, choose_noisy, gradients_step},
    {"rolling buffer", false, 12, choose_rolling, rolling_step},
    {"chance lives", false, 20, choose_brief, chance_lives_step},
    {"cache", false, 12, choose_filling, cache_step},
    {"cache by key", false, 20, choose_keys, cache_by_key_step},
    {"full cache", false, 20, choose_full, full_cache_step},
    {"plateaus", false, 12, choose_times, plateaus_step},
    {"workspace", false, 12, choose_times, workspace_step},
    {"sawtooth", false, 12, choose_teeth, sawtooth_step},
    {"evaluation", false, 12, choose_teeth, evaluation_step},
    {"shrinking", false, 0, choose_few, shrinking_step},
    {"warm-up", false, 12, choose_warm_up, warm_up_step},
    {"queue", false, 20, choose_queue, queue_step},
    {"leak", true, 8, choose_leak, leak_step},
    {"leak in weights", true, 8, choose_leak, leak_in_weights_step},
    {"growing leak", true, 8, choose_leak, growing_leak_step},
    {"hot leak", true, 8, choose_hot, hot_leak_step},
    {"hot leak over end", true, 20, choose_hot, hot_leak_over_end_step},
    {"chance leak", true, 40, choose_chance, chance_leak_step},
    {"leak in gradients", true, 30, choose_noisy_leak, leak_in_gradients_step},
    {"leak in rolling buffer", true, 30, choose_rolling_leak, leak_in_rolling_step},
    {"leak in sawtooth", true, 40, choose_sawtooth_leak, leak_in_sawtooth_step},
    {"mended leak", true, 20, choose_mended, mended_leak_step},
    {"late leak", true, 20, choose_late, late_leak_step},
    {"growing block", true, 10, choose_few, growing_block_step},
    {"slots of names", false, 20, choose_slots, slots_step},
    {"heavy leak", true, 8, choose_busy, heavy_leak_step},
};

/* The last kinds are of interpreters. */
enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]), INTERPRETER_KINDS = 2 };

/* --- the play ------------------------------------------------------------------------------- */

static uint32_t text_of(struct model *model, const char *text)
{
    return model_text(model, text, strlen(text));
}

/* Chance decides how often some leaks happen: not often enough to know, for anybody, perhaps. */
static enum truth truth_of(const struct actor *actor)
{
    enum { lossy_steps_least = 6 };

    if (!actor->kind->is_leak)
        return TRUTH_HARMLESS;
    if (actor->stage->step_count < actor->kind->steps_least ||
        (actor->lossy_steps && actor->lossy_steps < lossy_steps_least))
        return TRUTH_UNKNOWABLE;
    return TRUTH_LEAK;
}

static void actor_name(struct actor *actor, int device)
{
    struct labelled_program *program = actor->program;
    struct label *label = &program->labels[program->label_count];

    if (program->label_count == LABELS_MAX)
        abort();
    actor->label = label;
    label->actor = actor->kind->name;
    snprintf(label->site, sizeof(label->site), "p%dd%d %s %zu", actor->stage->process, device,
             actor->kind->name, program->label_count++);
    actor->site =
        model_site(actor->stage->model,
                   (struct model_site){.process = actor->stage->process,
                                       .label = text_of(actor->stage->model, label->site)});
}

static void actor_init(struct actor *actor, struct labelled_program *program, struct stage *stage,
                       int device, bool is_leak)
{
    struct mt_place place = {.device = device, .kind = MT_KIND_DEVICE, .module = -1};

    memset(actor, 0, sizeof(*actor));
    do {
        actor->kind = &kinds[between(stage, 0, stage->kind_count - 1)];
    } while (actor->kind->is_leak != is_leak ||
             (!is_leak && actor->kind->steps_least > stage->step_count));
    actor->program = program;
    actor->stage = stage;
    actor->period = 1;
    actor->size_bytes = some_size(stage);
    actor->held = calloc(HELD_MAX, sizeof(*actor->held));
    if (!actor->held)
        abort();
    actor->pool = model_pool(stage->model, text_of(stage->model, "pta"));
    actor->place = model_place(stage->model, place);
    actor->kind->choose(actor);
    actor_name(actor, device);
}

static void mark(struct stage *stage, enum event_kind kind, uint32_t step)
{
    struct event event = {.kind = (uint8_t)kind,
                          .time_ns = stage->time_ns += EVENT_NS,
                          .value = step,
                          .process = stage->process,
                          .thread = stage->thread};

    if (tally_feed(stage->tally, &event, 1, NULL) != MT_OK)
        abort();
}

static void play(struct stage *stage, struct actor *actors, size_t count)
{
    /* Some programs forget a mark now and then, some never say where a step ends. */
    double missing = happens(stage, 0.1) ? 0.05 : 0;
    bool has_ends = happens(stage, 0.8);

    for (uint32_t step = 0; step <= stage->step_count; step++) {
        bool is_marked = step && !happens(stage, missing);

        stage->step = step;
        if (is_marked)
            mark(stage, EVENT_STEP_BEGIN, step);
        for (size_t i = 0; i < count; i++)
            actors[i].kind->step(&actors[i], step);
        if (is_marked && (has_ends || step == stage->step_count))
            mark(stage, EVENT_STEP_END, step);
        stage->time_ns += STEP_NS;
    }
    /* What a program still knows it gives back. */
    for (size_t i = 0; i < count && happens(stage, 0.5); i++)
        drop_all(&actors[i]);
}

static void run_process(struct labelled_program *program, struct stage *stage)
{
    struct actor actors[ACTORS_MAX];
    size_t count = between(stage, 4, ACTORS_MAX);
    uint32_t devices = between(stage, 1, 2);
    size_t leaks = happens(stage, 0.65) ? between(stage, 1, 3) : 0;
    struct model_process process = {.process_id = 1000u + stage->process};

    stage->process = model_process(stage->model, &process);
    stage->thread = model_thread(stage->model,
                                 (struct model_thread){.process = stage->process, .thread_id = 1});
    for (size_t i = 0; i < count; i++)
        actor_init(&actors[i], program, stage, (int)(i % devices), i < leaks);
    play(stage, actors, count);
    for (size_t i = 0; i < count; i++) {
        actors[i].label->truth = truth_of(&actors[i]);
        free(actors[i].held);
    }
}

void labelled_program_run(uint64_t seed, bool has_interpreters, struct model *model,
                          struct tally *tally, struct labelled_program *program)
{
    static const uint32_t step_counts[] = {3, 7, 10, 14, 20, 24, 32, 48, 60, 80, 100, 150, 300};
    struct stage stage = {.chance = {seed}, .model = model, .tally = tally};

    stage.kind_count = has_interpreters ? KIND_COUNT : KIND_COUNT - INTERPRETER_KINDS;
    memset(program, 0, sizeof(*program));
    program->process_count = between(&stage, 1, 3);
    program->step_count = step_counts[between(&stage, 0, 12)];
    stage.step_count = program->step_count;
    stage.fresh_address = UINT64_C(0x120000000000);
    for (size_t i = 0; i < program->process_count; i++) {
        stage.process = (uint16_t)i;
        run_process(program, &stage);
    }
    tally_finish(tally);
}
