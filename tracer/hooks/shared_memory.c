/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of shared memory as they are made and unlinked: shared_names.h; and System V segments,
 * which are mapped by calls of their own. POSIX names are files of /dev/shm, which programs open
 * and unlink as such, too.
 *
 * Nothing is made of these functions but a look at the path while it is another one. For the others
 * the kernel is entered from here: memory makes nobody wait, so that no thread could be cancelled
 * meanwhile.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hook.h"
#include "mapped_regions.h"
#include "recording.h"
#include "shared_names.h"

HOOK_EXPORT int open(const char *path, int flags, ...);
HOOK_EXPORT int open64(const char *path, int flags, ...);
HOOK_EXPORT int openat(int folder, const char *path, int flags, ...);
HOOK_EXPORT int openat64(int folder, const char *path, int flags, ...);
HOOK_EXPORT int unlink(const char *path);
HOOK_EXPORT int unlinkat(int folder, const char *path, int flags);
HOOK_EXPORT int remove(const char *path);
HOOK_EXPORT int ftruncate(int file, off_t size);
HOOK_EXPORT int ftruncate64(int file, off64_t size);
HOOK_EXPORT int posix_fallocate(int file, off_t offset, off_t size);
HOOK_EXPORT int posix_fallocate64(int file, off64_t offset, off64_t size);
HOOK_EXPORT int shm_open(const char *name, int flags, mode_t mode);
HOOK_EXPORT int shm_unlink(const char *name);
HOOK_EXPORT int shmget(key_t key, size_t size, int flags);
HOOK_EXPORT void *shmat(int segment, const void *address, int flags);
HOOK_EXPORT int shmdt(const void *address);
HOOK_EXPORT int shmctl(int segment, int command, struct shmid_ds *status);
HOOK_EXPORT void _exit(int status) __attribute__((noreturn));
HOOK_EXPORT void _Exit(int status) __attribute__((noreturn));

static const char shm_folder[] = "/dev/shm/";

static bool is_shm_path(const char *path)
{
    return path && strncmp(path, shm_folder, sizeof(shm_folder) - 1) == 0;
}

/* --- files --------------------------------------------------------------------------------- */

typedef int open_function(const char *path, int flags, ...);
typedef int openat_function(int folder, const char *path, int flags, ...);
typedef int path_function(const char *path);
typedef int unlinkat_function(int folder, const char *path, int flags);

static const char *const no_libraries[] = {NULL};
static struct hook_slot real_open = {.name = "open64", .libraries = no_libraries};
static struct hook_slot real_openat = {.name = "openat64", .libraries = no_libraries};
static struct hook_slot real_unlink = {.name = "unlink", .libraries = no_libraries};
static struct hook_slot real_unlinkat = {.name = "unlinkat", .libraries = no_libraries};
static struct hook_slot real_remove = {.name = "remove", .libraries = no_libraries};
static struct hook_slot real_allocate = {.name = "posix_fallocate64", .libraries = no_libraries};

/* Now: who opens a file later may be inside his own malloc, where the loader must not be asked. */
__attribute__((constructor)) static void find_calls(void)
{
    hook_real(&real_open);
    hook_real(&real_openat);
    hook_real(&real_unlink);
    hook_real(&real_unlinkat);
    hook_real(&real_remove);
    hook_real(&real_allocate);
}

static int kernel_open(int folder, const char *path, int flags, mode_t mode)
{
    return (int)syscall(SYS_openat, folder, path, flags | O_LARGEFILE, mode);
}

static int open_and_record(const char *path, int flags, mode_t mode, struct unwind_registers from)
{
    bool is_recorded = flags & O_CREAT && !recording_makes_no_calls() && regions_enter();
    int error = errno, file;
    struct stat status;

    /* One that was there is not of our making. */
    if (is_recorded && fstatat(AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        regions_leave();
        is_recorded = false;
    }
    errno = error;
    file = kernel_open(AT_FDCWD, path, flags, mode);
    error = errno;
    if (is_recorded) {
        if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode))
            shared_name_made(shared_name_of_file(&status), path, 0, regions_site(from));
        regions_leave();
    }
    errno = error;
    return file;
}

static mode_t mode_of(int flags, va_list rest)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
}

