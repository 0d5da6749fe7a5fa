/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Made-up programs of an interpreter that mark no steps, and whose leaks are known.
 *
 * A kind of actor is a row of `kinds`: what it chooses when it is made, and what it does in a turn.
 * What it holds stands in a ring, oldest first; what it loses stands nowhere.
 */
#include "labelled_loop.h"

#include <stdlib.h>
#include <string.h>

#include "chance.h"

enum {
    HELD_MAX = 4096,
    ACTORS_LEAST = 4,
    ACTORS_MOST = 10,
    LEAK_BYTES_LEAST = 48 << 10, /* in all: less is a remark by design */
    NAMES_BYTES_MOST = 8 << 10,  /* in all: what interpreters keep by design */
    GROWING_BYTES_LEAST = 8 << 10,
    FIRST_LINE = 100
};

struct actor {
    const struct actor_kind *kind;
    struct stage *stage;
    uint32_t sites[2]; /* native functions that the line calls */
    uint32_t many;     /* blocks at a time */
    uint32_t period;   /* turns */
    uint32_t limit;    /* blocks or turns: as the kind likes it */
    uint64_t size_bytes;
    uint64_t *held; /* addresses, a ring */
    size_t first, held_count;
};

struct stage {
    struct chance chance;
    struct event_list *list;
    uint16_t pool, place;
    uint64_t fresh_address;
    uint32_t turns, turn;
};

struct actor_kind {
    const char *name;
    bool is_leak, is_light;
    void (*choose)(struct actor *actor);
    void (*turn)(struct actor *actor, uint32_t turn); /* from 0 */
};

static uint32_t between(struct actor *actor, uint32_t least, uint32_t most)
{
    return chance_between(&actor->stage->chance, least, most);
}

/* --- frames and blocks ---------------------------------------------------------------------- */

static uint32_t frame_of(struct stage *stage, enum model_frame_kind kind, const char *function,
                         const char *file, uint32_t line)
{
    return model_frame(stage->list->model,
                       (struct model_frame){.kind = (uint8_t)kind,
                                            .function = event_list_text(stage->list, function),
                                            .file = event_list_text(stage->list, file),
                                            .line = line});
}

static uint32_t native_site(struct stage *stage, uint32_t caller, const char *function)
{
    uint32_t frame = frame_of(stage, FRAME_NATIVE, function, "library.c", 0);
    uint32_t stack = model_stack(stage->list->model, caller, frame);

    return model_site(stage->list->model, (struct model_site){.stack = stack});
}

static uint32_t python_stack(struct stage *stage, uint32_t caller, const char *function,
                             const char *file, uint32_t line)
{
    return model_stack(stage->list->model, caller,
                       frame_of(stage, FRAME_PYTHON, function, file, line));
}

static uint64_t make(struct stage *stage, uint32_t site, uint64_t size_bytes)
{
    uint64_t address = stage->fresh_address;

    stage->fresh_address += size_bytes + 16;
    event_list_add(stage->list, (struct event){.kind = EVENT_ALLOC,
                                               .address = address,
                                               .value = size_bytes,
                                               .site = site,
                                               .pool = stage->pool,
                                               .place = stage->place});
    return address;
}

static void release(struct stage *stage, uint64_t address)
{
    event_list_add(stage->list, (struct event){.kind = EVENT_FREE,
                                               .address = address,
                                               .pool = stage->pool,
                                               .place = stage->place});
}

static void lose(struct actor *actor)
{
    make(actor->stage, actor->sites[0], actor->size_bytes);
}

static void use_briefly(struct actor *actor, uint32_t many)
{
    for (uint32_t i = 0; i < many; i++)
        release(actor->stage, make(actor->stage, actor->sites[i % 2], actor->size_bytes));
}

static void hold(struct actor *actor, uint64_t size_bytes)
{
    if (actor->held_count < HELD_MAX)
        actor->held[(actor->first + actor->held_count++) % HELD_MAX] =
            make(actor->stage, actor->sites[0], size_bytes);
}

static void drop_oldest(struct actor *actor)
{
    if (!actor->held_count)
        return;
    release(actor->stage, actor->held[actor->first]);
    actor->first = (actor->first + 1) % HELD_MAX;
    actor->held_count--;
}

static void drop_any(struct actor *actor)
{
    size_t last = (size_t)between(actor, 0, (uint32_t)actor->held_count - 1);
    size_t i = (actor->first + last) % HELD_MAX;
    uint64_t picked = actor->held[i];

    actor->held[i] = actor->held[actor->first];
    actor->held[actor->first] = picked;
    drop_oldest(actor);
}

static void drop_all(struct actor *actor)
{
    while (actor->held_count)
        drop_oldest(actor);
}

