/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "module_list.h"

#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "call_stacks.h"
#include "private_heap.h"
#include "recorder.h"

enum { BUILD_ID_MAX = 64, PATH_MAX_BYTES = 1024 };

struct module {
    uint64_t base, size, bias;
    uint8_t build_id[BUILD_ID_MAX];
    size_t build_id_bytes;
    bool is_seen; /* in this look at the loader's list */
    struct module *next;
    char path[];
};

/* The list is changed by one thread at a time: whoever holds the flag. */
static struct module *_Atomic modules;
static atomic_flag is_busy = ATOMIC_FLAG_INIT;
static unsigned long long seen_adds, seen_subs;

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

/* dl_iterate_phdr: once with `data` NULL to see whether anything changed, once for the work. */
static int counts_changed(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    *(bool *)data = info->dlpi_adds != seen_adds || info->dlpi_subs != seen_subs;
    seen_adds = info->dlpi_adds;
    seen_subs = info->dlpi_subs;
    return 1;
}

static int module_note(struct dl_phdr_info *info, size_t size, void *data)
{
    struct module *module;
    uint64_t base, bytes;

    (void)size;
    (void)data;
    module_extent(info, &base, &bytes);
    for (module = modules; module; module = module->next)
        if (module->base == base && module->size == bytes && module->bias == info->dlpi_addr &&
            (!info->dlpi_name[0] || strcmp(module->path, info->dlpi_name) == 0))
            break;
    if (!module) {
        module = module_create(info, base, bytes);
        if (!module)
            return 0;
        module_write(module);
        module->next = modules;
        modules = module;
    }
    module->is_seen = true;
    return 0;
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
            recorder_push(MT_RECORD_module_gone, &module->base);
            mt_je_free(module);
        }
    }
    modules = kept;
}

void modules_record_changes(void)
{
    bool has_changed = false;

    if (atomic_flag_test_and_set(&is_busy))
        return; /* somebody else is looking right now */
    dl_iterate_phdr(counts_changed, &has_changed);
    if (has_changed) {
        dl_iterate_phdr(module_note, NULL);
        forget_unseen();
        call_stacks_objects_changed();
    }
    atomic_flag_clear(&is_busy);
}

/*
 * A child copies the list as it is at the fork. If a thread is changing it and does not come to an
 * end (it may wait for the loader, which the forking thread may hold), the child goes without.
 */
static bool is_held_for_fork;

static void before_fork(void)
{
    is_held_for_fork = false;
    for (int tries = 0; tries < 200 && !is_held_for_fork; tries++) {
        is_held_for_fork = !atomic_flag_test_and_set(&is_busy);
        if (!is_held_for_fork)
            usleep(10);
    }
}

static void after_fork_in_parent(void)
{
    if (is_held_for_fork)
        atomic_flag_clear(&is_busy);
}

static void after_fork_in_child(void)
{
    if (!is_held_for_fork) {
        modules = NULL;
        seen_adds = seen_subs = 0;
    }
    atomic_flag_clear(&is_busy);
}

void modules_prepare_for_forks(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

void modules_record_again(void)
{
    for (const struct module *module = modules; module; module = module->next)
        module_write(module);
}