static int open_path(const char *path, int flags, mode_t mode, struct unwind_registers from)
{
    open_function *real;

    if (is_shm_path(path))
        return open_and_record(path, flags, mode, from);
    real = (open_function *)atomic_load_explicit(&real_open.real, memory_order_acquire);
    return real ? real(path, flags, mode) : kernel_open(AT_FDCWD, path, flags, mode);
}

static int open_path_at(int folder, const char *path, int flags, mode_t mode,
                        struct unwind_registers from)
{
    openat_function *real;

    if (is_shm_path(path))
        return open_and_record(path, flags, mode, from);
    real = (openat_function *)atomic_load_explicit(&real_openat.real, memory_order_acquire);
    return real ? real(folder, path, flags, mode) : kernel_open(folder, path, flags, mode);
}

/* On the processors that we know, the names with 64 are the same functions. */
#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list rest;                                                                              \
        mode_t mode;                                                                               \
                                                                                                   \
        va_start(rest, flags);                                                                     \
        mode = mode_of(flags, rest);                                                               \
        va_end(rest);                                                                              \
        return open_path(path, flags, mode, unwind_caller());                                      \
    }
OPEN(open)
OPEN(open64)
#undef OPEN

#define OPENAT(name)                                                                               \
    int name(int folder, const char *path, int flags, ...)                                         \
    {                                                                                              \
        va_list rest;                                                                              \
        mode_t mode;                                                                               \
                                                                                                   \
        va_start(rest, flags);                                                                     \
        mode = mode_of(flags, rest);                                                               \
        va_end(rest);                                                                              \
        return open_path_at(folder, path, flags, mode, unwind_caller());                           \
    }
OPENAT(openat)
OPENAT(openat64)
#undef OPENAT

static int unlink_and_record(int folder, const char *path, int flags)
{
    bool is_recorded = is_shm_path(path) && !recording_makes_no_calls() && regions_enter();
    int error = errno, result;
    struct stat status;
    bool is_known = is_recorded && fstatat(AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                    S_ISREG(status.st_mode) && status.st_nlink == 1;

    errno = error;
    result = (int)syscall(SYS_unlinkat, folder, path, flags);
    error = errno;
    if (is_known && result == 0)
        shared_name_unlinked(shared_name_of_file(&status));
    if (is_recorded)
        regions_leave();
    errno = error;
    return result;
}

int unlink(const char *path)
{
    path_function *real =
        (path_function *)atomic_load_explicit(&real_unlink.real, memory_order_acquire);

    return is_shm_path(path) || !real ? unlink_and_record(AT_FDCWD, path, 0) : real(path);
}

int unlinkat(int folder, const char *path, int flags)
{
    unlinkat_function *real =
        (unlinkat_function *)atomic_load_explicit(&real_unlinkat.real, memory_order_acquire);

    return is_shm_path(path) || !real ? unlink_and_record(folder, path, flags)
                                      : real(folder, path, flags);
}

/* As the C library does it. */
static int remove_and_record(const char *path)
{
    int result = unlink_and_record(AT_FDCWD, path, 0);

    return result != 0 && errno == EISDIR ? rmdir(path) : result;
}

int remove(const char *path)
{
    path_function *real =
        (path_function *)atomic_load_explicit(&real_remove.real, memory_order_acquire);

    return is_shm_path(path) || !real ? remove_and_record(path) : real(path);
}

/* It may have a name of ours. */
static void size_changed(int file)
{
    int error = errno;
    struct stat status;

    if (shared_names_is_empty() || recording_makes_no_calls() || !regions_enter())
        return;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode))
        shared_name_sized(&status);
    regions_leave();
    errno = error;
}

static int truncate_and_record(int file, off64_t size)
{
    int result = (int)syscall(SYS_ftruncate, file, size);

    if (result == 0)
        size_changed(file);
    return result;
}

int ftruncate(int file, off_t size)
{
    return truncate_and_record(file, size);
}

int ftruncate64(int file, off64_t size)
{
    return truncate_and_record(file, size);
}

static int allocate_and_record(int file, off64_t offset, off64_t size)
{
    int (*real)(int, off64_t, off64_t) = (int (*)(int, off64_t, off64_t))hook_real(&real_allocate);
    int result = real ? real(file, offset, size) : ENOSYS;

    if (result == 0)
        size_changed(file);
    return result;
}

int posix_fallocate(int file, off_t offset, off_t size)
{
    return allocate_and_record(file, offset, size);
}