/* --- harmless ------------------------------------------------------------------------------- */

static void choose_busy(struct actor *actor)
{
    actor->many = between(actor, 2, 40);
}

static void temporaries_turn(struct actor *actor, uint32_t turn)
{
    (void)turn;
    use_briefly(actor, actor->many);
}

static void choose_window(struct actor *actor)
{
    actor->many = between(actor, 1, 4);
    actor->limit = actor->many * between(actor, 1, actor->stage->turns / 6);
}

static void window_turn(struct actor *actor, uint32_t turn)
{
    (void)turn;
    for (uint32_t i = 0; i < actor->many; i++)
        hold(actor, actor->size_bytes);
    while (actor->held_count > actor->limit)
        drop_oldest(actor);
}

/* Everything in the first turns, and looked up from then on. */
static void early_cache_turn(struct actor *actor, uint32_t turn)
{
    for (uint32_t i = 0; turn < 3 && i < actor->many; i++)
        hold(actor, actor->size_bytes);
    use_briefly(actor, 1);
}

static void choose_names(struct actor *actor)
{
    actor->size_bytes = between(actor, 49, 64);
    actor->many = between(actor, 1, 3);
    actor->limit = (uint32_t)(NAMES_BYTES_MOST / actor->size_bytes);
}

/* An interpreter's cache of names: each new one takes a slot, and throws out what was in it. */
static void names_turn(struct actor *actor, uint32_t turn)
{
    (void)turn;
    for (uint32_t i = 0; i < actor->many; i++) {
        if (actor->held_count >= between(actor, 1, actor->limit))
            drop_any(actor);
        hold(actor, actor->size_bytes);
    }
}

static void choose_garbage(struct actor *actor)
{
    actor->many = between(actor, 1, 8);
    actor->period = between(actor, 1, actor->stage->turns);
}

/* Cycles, until the collector comes; what is left the last collection takes. */
static void garbage_turn(struct actor *actor, uint32_t turn)
{
    if (turn % actor->period == actor->period - 1)
        drop_all(actor);
    for (uint32_t i = 0; i < actor->many; i++)
        hold(actor, actor->size_bytes);
}

/* Loaded in the first turn, which is long beside the others; read in all. */
static void choose_loaded(struct actor *actor)
{
    actor->many = between(actor, 50, 400);
}

static void loaded_turn(struct actor *actor, uint32_t turn)
{
    for (uint32_t i = 0; turn == 0 && i < actor->many; i++)
        hold(actor, actor->size_bytes);
    use_briefly(actor, 2);
}

/* --- leaks ---------------------------------------------------------------------------------- */

static void choose_leak(struct actor *actor)
{
    uint64_t least;

    actor->period = between(actor, 1, actor->stage->turns / 24);
    actor->many = between(actor, 1, 4);
    least = LEAK_BYTES_LEAST / (actor->stage->turns / actor->period * actor->many) + 1;
    if (actor->size_bytes < least)
        actor->size_bytes = least;
}

/* All that it makes stays. */
static void keeper_turn(struct actor *actor, uint32_t turn)
{
    for (uint32_t i = 0; turn % actor->period == 0 && i < actor->many; i++)
        lose(actor);
}

/* Of much that it makes, a little. */
static void light_keeper_turn(struct actor *actor, uint32_t turn)
{
    use_briefly(actor, 20);
    keeper_turn(actor, turn);
    use_briefly(actor, 20);
}

static void choose_growing(struct actor *actor)
{
    actor->size_bytes = GROWING_BYTES_LEAST * between(actor, 1, 4);
}

/* history = cat(history, loss): always one block, always larger. */
static void growing_turn(struct actor *actor, uint32_t turn)
{
    hold(actor, actor->size_bytes * (turn + 1));
    if (turn)
        drop_oldest(actor);
}

static const struct actor_kind kinds[] = {
    {"temporaries", false, false, choose_busy, temporaries_turn},
    {"window", false, false, choose_window, window_turn},
    {"early cache", false, false, choose_busy, early_cache_turn},
    {"names", false, true, choose_names, names_turn},
    {"garbage", false, false, choose_garbage, garbage_turn},
    {"loaded", false, false, choose_loaded, loaded_turn},
    {"heavy keeper", true, false, choose_leak, keeper_turn},
    {"light keeper", true, false, choose_leak, light_keeper_turn},
    {"growing block", true, false, choose_growing, growing_turn},
};

enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

/* --- the play ------------------------------------------------------------------------------- */

