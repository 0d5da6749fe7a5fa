/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "module_list.h"

#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "call_stacks.h"
#include "guard.h"
#include "private_heap.h"
#include "recorder.h"
#include "recording.h"
#include "thread_state.h"

enum { BUILD_ID_MAX = 64, PATH_MAX_BYTES = 1024 };

struct module {
    uint64_t base, size, bias;
    uint8_t build_id[BUILD_ID_MAX];
    size_t build_id_bytes;
    bool is_seen; /* in this look at the loader's list */
    struct module *next;
    char path[];
};

/* Whoever holds the flag reads and changes the list. */
static struct module *modules;
static atomic_flag is_busy = ATOMIC_FLAG_INIT;
static unsigned long long seen_adds, seen_subs;

atomic_bool modules_may_have_come;

/*
 * A child copies the list as it is at the fork. If the forking thread could not have it, another
 * one may have been changing it: then the child goes without. Whoever comes first in a child
 * settles that, as handlers of others may run, and allocate, before ours.
 */
static __thread bool is_held_for_fork __attribute__((tls_model("initial-exec"))); /* two may fork */

static void settle_in_child(void)
{
    if (atomic_exchange(&recording_page->is_settled, 1))
        return;
    if (!is_held_for_fork) {
        modules = NULL;
        seen_adds = seen_subs = 0;
    }
    is_held_for_fork = false;
    atomic_flag_clear(&is_busy);
}

static void list_lock(void)
{
    settle_in_child();
    while (atomic_flag_test_and_set_explicit(&is_busy, memory_order_acquire))
        sched_yield();
}

static void list_unlock(void)
{
    atomic_flag_clear_explicit(&is_busy, memory_order_release);
}

/* Before that, modules_introduce() is still to come. */
static bool is_introduced(void)
{
    return atomic_load(&recording_page->is_introduced);
}

static void module_write(const struct module *module)
{
    uint64_t fields[4] = {module->base, module->size, module->bias,
                          recorder_text(text_of(module->path))};

    recorder_push_bytes(MT_RECORD_module, fields, module->build_id, module->build_id_bytes);
}

/* The GNU build id note, read from memory: it is part of the loaded image. */
static size_t build_id_find(const struct dl_phdr_info *info, uint8_t *out)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const char *at = (const char *)(info->dlpi_addr + segment->p_vaddr);
        const char *end = at + segment->p_memsz;

        if (segment->p_type != PT_NOTE)
            continue;
        while (at + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *note = (const void *)at;
            const char *name = at + sizeof(*note);
            const char *content = name + ((note->n_namesz + 3u) & ~3u);

            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
                memcmp(name, "GNU", 4) == 0 && note->n_descsz <= BUILD_ID_MAX) {
                memcpy(out, content, note->n_descsz);
                return note->n_descsz;
            }
            at = content + ((note->n_descsz + 3u) & ~3u);
        }
    }
    return 0;
}

static void module_extent(const struct dl_phdr_info *info, uint64_t *base, uint64_t *size)
{
    uint64_t low = UINT64_MAX, high = 0;

    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type != PT_LOAD)
            continue;
        if (segment->p_vaddr < low)
            low = segment->p_vaddr;
        if (segment->p_vaddr + segment->p_memsz > high)
            high = segment->p_vaddr + segment->p_memsz;
    }
    *base = low == UINT64_MAX ? info->dlpi_addr : info->dlpi_addr + low;
    *size = low == UINT64_MAX ? 0 : high - low;
}

static struct module *module_create(const struct dl_phdr_info *info, uint64_t base, uint64_t size)
{
    char own_path[PATH_MAX_BYTES];
    const char *path = info->dlpi_name;
    struct module *module;

    if (!path[0]) { /* the program itself */
        ssize_t length = readlink("/proc/self/exe", own_path, sizeof(own_path) - 1);

        own_path[length > 0 ? length : 0] = '\0';
        path = own_path;
    }
    module = mt_je_calloc(1, sizeof(*module) + strlen(path) + 1);
    if (!module)
        return NULL;
    module->base = base;
    module->size = size;
    module->bias = info->dlpi_addr;
    module->build_id_bytes = build_id_find(info, module->build_id);
    strcpy(module->path, path);
    return module;
}