int posix_fallocate64(int file, off64_t offset, off64_t size)
{
    return allocate_and_record(file, offset, size);
}

/* --- the end ------------------------------------------------------------------------------- */

/* Workers of Python end like this, past all that is to be done at an exit. */
void _exit(int status)
{
    recording_exiting();
    shared_names_end();
    recording_ends_at_once(status & 0xff);
    for (;;)
        syscall(SYS_exit_group, status);
}

void _Exit(int status)
{
    _exit(status);
}

/* --- POSIX --------------------------------------------------------------------------------- */

/* The path that the C library makes of a name; false: it refuses it. */
static bool shm_path(const char *name, char path[SHARED_NAME_MOST + sizeof(shm_folder)])
{
    size_t length;

    while (*name == '/')
        name++;
    length = strlen(name);
    if (!length || length >= SHARED_NAME_MOST || strchr(name, '/'))
        return false;
    memcpy(path, shm_folder, sizeof(shm_folder) - 1);
    memcpy(path + sizeof(shm_folder) - 1, name, length + 1);
    return true;
}

int shm_open(const char *name, int flags, mode_t mode)
{
    char path[SHARED_NAME_MOST + sizeof(shm_folder)];
    struct unwind_registers from = unwind_caller();

    if (shm_path(name, path))
        return open_and_record(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode, from);
    errno = EINVAL;
    return -1;
}

int shm_unlink(const char *name)
{
    char path[SHARED_NAME_MOST + sizeof(shm_folder)];
    int result;

    if (!shm_path(name, path)) {
        errno = ENOENT;
        return -1;
    }
    result = unlink_and_record(AT_FDCWD, path, 0);
    if (result != 0 && errno == EPERM) /* as the C library says it */
        errno = EACCES;
    return result;
}

/* --- System V ------------------------------------------------------------------------------ */

static bool segment_ask(int segment, struct shmid_ds *status)
{
    return syscall(SYS_shmctl, segment, IPC_STAT, status) == 0;
}

/* Of our making: one that nobody has used yet. */
static bool segment_is_new(int segment, key_t key, int flags, struct shmid_ds *status)
{
    return segment_ask(segment, status) && (key == IPC_PRIVATE || flags & IPC_CREAT) &&
           status->shm_cpid == getpid() && !status->shm_atime && !status->shm_nattch;
}

int shmget(key_t key, size_t size, int flags)
{
    struct unwind_registers from = unwind_caller();
    int segment = (int)syscall(SYS_shmget, key, size, flags), error = errno;
    struct shmid_ds status;
    char name[64];

    if (segment >= 0 && !recording_makes_no_calls() && regions_enter()) {
        if (segment_is_new(segment, key, flags, &status)) {
            snprintf(name, sizeof(name), "System V segment %d (key %#x)", segment, (unsigned)key);
            shared_name_made(shared_name_of_segment(segment), name, status.shm_segsz,
                             regions_site(from));
        }
        regions_leave();
    }
    errno = error;
    return segment;
}

void *shmat(int segment, const void *address, int flags)
{
    struct unwind_registers from = unwind_caller();
    void *result = (void *)syscall(SYS_shmat, segment, address, flags);
    struct region region = {.begin = (uintptr_t)result, .kind = REGION_SHARED};
    int error = errno;
    struct shmid_ds status;

    if (result != MAP_FAILED && !recording_makes_no_calls() && regions_enter()) {
        if (segment_ask(segment, &status)) {
            region.end = region.begin + status.shm_segsz;
            region.site = regions_site(from);
            regions_remember(region);
        }
        regions_leave();
    }
    errno = error;
    return result;
}

int shmdt(const void *address)
{
    bool is_recorded = !regions_is_empty() && regions_enter();
    struct region region;
    int result, error;

    if (is_recorded && regions_find((uintptr_t)address, &region) &&
        region.begin == (uintptr_t)address)
        regions_forget(region.begin, region.end);
    result = (int)syscall(SYS_shmdt, address);
    error = errno;
    if (is_recorded)
        regions_leave();
    errno = error;
    return result;
}

int shmctl(int segment, int command, struct shmid_ds *status)
{
    int result = (int)syscall(SYS_shmctl, segment, command, status), error = errno;

    if (result == 0 && command == IPC_RMID && regions_enter()) {
        shared_name_unlinked(shared_name_of_segment(segment));
        regions_leave();
    }
    errno = error;
    return result;
}
