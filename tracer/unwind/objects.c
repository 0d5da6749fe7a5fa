/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "objects.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

#include "leaktide/invariant.h"
#include "loader_error.h"

enum { READ_TRIES = 4 };

/* struct dl_find_object of glibc; its older headers do not have it. */
struct found_object {
    unsigned long long flags;
    void *map_start, *map_end, *link_map, *eh_frame_header;
    unsigned long long reserved[7];
};

void objects_prepare(struct objects *objects, bool has_finder)
{
    objects->find = NULL;
    if (has_finder) {
        objects->find = (int (*)(void *, void *))dlsym(RTLD_DEFAULT, "_dl_find_object");
        if (!objects->find)
            loader_error_forget(); /* so that the program does not read our question as its own */
    }
    objects_refresh(objects);
}

/* --- the list --------------------------------------------------------------------------- */

static struct object object_of(const struct dl_phdr_info *info)
{
    struct object object = {UINT64_MAX, 0, NULL};

    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + segment->p_vaddr;

        if (segment->p_type == PT_GNU_EH_FRAME)
            object.header = (const uint8_t *)(uintptr_t)start;
        if (segment->p_type != PT_LOAD)
            continue;
        if (start < object.start)
            object.start = start;
        if (start + segment->p_memsz > object.end)
            object.end = start + segment->p_memsz;
    }
    return object;
}

/* Words one by one, so that a reader who comes too late sees old or new ones, and then the number.
 */
static void object_copy(struct object *to, const struct object *from)
{
    __atomic_store_n(&to->start, __atomic_load_n(&from->start, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    __atomic_store_n(&to->end, __atomic_load_n(&from->end, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    __atomic_store_n(&to->header, __atomic_load_n(&from->header, __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
}

static int note_object(struct dl_phdr_info *info, size_t size, void *data)
{
    struct objects *objects = data;
    struct object_list *list = &objects->lists[(objects->number + 1) % 2];
    struct object object = object_of(info);
    uint64_t place = list->count;

    (void)size;
    if (object.start >= object.end)
        return 0;
    if (place == OBJECT_MAX) {
        objects->left_out_count++;
        return 0;
    }
    for (; place > 0 && list->objects[place - 1].start > object.start; place--)
        object_copy(&list->objects[place], &list->objects[place - 1]);
    object_copy(&list->objects[place], &object);
    __atomic_store_n(&list->count, list->count + 1, __ATOMIC_RELAXED);
    return 0;
}

/* Sorted, so that a pc is looked for in halves. */
static void list_check(const struct object_list *list)
{
    MT_ASSERT(list->count <= OBJECT_MAX);
    for (uint64_t i = 0; i < list->count; i++) {
        MT_ASSERT(list->objects[i].start < list->objects[i].end);
        MT_ASSERT(!i || list->objects[i - 1].start <= list->objects[i].start);
    }
}

/*
 * Within a callback of dl_iterate_phdr, so that the loader's lock, which one thread can hold twice,
 * keeps others out until the new list is in use.
 */
static int take_list(struct dl_phdr_info *info, size_t size, void *data)
{
    struct objects *objects = data;
    struct object_list *list = &objects->lists[(objects->number + 1) % 2];

    (void)info;
    (void)size;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&list->count, 0, __ATOMIC_RELAXED);
    objects->left_out_count = 0;
    dl_iterate_phdr(note_object, objects);
    list_check(list);
    __atomic_store_n(&objects->number, objects->number + 1, __ATOMIC_RELEASE);
    return 1;
}

void objects_refresh(struct objects *objects)
{
    if (!objects->find)
        dl_iterate_phdr(take_list, objects);
}

static bool find_in_list(const struct object_list *list, uint64_t pc, struct object *found)
{
    uint64_t low = 0, high = __atomic_load_n(&list->count, __ATOMIC_RELAXED);

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (__atomic_load_n(&list->objects[middle].start, __ATOMIC_RELAXED) <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    object_copy(found, &list->objects[low - 1]);
    return pc - found->start < found->end - found->start;
}

/* --- asking ----------------------------------------------------------------------------- */

static bool ask_library(const struct objects *objects, uint64_t pc, struct cfi_section *section)
{
    struct found_object found;

    if (objects->find((void *)(uintptr_t)pc, &found) != 0)
        return false;
    *section = (struct cfi_section){found.eh_frame_header, found.map_start, found.map_end};
    return true;
}

bool objects_find(const struct objects *objects, uint64_t pc, struct cfi_section *section)
{
    struct object object = {0, 0, NULL};

    if (objects->find)
        return ask_library(objects, pc, section);
    for (int tries = 0; tries < READ_TRIES; tries++) {
        uint64_t number = __atomic_load_n(&objects->number, __ATOMIC_ACQUIRE);
        bool is_found = find_in_list(&objects->lists[number % 2], pc, &object);

        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (number != __atomic_load_n(&objects->number, __ATOMIC_RELAXED))
            continue;
        *section = (struct cfi_section){object.header, (const uint8_t *)(uintptr_t)object.start,
                                        (const uint8_t *)(uintptr_t)object.end};
        return is_found;
    }
    return false;
}
