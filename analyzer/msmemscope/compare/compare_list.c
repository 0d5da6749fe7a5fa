/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of elements, lined up device by device and written as msmemscope does.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare_list.h"
#include "hash.h"
#include "hash_index.h"
#include "list.h"
#include "outlet.h"
#include "sequence_diff.h"

bool compare_list_add(struct compare_list *list, struct compare_element element)
{
    if (!list_has_room(&list->elements, &list->capacity, list->count, sizeof(*list->elements)))
        return false;
    list->elements[list->count++] = element;
    return true;
}

bool compare_list_device(struct compare_list *list, int32_t device)
{
    for (size_t i = 0; i < list->device_count; i++)
        if (list->devices[i] == device)
            return true;
    if (!list_has_room(&list->devices, &list->device_capacity, list->device_count,
                       sizeof(*list->devices)))
        return false;
    list->devices[list->device_count++] = device;
    return true;
}

void compare_list_release(struct compare_list *list)
{
    free(list->elements);
    free(list->devices);
    memset(list, 0, sizeof(*list));
}

/* The elements of one device, as numbers. */
struct side {
    const struct compare_element **elements;
    uint32_t *tokens;
    size_t count;
};

struct names {
    const char **texts;
    size_t count;
    struct hash_index index;
};

static bool token_of(struct names *names, const char *name, uint32_t *token)
{
    uint64_t hash = hash_bytes(name, strlen(name));
    size_t probe = 0;

    while (hash_index_next(&names->index, hash, &probe, token))
        if (strcmp(names->texts[*token], name) == 0)
            return true;
    *token = (uint32_t)names->count;
    names->texts[names->count++] = name;
    return hash_index_add(&names->index, hash, *token);
}

static bool side_make(const struct compare_list *list, int32_t device, struct names *names,
                      struct side *side)
{
    side->count = 0;
    side->elements = malloc((list->count + 1) * sizeof(const struct compare_element *));
    side->tokens = malloc((list->count + 1) * sizeof(*side->tokens));
    for (size_t i = 0; side->elements && side->tokens && i < list->count; i++) {
        if (list->elements[i].device != device)
            continue;
        if (!token_of(names, list->elements[i].name, &side->tokens[side->count]))
            return false;
        side->elements[side->count++] = &list->elements[i];
    }
    return side->elements && side->tokens;
}

static void side_release(struct side *side)
{
    free((void *)side->elements);
    free(side->tokens);
}

static void write_cell(struct outlet *out, const struct compare_element *element)
{
    if (element)
        outlet_format(out, "%" PRId64 ",", element->bytes);
    else
        outlet_add(out, "N/A,");
}

/* Either may be NULL. */
static void write_row(struct outlet *out, enum compare_level level,
                      const struct compare_element *base, const struct compare_element *current)
{
    static const char *const events[] = {"OP_LAUNCH", "KERNEL_LAUNCH"};
    const struct compare_element *either = base ? base : current;
    uint64_t change = (uint64_t)(current ? current->bytes : 0) - (uint64_t)(base ? base->bytes : 0);

    outlet_format(out, "%s,%s", events[level], either->name);
    if (either->device < 0)
        outlet_add(out, ",N/A,");
    else
        outlet_format(out, ",%" PRId32 ",", either->device);
    write_cell(out, base);
    write_cell(out, current);
    outlet_format(out, "%" PRId64 "\n", (int64_t)change);
}

static void write_sides(struct outlet *out, enum compare_level level, const struct side *base,
                        const struct side *current, const uint32_t *matches)
{
    size_t next = 0;

    for (size_t i = 0; i < base->count; i++) {
        if (matches[i] == SEQUENCE_UNMATCHED) {
            write_row(out, level, base->elements[i], NULL);
            continue;
        }
        while (next < matches[i])
            write_row(out, level, NULL, current->elements[next++]);
        write_row(out, level, base->elements[i], current->elements[next++]);
    }
    while (next < current->count)
        write_row(out, level, NULL, current->elements[next++]);
}

static bool write_device(const struct compare_list *lists[2], int32_t device, struct names *names,
                         enum compare_level level, struct outlet *out)
{
    struct side sides[2] = {0};
    uint32_t *matches = malloc((lists[0]->count + 1) * sizeof(*matches));
    bool is_done =
        matches && side_make(lists[0], device, names, &sides[0]) &&
        side_make(lists[1], device, names, &sides[1]) &&
        sequence_diff((struct sequence){sides[0].tokens, sides[0].count},
                      (struct sequence){sides[1].tokens, sides[1].count}, names->count, matches);

    if (is_done)
        write_sides(out, level, &sides[0], &sides[1], matches);
    side_release(&sides[0]);
    side_release(&sides[1]);
    free(matches);
    return is_done;
}

static bool has_device(const struct compare_list *list, int32_t device)
{
    for (size_t i = 0; i < list->device_count; i++)
        if (list->devices[i] == device)
            return true;
    return false;
}

enum mt_result compare_write(const struct compare_list *base, const struct compare_list *current,
                             enum compare_level level, FILE *file, struct mt_error *error)
{
    struct outlet *out = outlet_create(FOR_CSV, file);
    const struct compare_list *lists[2] = {base, current};
    struct names names = {.texts = malloc((base->count + current->count + 1) * sizeof(char *))};
    bool is_done = names.texts != NULL, is_written;

    hash_index_init(&names.index);
    outlet_add(
        out,
        ",,,Base,Compare\n"
        "Event,Name,Device Id,Allocated Memory(byte),Allocated Memory(byte),Diff Memory(byte)\n");
    for (size_t i = 0; is_done && i < base->device_count; i++)
        is_done = write_device(lists, base->devices[i], &names, level, out);
    for (size_t i = 0; is_done && i < current->device_count; i++)
        if (!has_device(base, current->devices[i]))
            is_done = write_device(lists, current->devices[i], &names, level, out);
    hash_index_release(&names.index);
    free((void *)names.texts);
    is_written = outlet_destroy(out) && fflush(file) == 0;
    if (!is_done)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to compare operators");
    if (!is_written)
        return mt_error_set(error, MT_IO, "the comparison cannot be written");
    return MT_OK;
}
