/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec and posix_spawn: a program that brings a sanitizer's runtime along, or in which the tracer
 * cannot live, is given an LD_PRELOAD that it can work with; the others get what is there. See
 * leaktide/preload.h. A program that confined itself hands on no tracer: the filter is kept, and
 * what the tracer does at its start may be forbidden.
 *
 * Runs in children of fork and of vfork, which share their parent's memory: takes no lock and no
 * heap, writes nothing but its own stack and a count, closes what it opens. The stack may be that
 * of a signal handler: beside what the C library takes itself, it is less than 1 KiB, and the
 * environment's pointers where one of them changes. Where the environment is too large for that, or
 * the file cannot be read, the call is as it was.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hook.h"
#include "leaktide/preload.h"
#include "recording.h"

#define NOINLINE __attribute__((noinline))

enum { PRELOAD_MAX_BYTES = 4096, ENVIRONMENT_MAX = 2048 };

static const char preload_name[] = "LD_PRELOAD=", audit_name[] = "LD_AUDIT=";

/* The calls that others are made of. */
#define CALLS(CALL)                                                                                \
    CALL(execve)                                                                                   \
    CALL(execvpe)                                                                                  \
    CALL(execveat)                                                                                 \
    CALL(fexecve)                                                                                  \
    CALL(posix_spawn)                                                                              \
    CALL(posix_spawnp)

enum call {
#define CALL(symbol) CALL_##symbol,
    CALLS(CALL)
#undef CALL
        CALL_COUNT
};

static const char *const no_libraries[] = {NULL};
static struct hook_slot calls[CALL_COUNT] = {
#define CALL(symbol) {.name = #symbol, .libraries = no_libraries},
    CALLS(CALL)
#undef CALL
};

/* What is to be run, and how. */
struct request {
    enum call call;
    const char *path; /* or name */
    char *const *arguments;
    int file, flags; /* execveat, fexecve */
    pid_t *process;  /* posix_spawn */
    const posix_spawn_file_actions_t *actions;
    const posix_spawnattr_t *attributes;
};

HOOK_EXPORT int execve(const char *path, char *const arguments[], char *const environment[]);
HOOK_EXPORT int execv(const char *path, char *const arguments[]);
HOOK_EXPORT int execvp(const char *name, char *const arguments[]);
HOOK_EXPORT int execvpe(const char *name, char *const arguments[], char *const environment[]);
HOOK_EXPORT int execl(const char *path, const char *argument, ...);
HOOK_EXPORT int execle(const char *path, const char *argument, ...);
HOOK_EXPORT int execlp(const char *name, const char *argument, ...);
HOOK_EXPORT int execveat(int file, const char *path, char *const arguments[],
                         char *const environment[], int flags);
HOOK_EXPORT int fexecve(int file, char *const arguments[], char *const environment[]);
HOOK_EXPORT int posix_spawn(pid_t *process, const char *path,
                            const posix_spawn_file_actions_t *actions,
                            const posix_spawnattr_t *attributes, char *const arguments[],
                            char *const environment[]);
HOOK_EXPORT int posix_spawnp(pid_t *process, const char *name,
                             const posix_spawn_file_actions_t *actions,
                             const posix_spawnattr_t *attributes, char *const arguments[],
                             char *const environment[]);

/* Now: the child of a vfork must not ask the loader. */
__attribute__((constructor)) static void find_calls(void)
{
    for (int i = 0; i < CALL_COUNT; i++)
        hook_real(&calls[i]);
}

/* --- the real calls ---------------------------------------------------------------------- */

typedef int exec_function(const char *path, char *const *arguments, char *const *environment);
typedef int execveat_function(int file, const char *path, char *const *arguments,
                              char *const *environment, int flags);
typedef int fexecve_function(int file, char *const *arguments, char *const *environment);
typedef int spawn_function(pid_t *process, const char *path,
                           const posix_spawn_file_actions_t *actions,
                           const posix_spawnattr_t *attributes, char *const *arguments,
                           char *const *environment);

static bool is_spawn(const struct request *request)
{
    return request->call == CALL_posix_spawn || request->call == CALL_posix_spawnp;
}

