/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The groups of a picture.
 */
#include "page_groups.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "hash_index.h"
#include "labels.h"

enum {
    own_most = 8192,     /* groups of the tally that stay as they are */
    joined_most = 16384, /* then the rest of each ledger is one */
    weight_classes = 64 * 16,
};

/* What groups that are joined have in common. */
struct join_key {
    const char *label;
    uint32_t operator_text, owner_text;
    int32_t module;
    enum category category;
    uint16_t ledger;
};

struct joining {
    const struct question *question;
    struct page_groups *groups;
    struct join_key *keys; /* by row of the page; of joined ones */
    struct hash_index index;
    size_t joined_count;
    uint32_t *walked; /* by stack: the row for which it was last walked over */
};

/* --- which stay ---------------------------------------------------------------------------- */

static uint64_t weight_of(const struct tally *tally, size_t group)
{
    const struct group *row = tally_group_at(tally, group);

    return group_at_peak(tally, group).bytes + row->live_bytes + row->alloc_bytes / 1024;
}

/* Weights of one class differ by less than a sixteenth. */
static unsigned weight_class(uint64_t weight)
{
    unsigned bits = weight ? 64 - (unsigned)__builtin_clzll(weight) : 0;

    return bits <= 4 ? (unsigned)weight : (bits - 4) * 16 + (unsigned)(weight >> (bits - 5) & 15);
}

/* The heaviest that there is room for: all above a class, and the first ones of it. */
struct selection {
    unsigned limit;
    size_t room_at_limit;
};

static struct selection select_heaviest(const struct tally *tally)
{
    size_t counts[weight_classes + 16] = {0}, room = own_most, count = tally_group_count(tally);
    unsigned limit = weight_classes + 15;

    if (count <= own_most)
        return (struct selection){.room_at_limit = count};
    for (size_t i = 1; i < count; i++)
        counts[weight_class(weight_of(tally, i))]++;
    for (; limit && counts[limit] <= room; limit--)
        room -= counts[limit];
    return (struct selection){limit, room};
}

static bool is_selected(struct selection *selection, uint64_t weight)
{
    unsigned class = weight_class(weight);

    if (class != selection->limit)
        return class > selection->limit;
    if (!selection->room_at_limit)
        return false;
    selection->room_at_limit--;
    return true;
}

/* --- joining ------------------------------------------------------------------------------- */

static struct join_key key_of(const struct question *question, size_t group)
{
    const struct group_detail *detail = tally_detail_at(question->tally, group);

    return (struct join_key){
        .label = detail->site ? symbols_label(question->symbols, detail->site) : "",
        .operator_text = detail->operator_text,
        .owner_text = detail->owner_text,
        .module = model_place_at(question->model, detail->place).module,
        .category = category_of(question, group).category,
        .ledger = tally_group_at(question->tally, group)->ledger,
    };
}

static uint64_t key_hash(const struct join_key *key)
{
    return hash_pair(hash_pair(hash_bytes(key->label, strlen(key->label)),
                               (uint64_t)key->operator_text << 32 | key->owner_text),
                     (uint64_t)(uint32_t)key->module << 32 | (uint32_t)key->category << 16 |
                         key->ledger);
}

static bool is_key(const struct join_key *a, const struct join_key *b)
{
    return a->ledger == b->ledger && a->module == b->module && a->category == b->category &&
           a->operator_text == b->operator_text && a->owner_text == b->owner_text &&
           (a->label == b->label || strcmp(a->label, b->label) == 0);
}

static uint32_t stack_of(const struct question *question, size_t group)
{
    return model_site_at(question->model, tally_detail_at(question->tally, group)->site)->stack;
}

/*
 * The innermost stack that both come from: `shared`, of the stacks that a row has so far, and
 * another one. A caller's number is less than that of its callee. What was walked over for this row
 * before came from `shared`, then and now, so the rest of the way need not be walked again.
 */
static uint32_t common_stack(struct joining *joining, uint32_t row, uint32_t shared, uint32_t stack)
{
    const struct model *model = joining->question->model;

    while (shared != stack) {
        if (stack < shared) {
            shared = model_stack_at(model, shared)->outer;
        } else {
            if (joining->walked[stack] == row)
                return shared;
            joining->walked[stack] = row;
            stack = model_stack_at(model, stack)->outer;
        }
    }
    return shared;
}

