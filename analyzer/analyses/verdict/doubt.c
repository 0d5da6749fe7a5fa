/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doubts as words and sentences, and which of them there are.
 */
#include "doubt.h"

#include <inttypes.h>
#include <string.h>

#include "doubt_finders.h"
#include "leak_words.h"
#include "leaktide/invariant.h"
#include "sentence.h"
#include "text_builder.h"

enum doubt_weight { ALWAYS, UNMARKED, LAST };

struct doubt_row {
    const char *word;
    enum doubt_weight weight;
    doubt_finder *find;
    const char *sentence, *reason;
};

static const struct doubt_row rows[DOUBT_KIND_COUNT] = {
    [DOUBT_NONE] = {"", ALWAYS, NULL, "", ""},
#define DOUBT(kind, word, weight, find, sentence, reason)                                          \
    [DOUBT_##kind] = {word, weight, doubt_find_##find, sentence, reason},
#include "doubts.def"
#undef DOUBT
    [DOUBT_OLDER] = {"older", ALWAYS, NULL, "",
                     "its summary does not tell: summarize its recording again"},
};

const char *doubt_word(enum doubt_kind kind)
{
    MT_ASSERT((unsigned)kind < DOUBT_KIND_COUNT);
    return rows[kind].word;
}

enum doubt_kind doubt_by_word(const char *word)
{
    for (int kind = DOUBT_NONE; kind < DOUBT_KIND_COUNT; kind++)
        if (strcmp(rows[kind].word, word) == 0)
            return (enum doubt_kind)kind;
    return DOUBT_OLDER;
}

const char *doubt_reason(enum doubt_kind kind)
{
    MT_ASSERT((unsigned)kind < DOUBT_KIND_COUNT);
    return *rows[kind].reason ? translated(rows[kind].reason) : "";
}

/* --- which there are -------------------------------------------------------------------------- */

static bool is_asked(const struct doubt_ground *ground, const struct doubt_row *row, size_t found)
{
    if (!row->find)
        return false;
    return row->weight == ALWAYS ||
           (row->weight == UNMARKED ? !growth_steps_decide(ground->question) : found == 0);
}

size_t doubts_find(const struct doubt_ground *ground, struct doubt doubts[DOUBT_KIND_COUNT])
{
    size_t found = 0;

    for (int kind = DOUBT_NONE; kind < DOUBT_KIND_COUNT; kind++) {
        struct doubt doubt = {.kind = (enum doubt_kind)kind};

        if (is_asked(ground, &rows[kind], found) && rows[kind].find(ground, &doubt))
            doubts[found++] = doubt;
    }
    return found;
}

/* --- sentences -------------------------------------------------------------------------------- */

/* What a name in braces stands for. */
struct part {
    const char *name;
    const char *(*words)(const struct question *question, struct arena *arena,
                         const struct doubt *doubt);
};

#define PART(part_name, expression)                                                                \
    static const char *part_name##_words(const struct question *question, struct arena *arena,     \
                                         const struct doubt *doubt)                                \
    {                                                                                              \
        (void)question;                                                                            \
        (void)arena;                                                                               \
        return expression;                                                                         \
    }
PART(process, label_process(question, arena, doubt->process))
PART(ledger, label_ledger(question, arena, doubt->ledger))
PART(bytes, label_size(arena, doubt->bytes))
PART(other_bytes, label_size(arena, doubt->other_bytes))
PART(count, label_count(arena, doubt->count))
PART(blocks, label_counted(arena, doubt->count, "block"))
PART(judged, label_counted(arena, doubt->count, "step"))
PART(kernels, label_counted(arena, doubt->count, "kernel"))
PART(needed, label_count(arena, doubt->needed))
PART(missing, label_count(arena, doubt->needed - doubt->count))
PART(turns, doubt->turns ? sentence(arena, "%s more", label_counted(arena, doubt->turns, "turn"))
                         : translated("as many turns again"))
PART(per_turn, doubt->turn_bytes
                   ? sentence(arena, ", %s per turn,", label_size(arena, doubt->turn_bytes))
                   : "")
PART(lasted, label_duration(arena, doubt->lasted_ns))
PART(who, leak_who(question, arena, doubt->who))
PART(other_who, leak_who(question, arena, doubt->other_who))
PART(detail, doubt->detail)
PART(to_do, doubt->to_do)
#undef PART

static const struct part parts[] = {
    {"process", process_words},         {"ledger", ledger_words}, {"bytes", bytes_words},
    {"other_bytes", other_bytes_words}, {"count", count_words},   {"blocks", blocks_words},
    {"kernels", kernels_words},         {"judged", judged_words}, {"needed", needed_words},
    {"missing", missing_words},         {"turns", turns_words},   {"per_turn", per_turn_words},
    {"lasted", lasted_words},           {"who", who_words},       {"other_who", other_who_words},
    {"detail", detail_words},           {"to_do", to_do_words},
};

static const struct part *part_find(const char *name, size_t size)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strlen(parts[i].name) == size && memcmp(parts[i].name, name, size) == 0)
            return &parts[i];
    return NULL;
}

/* The sentence of the row, with what stands for the names in braces. */
const char *doubt_sentence(const struct question *question, struct arena *arena,
                           const struct doubt *doubt)
{
    struct text_builder text;
    const char *rest, *brace;

    MT_ASSERT((unsigned)doubt->kind < DOUBT_KIND_COUNT && rows[doubt->kind].find);
    rest = translated(rows[doubt->kind].sentence);
    text_init(&text);
    while ((brace = strchr(rest, '{'))) {
        size_t size = strcspn(brace + 1, "}");
        const struct part *part = part_find(brace + 1, size);

        MT_ASSERT(part);
        text_add_bytes(&text, rest, (size_t)(brace - rest));
        text_add(&text, part->words(question, arena, doubt));
        rest = brace + 1 + size + 1;
    }
    text_add(&text, rest);
    return text_keep(&text, arena);
}