static int carry_out(const struct request *request, char *const *environment)
{
    void *real = hook_real(&calls[request->call]);

    if (!real && is_spawn(request))
        return ENOSYS;
    if (!real) {
        errno = ENOSYS;
        return -1;
    }
    switch (request->call) {
    case CALL_execveat:
        return ((execveat_function *)real)(request->file, request->path, request->arguments,
                                           environment, request->flags);
    case CALL_fexecve:
        return ((fexecve_function *)real)(request->file, request->arguments, environment);
    case CALL_posix_spawn:
    case CALL_posix_spawnp:
        return ((spawn_function *)real)(request->process, request->path, request->actions,
                                        request->attributes, request->arguments, environment);
    default:
        return ((exec_function *)real)(request->path, request->arguments, environment);
    }
}

/* --- looking at the program --------------------------------------------------------------- */

static int program_open(const char *path)
{
    struct stat status;

    if (faccessat(AT_FDCWD, path, X_OK, 0) != 0 || stat(path, &status) != 0 ||
        !S_ISREG(status.st_mode))
        return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
}

static long program_read(int file, void *bytes, size_t size_bytes, uint64_t offset_bytes)
{
    return syscall(SYS_pread64, file, bytes, size_bytes, offset_bytes);
}

static void program_close(int file)
{
    syscall(SYS_close, file);
}

/* The folders that the C library looks in; NULL: the path is a path. */
static const char *folders_of(const struct request *request)
{
    const char *folders = getenv("PATH");

    if (request->call != CALL_execvpe && request->call != CALL_posix_spawnp)
        return NULL;
    return folders ? folders : "/bin:/usr/bin";
}

/* Not printf's, which is not for the child of a vfork. */
static char *put_number(char *out, unsigned number)
{
    if (number >= 10)
        out = put_number(out, number / 10);
    *out++ = (char)('0' + number % 10);
    return out;
}

/* A path beside an open folder, or the open file itself. */
static NOINLINE void look_beside(const struct request *request,
                                 const struct mt_program_files *files,
                                 struct mt_program_needs *needs)
{
    static const char folder[] = "/proc/self/fd/";
    const char *rest = request->path ? request->path : "";
    size_t rest_length = strlen(rest);
    char path[sizeof(folder) + 10 + (rest_length < MT_PROGRAM_PATH_MAX ? rest_length + 1 : 0)];
    char *end;

    if (request->file < 0 || rest_length >= MT_PROGRAM_PATH_MAX)
        return;
    end = put_number(strcpy(path, folder) + sizeof(folder) - 1, (unsigned)request->file);
    *end = '\0';
    if (*rest)
        strcat(strcpy(end, "/"), rest);
    mt_program_look(files, path, NULL, needs);
}

static NOINLINE void look(const struct request *request, struct mt_program_needs *needs)
{
    static const struct mt_program_files files = {program_open, program_read, program_close};
    bool is_beside = request->call == CALL_fexecve ||
                     (request->call == CALL_execveat && request->path && request->path[0] != '/' &&
                      (request->file != AT_FDCWD || !request->path[0]));

    if (is_beside)
        look_beside(request, &files, needs);
    else if (request->path)
        mt_program_look(&files, request->path, folders_of(request), needs);
}

/* --- the environment ---------------------------------------------------------------------- */

/* Where the variable is ("NAME="); the loader takes the last one. Gives the number of entries, too.
 */
static char *const *variable_find(char *const *environment, const char *name, size_t *count)
{
    size_t length = strlen(name);
    char *const *found = NULL;

    for (*count = 0; environment && environment[*count]; ++*count)
        if (strncmp(environment[*count], name, length) == 0)
            found = &environment[*count];
    return found;
}

static enum mt_program_kind kind_here(char *const *environment)
{
    size_t count;
    char *const *audit = variable_find(environment, audit_name, &count);

    return mt_program_kind_here(audit ? *audit + sizeof(audit_name) - 1 : NULL);
}

/* With one entry that is another. */
static NOINLINE int carry_out_changed(const struct request *request, char *const *environment,
                                      size_t count, size_t changed, char *text)
{
    char *copy[count + 1];

    memcpy(copy, environment, (count + 1) * sizeof(*copy));
    copy[changed] = text;
    return carry_out(request, copy);
}