static void add_to(struct joining *joining, uint32_t row_index, size_t group)
{
    const struct question *question = joining->question;
    struct page_group *row = &joining->groups->rows[row_index];
    struct step_sample peak = group_at_peak(question->tally, group);
    uint32_t stack = stack_of(question, group);

    row->stack = row->group_count++ ? common_stack(joining, row_index, row->stack, stack) : stack;
    row->peak_bytes += peak.bytes;
    row->peak_count += peak.count;
    row->end_bytes += tally_group_at(question->tally, group)->live_bytes;
}

static uint32_t row_add(struct page_groups *groups, size_t group, enum category category)
{
    groups->rows[groups->count] =
        (struct page_group){.first = (uint32_t)group, .category = category};
    return (uint32_t)groups->count++;
}

/* The row of all groups of the ledger that have none; which is looked for among few. */
static uint32_t rest_of(struct joining *joining, size_t group)
{
    struct page_groups *groups = joining->groups;
    const struct tally *tally = joining->question->tally;
    uint16_t ledger = tally_group_at(tally, group)->ledger;
    uint64_t hash = hash_u64(UINT64_C(1) << 32 | ledger);
    size_t probe = 0;
    uint32_t row;

    while (hash_index_next(&joining->index, hash, &probe, &row))
        if (groups->rows[row].is_rest &&
            tally_group_at(tally, groups->rows[row].first)->ledger == ledger)
            return row;
    row = row_add(groups, group, CATEGORY_UNKNOWN);
    groups->rows[row].is_rest = true;
    return hash_index_add(&joining->index, hash, row) ? row : 0;
}

/* The row that the group is joined into; 0: no memory. */
static uint32_t joined_row(struct joining *joining, size_t group)
{
    struct page_groups *groups = joining->groups;
    const struct join_key key = key_of(joining->question, group);
    uint64_t hash = key_hash(&key);
    size_t probe = 0;
    uint32_t row;

    while (hash_index_next(&joining->index, hash, &probe, &row))
        if (!groups->rows[row].is_rest && is_key(&key, &joining->keys[row]))
            return row;
    if (joining->joined_count == joined_most)
        return rest_of(joining, group);
    joining->joined_count++;
    row = row_add(groups, group, key.category);
    joining->keys[row] = key;
    return hash_index_add(&joining->index, hash, row) ? row : 0;
}

static bool join_all(struct joining *joining)
{
    struct page_groups *groups = joining->groups;
    const struct tally *tally = joining->question->tally;
    struct selection selection = select_heaviest(tally);

    for (size_t i = 1; i < groups->tally_count; i++) {
        uint32_t row = is_selected(&selection, weight_of(tally, i))
                           ? row_add(groups, i, category_of(joining->question, i).category)
                           : joined_row(joining, i);

        if (!row)
            return false;
        groups->of[i] = row;
        add_to(joining, row, i);
    }
    return true;
}

/* --- all ----------------------------------------------------------------------------------- */

static size_t rows_most(const struct question *question)
{
    size_t count = tally_group_count(question->tally) + 1;
    size_t most = (size_t)own_most + joined_most + tally_ledger_count(question->tally) + 1;

    return count < most ? count : most;
}

bool page_groups_init(struct page_groups *groups, const struct question *question)
{
    size_t count = tally_group_count(question->tally), most = rows_most(question);
    struct joining joining = {.question = question, .groups = groups};
    bool is_good;

    *groups = (struct page_groups){.tally_count = count, .count = 1};
    groups->of = calloc(count + 1, sizeof(*groups->of));
    groups->rows = calloc(most, sizeof(*groups->rows));
    joining.keys = calloc(most, sizeof(*joining.keys));
    joining.walked = calloc(model_stack_count(question->model) + 1, sizeof(*joining.walked));
    hash_index_init(&joining.index);
    is_good = groups->of && groups->rows && joining.keys && joining.walked && join_all(&joining);
    hash_index_release(&joining.index);
    free(joining.keys);
    free(joining.walked);
    return is_good;
}

void page_groups_release(struct page_groups *groups)
{
    free(groups->of);
    free(groups->rows);
    *groups = (struct page_groups){.of = NULL};
}
