/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements torch_python.h.
 *
 * Whether PyTorch's import is over is known to Python alone. So the interpreter is asked to run the
 * code (Py_AddPendingCall, from any thread and without its lock), at the first operator, the
 * second, the fourth and so on, until the code says that it is at work. From then on it is asked to
 * look for weights of models, as seldom.
 */
#include "torch_python.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "config.h"
#include "hook.h"
#include "recorder.h"
#include "torch_operators.h"
#include "watch.h"

enum { FILE_INPUT = 257 /* Py_file_input */ };

/* `state` of the code. */
enum { NOT_READY, TELLS_OWNERS, TELLS_ACCESSES };

__asm__(".section .rodata\n"
        ".globl torch_python_code\n" /* not a local one: see torch_operator_entry */
        ".hidden torch_python_code\n"
        "torch_python_code:\n"
        ".incbin \"" TORCH_PYTHON_CODE "\"\n"
        ".byte 0\n"
        ".previous\n");
extern __attribute__((visibility("hidden"))) const char torch_python_code[];

static const char *const no_libraries[] = {NULL};

static struct {
    int (*later)(int (*call)(void *), void *argument);
    void *(*module)(const char *name); /* borrowed */
    void *(*names_of)(void *module);   /* borrowed */
    void *(*run)(const char *code, int start, void *globals, void *locals, void *flags);
    void *(*name)(void *names, const char *name); /* borrowed */
    long (*number)(void *object);
    void (*error_clear)(void);
    void (*release)(void *object);
} python;

static _Atomic uint64_t operators;
static _Atomic int state; /* what the code said */
static _Atomic bool is_asked;
static _Atomic bool has_no_more; /* nothing is to be asked: there is no Python, or it fails */

static bool python_find(void)
{
    const struct {
        const char *name;
        void **place;
    } names[] = {{"Py_AddPendingCall", (void **)&python.later},
                 {"PyImport_AddModule", (void **)&python.module},
                 {"PyModule_GetDict", (void **)&python.names_of},
                 {"PyRun_StringFlags", (void **)&python.run},
                 {"PyDict_GetItemString", (void **)&python.name},
                 {"PyLong_AsLong", (void **)&python.number},
                 {"PyErr_Clear", (void **)&python.error_clear},
                 {"Py_DecRef", (void **)&python.release}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        *names[i].place = hook_find(names[i].name, no_libraries);
        if (!*names[i].place)
            return false;
    }
    return true;
}

static bool run(const char *code, void *names)
{
    void *result = python.run(code, FILE_INPUT, names, names, NULL);

    if (!result) {
        python.error_clear();
        return false;
    }
    python.release(result);
    return true;
}

bool torch_python_tells_operators(void)
{
    return config_get()->records_accesses || watch_is_on();
}

static int wanted(void)
{
    return torch_python_tells_operators() ? TELLS_ACCESSES : TELLS_OWNERS;
}

/* Something of this PyTorch is not as the code expects it. */
static void give_up(void)
{
    bool has_accesses = wanted() == TELLS_ACCESSES;

    atomic_store(&state, TELLS_ACCESSES);
    atomic_store(&has_no_more, true);
    if (!guard_enter(LAYER_OPERATORS))
        return;
    record_note(&(struct note){.subject = text_of(has_accesses ? "no accesses" : "no owners"),
                               .text = text_of("PyTorch")});
    guard_leave(LAYER_OPERATORS);
}

static bool is_at_work(void)
{
    return atomic_load_explicit(&state, memory_order_relaxed) >= wanted();
}

static bool wants_set(void *names)
{
    return run(wanted() == TELLS_ACCESSES ? "WANTS_ACCESSES = True" : "WANTS_ACCESSES = False",
               names) &&
           run(config_get()->passes_weights ? "WANTS_WEIGHTS = False" : "WANTS_WEIGHTS = True",
               names) &&
           run(config_get()->wants_layers ? "WANTS_LAYERS = True" : "WANTS_LAYERS = False", names);
}

static void begin(void *names)
{
    void *said;

    if (names && wants_set(names) && run(torch_python_code, names)) {
        said = python.name(names, "state");
        atomic_store(&state, said ? (int)python.number(said) : NOT_READY);
        torch_operators_leave(atomic_load(&state) == TELLS_ACCESSES);
    } else {
        give_up();
    }
    atomic_store(&operators, 0);
}

/* With the interpreter's lock, in its main thread. */
static int code_run(void *unused)
{
    void *module = python.module("leaktide_torch");
    void *names = module ? python.names_of(module) : NULL;

    (void)unused;
    if (!is_at_work())
        begin(names);
    else if (!names || !run("look()", names))
        atomic_store(&has_no_more, true);
    atomic_store(&is_asked, false);
    return 0;
}

static void ask(void)
{
    if (!python.later && !python_find())
        atomic_store(&has_no_more, true);
    else if (!atomic_exchange(&is_asked, true) && python.later(code_run, NULL) != 0)
        atomic_store(&is_asked, false); /* too many wait */
}

void torch_python_look(void)
{
    uint64_t count;

    if (atomic_load_explicit(&has_no_more, memory_order_relaxed) || recorder_is_paused())
        return;
    /* About so many: of two threads at once one may be lost, and no operator waits for another. */
    count = atomic_load_explicit(&operators, memory_order_relaxed) + 1;
    atomic_store_explicit(&operators, count, memory_order_relaxed);
    if ((count & (count - 1)) == 0)
        ask();
}