/* With the LD_PRELOAD that fits what it needs. */
static NOINLINE int carry_out_with(const struct request *request, char *const *environment,
                                   const struct mt_program_needs *needs)
{
    const size_t name_length = sizeof(preload_name) - 1;
    size_t count;
    char *const *preload = variable_find(environment, preload_name, &count);
    const char *list = *preload + name_length;
    size_t size_bytes = strlen(list) + strlen(needs->runtime) + sizeof("::");
    char text[name_length + (size_bytes < PRELOAD_MAX_BYTES ? size_bytes : 1)];

    memcpy(text, preload_name, name_length);
    if (count > ENVIRONMENT_MAX ||
        !mt_preload_for(list, needs, text + name_length, sizeof(text) - name_length))
        return carry_out(request, environment);
    recording_count_left_out(needs->kind);
    return carry_out_changed(request, environment, count, (size_t)(preload - environment), text);
}

static int start(const struct request *request, char *const *environment)
{
    struct mt_program_needs needs = {.kind = MT_PROGRAM_OF_CONFINED};
    int error = errno;
    size_t count, length;
    char *const *preload = variable_find(environment, preload_name, &count);
    const char *list = preload ? *preload + sizeof(preload_name) - 1 : "";

    if (!mt_preload_tracer(list, &length))
        return carry_out(request, environment);
    if (!recording_makes_no_calls()) {
        needs.kind = MT_PROGRAM_FITS;
        look(request, &needs);
        if (needs.kind == MT_PROGRAM_FITS)
            needs.kind = kind_here(environment);
    }
    errno = error;
    if (needs.kind == MT_PROGRAM_FITS && !needs.runtime[0] && mt_preload_rest(list) == list)
        return carry_out(request, environment);
    return carry_out_with(request, environment, &needs);
}

/* --- the hooks ---------------------------------------------------------------------------- */

int execve(const char *path, char *const arguments[], char *const environment[])
{
    return start(&(struct request){.call = CALL_execve, .path = path, .arguments = arguments},
                 environment);
}

int execv(const char *path, char *const arguments[])
{
    return execve(path, arguments, environ);
}

int execvpe(const char *name, char *const arguments[], char *const environment[])
{
    return start(&(struct request){.call = CALL_execvpe, .path = name, .arguments = arguments},
                 environment);
}

int execvp(const char *name, char *const arguments[])
{
    return execvpe(name, arguments, environ);
}

int execveat(int file, const char *path, char *const arguments[], char *const environment[],
             int flags)
{
    return start(&(struct request){.call = CALL_execveat,
                                   .path = path,
                                   .arguments = arguments,
                                   .file = file,
                                   .flags = flags},
                 environment);
}

int fexecve(int file, char *const arguments[], char *const environment[])
{
    return start(&(struct request){.call = CALL_fexecve, .arguments = arguments, .file = file},
                 environment);
}

int posix_spawn(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const arguments[],
                char *const environment[])
{
    return start(&(struct request){.call = CALL_posix_spawn,
                                   .path = path,
                                   .arguments = arguments,
                                   .process = process,
                                   .actions = actions,
                                   .attributes = attributes},
                 environment);
}

int posix_spawnp(pid_t *process, const char *name, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const arguments[],
                 char *const environment[])
{
    return start(&(struct request){.call = CALL_posix_spawnp,
                                   .path = name,
                                   .arguments = arguments,
                                   .process = process,
                                   .actions = actions,
                                   .attributes = attributes},
                 environment);
}

/* How many arguments follow the first, without the NULL at their end. */
static size_t arguments_count(va_list *list)
{
    size_t count = 0;

    while (va_arg(*list, char *))
        count++;
    return count;
}

/* All of them and the NULL; `list` stands after that then. */
static void arguments_take(char **out, const char *first, size_t count, va_list *list)
{
    *out++ = (char *)first;
    for (size_t i = 0; i <= count; i++)
        *out++ = va_arg(*list, char *);
}

#define TAKE_ARGUMENTS(argument)                                                                   \
    va_list list;                                                                                  \
    va_start(list, argument);                                                                      \
    size_t count = arguments_count(&list);                                                         \
    va_end(list);                                                                                  \
    char *arguments[count + 2];                                                                    \
    va_start(list, argument);                                                                      \
    arguments_take(arguments, argument, count, &list)

int execl(const char *path, const char *argument, ...)
{
    TAKE_ARGUMENTS(argument);
    va_end(list);
    return execve(path, arguments, environ);
}

int execlp(const char *name, const char *argument, ...)
{
    TAKE_ARGUMENTS(argument);
    va_end(list);
    return execvpe(name, arguments, environ);
}

int execle(const char *path, const char *argument, ...)
{
    TAKE_ARGUMENTS(argument);
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    return execve(path, arguments, environment);
}
#undef TAKE_ARGUMENTS
