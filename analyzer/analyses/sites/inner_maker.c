/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stacks of an origin, from the frame that tells inward, added up into a tree.
 */
#include "inner_maker.h"

#include "call_tree.h"
#include "readable_name.h"
#include "sentence.h"

static struct step_sample sum_of_group(const struct question *question, const struct origin *origin,
                                       size_t index, origin_sum *sum)
{
    struct origin alone = *origin;

    alone.groups = &origin->groups[index];
    alone.group_count = 1;
    return sum(question->tally, &alone);
}

static uint32_t site_of_group(const struct question *question, const struct origin *origin,
                              size_t index)
{
    return tally_detail_at(question->tally, origin->groups[index])->site;
}

struct who origin_main_who(const struct question *question, const struct origin *origin,
                           origin_sum *sum)
{
    struct who who = origin->who;
    uint64_t most_bytes = 0;

    for (size_t i = 0; who.site && i < origin->group_count; i++) {
        uint64_t bytes = sum_of_group(question, origin, i, sum).bytes;

        if (bytes <= most_bytes)
            continue;
        most_bytes = bytes;
        who.site = site_of_group(question, origin, i);
    }
    return who;
}

/* The functions of Python from the telling frame inward, innermost first. 0: it is not of Python.
 */
static size_t frames_inward(const struct question *question, uint32_t site,
                            struct symbol_frame *inward)
{
    size_t count, kept = 0;
    const struct symbol_frame *frames = symbols_frames(question->symbols, site, &count);

    for (size_t i = 0; i < count; i++) {
        if (frames[i].is_python && (!frames[i].is_plumbing || frames[i].is_telling))
            inward[kept++] = frames[i];
        if (frames[i].is_telling)
            return frames[i].is_python ? kept : 0;
    }
    return 0;
}

static void add_stacks(const struct question *question, const struct origin *origin,
                       origin_sum *sum, struct call_tree *tree)
{
    struct symbol_frame inward[SYMBOLS_DEPTH_MOST];

    for (size_t i = 0; i < origin->group_count; i++) {
        struct call_bytes bytes = {.at_peak = sum_of_group(question, origin, i, sum).bytes};

        if (bytes.at_peak)
            call_tree_add(tree, inward,
                          frames_inward(question, site_of_group(question, origin, i), inward),
                          bytes);
    }
}

/* The child that has more than half of all; 0: none has. */
static uint32_t main_child(const struct call_tree *tree, uint32_t node)
{
    uint64_t whole_bytes = call_tree_at(tree, 0)->bytes.at_peak;

    for (uint32_t i = call_tree_at(tree, node)->first_child; i;
         i = call_tree_at(tree, i)->next_sibling)
        if (call_tree_at(tree, i)->bytes.at_peak > whole_bytes / 2)
            return i;
    return 0;
}

/* The innermost node that has more than half of all, below the one that tells, where another has
 * the rest; 0: none. */
static uint32_t main_node(const struct call_tree *tree)
{
    uint32_t telling = main_child(tree, 0), node = telling;

    for (uint32_t next = node; next; next = main_child(tree, next))
        node = next;
    return node == telling ||
                   call_tree_at(tree, node)->bytes.at_peak == call_tree_at(tree, 0)->bytes.at_peak
               ? 0
               : node;
}

static const char *node_words(struct arena *arena, const struct call_node *node)
{
    const struct symbol_frame *frame = &node->frame;
    const char *who = arena_format(arena, "%s (%s:%u)", frame->function, short_path(frame->file),
                                   (unsigned)frame->line);

    return sentence(arena, ", %s of it by %s", label_size(arena, node->bytes.at_peak), who);
}

const char *inner_maker_words(const struct question *question, struct arena *arena,
                              const struct origin *origin, origin_sum *sum)
{
    struct call_tree tree;
    const char *words = "";
    uint32_t node;

    call_tree_init(&tree, false);
    if (origin->who.site && !tree.has_failed)
        add_stacks(question, origin, sum, &tree);
    node = tree.has_failed ? 0 : main_node(&tree);
    if (node)
        words = node_words(arena, call_tree_at(&tree, node));
    call_tree_release(&tree);
    return words;
}
