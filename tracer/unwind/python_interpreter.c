/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "python_interpreter.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "loader_error.h"
#include "python_deaths.h"

enum { PATH_BYTES = 4096 };

struct python_interpreter python_interpreter;
static _Atomic uint32_t unread;

static void *symbol(void *library, const char *name)
{
    void *address = dlsym(library, name);

    if (!address)
        loader_error_forget(); /* so that the program does not read our failure as its own */
    return address;
}

/* --- libraries -------------------------------------------------------------------------- */

/* The first object that was opened and is called libpython3...; its path, or "". */
static int library_note(struct dl_phdr_info *info, size_t size, void *path)
{
    const char *name = strrchr(info->dlpi_name, '/');

    (void)size;
    name = name ? name + 1 : info->dlpi_name;
    if (strncmp(name, "libpython3", 10) != 0 || strlen(info->dlpi_name) >= PATH_BYTES)
        return 0;
    strcpy(path, info->dlpi_name);
    return 1;
}

/* What is loaded and stays loaded; NULL: nothing of that path is. */
static void *library_kept(const char *path)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);

    if (!library)
        loader_error_forget();
    return library;
}

/* Where its functions are asked for: everywhere, or in one that was opened for itself alone. */
static bool library_find(bool may_load, void **library)
{
    void *version = symbol(RTLD_DEFAULT, "Py_GetVersion");
    char path[PATH_BYTES] = "";
    Dl_info info;

    *library = RTLD_DEFAULT;
    if (version) {
        if (may_load && dladdr(version, &info) && info.dli_fname)
            library_kept(info.dli_fname); /* of the program itself there is nothing to keep */
        return true;
    }
    if (may_load && dl_iterate_phdr(library_note, path))
        *library = library_kept(path);
    return *library && symbol(*library, "Py_GetVersion");
}

/* --- what is in it ---------------------------------------------------------------------- */

static void loop_find(void *library)
{
    void *loop = symbol(library, "_PyEval_EvalFrameDefault");
    const ElfW(Sym) *entry = NULL;
    Dl_info info;

    if (loop && dladdr1(loop, &info, (void **)&entry, RTLD_DL_SYMENT) && entry) {
        python_interpreter.loop_start = (uint64_t)(uintptr_t)loop;
        python_interpreter.loop_end = python_interpreter.loop_start + entry->st_size;
    }
}

static bool functions_find(void *library)
{
    struct python_interpreter *python = &python_interpreter;

    python->is_initialized = (int (*)(void))symbol(library, "Py_IsInitialized");
    python->this_thread = (void *(*)(void))symbol(library, "PyGILState_GetThisThreadState");
    python->line_of = (int (*)(void *, int))symbol(library, "PyCode_Addr2Line");
    python->code_type = symbol(library, "PyCode_Type");
    loop_find(library);
    return python->is_initialized && python->this_thread && python->line_of && python->code_type;
}

void python_find(bool may_load)
{
    struct python_interpreter *python = &python_interpreter;
    const char *(*version)(void);
    void *library;

    if (python_is_here() || !library_find(may_load, &library))
        return;
    version = (const char *(*)(void))symbol(library, "Py_GetVersion");
    if (!python_layout_find(version(), symbol(library, "_PyRuntime"), &python->layout) ||
        !functions_find(library)) {
        atomic_store(&unread, python_version(version()));
        return;
    }
    python_deaths_watch(python->code_type, python->layout.dealloc);
    atomic_store_explicit(&python->is_here, true, memory_order_release);
}

uint32_t python_unread(void)
{
    return python_is_here() ? 0 : atomic_load(&unread);
}