static void actor_init(struct actor *actor, struct stage *stage, struct labelled_loop *loop,
                       bool is_leak)
{
    struct loop_label *label = &loop->labels[loop->label_count];
    uint32_t stack;

    memset(actor, 0, sizeof(*actor));
    actor->stage = stage;
    actor->period = 1;
    do {
        actor->kind = &kinds[between(actor, 0, KIND_COUNT - 1)];
    } while (actor->kind->is_leak != is_leak);
    label->line = FIRST_LINE + (uint32_t)loop->label_count++;
    label->actor = actor->kind->name;
    label->is_leak = is_leak;
    label->is_light = actor->kind->is_light;
    stack = python_stack(stage, 0, "work", "job.py", label->line);
    actor->sites[0] = native_site(stage, stack, "library_make");
    actor->sites[1] = native_site(stage, stack, "library_copy");
    actor->size_bytes = (uint64_t)16 << between(actor, 0, 10);
    actor->held = calloc(HELD_MAX, sizeof(*actor->held));
    if (!actor->held)
        abort();
    actor->kind->choose(actor);
}

/* Modules are loaded; most of what they make stays until the end. */
static uint32_t import_modules(struct stage *stage)
{
    uint32_t modules = chance_between(&stage->chance, 5, 40), count = 0;

    for (uint32_t module = 0; module < modules; module++) {
        uint32_t stack = python_stack(stage, 0, "<module>", "job.py", 1 + module);
        uint32_t site, blocks = chance_between(&stage->chance, 50, 1500);

        stack = python_stack(stage, stack, "_find_and_load", "<frozen importlib._bootstrap>", 1178);
        stack = python_stack(stage, stack, "<module>", "package.py", 1 + module);
        site = native_site(stage, stack, "library_make");
        for (uint32_t i = 0; i < blocks; i++, count++) {
            uint64_t address = make(stage, site, chance_between(&stage->chance, 32, 600));

            if (chance_happens(&stage->chance, 0.4))
                release(stage, address);
        }
    }
    return count;
}

/* The interpreter ends: exit handlers, files, the last collection, modules, all that is still
 * known.
 */
static void tear_down(struct stage *stage, struct actor *actors, size_t count)
{
    uint32_t finalize = model_stack(
        stage->list->model, 0, frame_of(stage, FRAME_NATIVE, "Py_FinalizeEx", "pylifecycle.c", 1));
    uint32_t handler = native_site(stage, python_stack(stage, finalize, "at_exit", "atexit.py", 3),
                                   "library_make");
    uint32_t files = native_site(stage, finalize, "flush_std_files");
    uint32_t modules = native_site(stage, finalize, "finalize_modules");
    uint32_t births = chance_between(&stage->chance, 1, 300);

    for (uint32_t i = 0; i < births; i++)
        release(stage, make(stage, handler, 100));
    release(stage, make(stage, files, 55));
    for (size_t i = 0; i < count; i++)
        if (strcmp(actors[i].kind->name, "garbage") == 0)
            drop_all(&actors[i]);
    for (uint32_t i = 0; i < births; i++)
        release(stage, make(stage, modules, 64));
    for (size_t i = 0; i < count; i++)
        drop_all(&actors[i]);
}

static void play(struct stage *stage, struct actor *actors, size_t count)
{
    for (stage->turn = 0; stage->turn < stage->turns; stage->turn++)
        for (size_t i = 0; i < count; i++)
            actors[i].kind->turn(&actors[i], stage->turn);
}

void labelled_loop_run(uint64_t seed, struct event_list *list, struct labelled_loop *loop)
{
    static const uint32_t turn_counts[] = {24, 30, 45, 60, 100, 300};
    struct mt_place place = {.device = -1, .kind = MT_KIND_UNKNOWN, .module = -1};
    struct stage stage = {.chance = {seed}, .list = list, .fresh_address = 1 << 20};
    struct actor actors[ACTORS_MOST];
    size_t count = chance_between(&stage.chance, ACTORS_LEAST, ACTORS_MOST);
    size_t leaks = chance_happens(&stage.chance, 0.65) ? chance_between(&stage.chance, 1, 2) : 0;

    memset(loop, 0, sizeof(*loop));
    stage.pool = model_pool(list->model, event_list_text(list, "host"));
    stage.place = model_place(list->model, place);
    stage.turns = loop->turns = turn_counts[chance_between(&stage.chance, 0, 5)];
    loop->imported_blocks = import_modules(&stage);
    for (size_t i = 0; i < count; i++)
        actor_init(&actors[i], &stage, loop, i < leaks);
    play(&stage, actors, count);
    loop->is_killed = chance_happens(&stage.chance, 0.2);
    if (!loop->is_killed)
        tear_down(&stage, actors, count);
    for (size_t i = 0; i < count; i++)
        free(actors[i].held);
}