static struct module *module_find(const struct dl_phdr_info *info, uint64_t base, uint64_t size)
{
    struct module *module = modules;

    while (module &&
           (module->base != base || module->size != size || module->bias != info->dlpi_addr ||
            (info->dlpi_name[0] && strcmp(module->path, info->dlpi_name) != 0)))
        module = module->next;
    return module;
}

static void module_note(const struct dl_phdr_info *info)
{
    struct module *module;
    uint64_t base, bytes;

    module_extent(info, &base, &bytes);
    module = module_find(info, base, bytes);
    if (!module) {
        module = module_create(info, base, bytes);
        if (!module)
            return;
        if (is_introduced())
            module_write(module);
        module->next = modules;
        modules = module;
    }
    module->is_seen = true;
}

struct look {
    bool has_list;
    bool has_changed, some_left; /* since the look before */
};

/* Called for each object, with the loader's lock held: only now may the list's be waited for. */
static int look_at(struct dl_phdr_info *info, size_t size, void *data)
{
    struct look *look = data;

    (void)size;
    if (!look->has_list) {
        list_lock();
        look->has_list = true;
        look->some_left = info->dlpi_subs != seen_subs;
        look->has_changed = info->dlpi_adds != seen_adds || look->some_left;
        seen_adds = info->dlpi_adds;
        seen_subs = info->dlpi_subs;
    }
    if (look->has_changed)
        module_note(info);
    return !look->has_changed;
}

static void forget_unseen(void)
{
    struct module *kept = NULL, *next;

    for (struct module *module = modules; module; module = next) {
        next = module->next;
        if (module->is_seen) {
            module->is_seen = false;
            module->next = kept;
            kept = module;
        } else {
            if (is_introduced())
                recorder_push(MT_RECORD_module_gone, &module->base);
            mt_je_free(module);
        }
    }
    modules = kept;
}

void modules_record_changes(void)
{
    struct look look = {false, false, false};

    settle_in_child();
    if (is_held_for_fork) /* in somebody's handler, around the fork: the next look sees it */
        return;
    atomic_store_explicit(&modules_may_have_come, false, memory_order_relaxed);
    dl_iterate_phdr(look_at, &look);
    if (look.has_changed)
        forget_unseen();
    if (look.has_list)
        list_unlock();
    if (look.some_left)
        call_stacks_objects_left();
    else if (look.has_changed)
        call_stacks_objects_came();
}

void modules_may_come(void)
{
    atomic_store_explicit(&modules_may_have_come, true, memory_order_relaxed);
}

void modules_look_slowly(void)
{
    if (!guard_enter(LAYER_MARKS))
        return;
    modules_record_changes();
    guard_leave(LAYER_MARKS);
}

void modules_may_leave(void)
{
    call_stacks_objects_left();
}

/* If a thread is changing it and does not come to an end (it may wait for the loader, which the
 * forking thread may hold), the fork does not wait for it. */

static void before_fork(void)
{
    is_held_for_fork = false;
    for (int tries = 0; tries < 200 && !is_held_for_fork; tries++) {
        is_held_for_fork = !atomic_flag_test_and_set(&is_busy);
        if (!is_held_for_fork && recording_makes_no_calls())
            return;
        if (!is_held_for_fork)
            usleep(10);
    }
}

static void after_fork_in_parent(void)
{
    if (is_held_for_fork)
        atomic_flag_clear(&is_busy);
    is_held_for_fork = false;
}

static void after_fork_in_child(void)
{
    if (!recording_header()) /* nothing was ever recorded, so no page was emptied by the fork */
        atomic_store(&recording_page->is_settled, 0);
    settle_in_child();
    recording_forked();
}

void modules_prepare_for_forks(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

void modules_introduce(void)
{
    if (atomic_exchange(&recording_page->is_introduced, 1))
        return;
    settle_in_child();
    if (!is_held_for_fork)
        list_lock();
    for (const struct module *module = modules; module; module = module->next)
        module_write(module);
    if (!is_held_for_fork)
        list_unlock();
}
