/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements torch_operators.h.
 *
 * Libraries of PyTorch have no C interface for this, so its C++ is called as the processor's rules
 * for it say. RecordFunctionCallback is passed by value and trivial: as a struct of C. The context
 * that a beginning returns is not trivial: whoever calls gives the room for it, in a register that
 * C has for other things, hence torch_operator_entry. Since 2.1 the struct is the same; an older
 * one is told by what its allocators report, which takes other integers.
 */
#define _GNU_SOURCE
#include "torch_operators.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "config.h"
#include "guard.h"
#include "hook.h"
#include "leaktide/profiler_step.h"
#include "recorder.h"
#include "torch_python.h"

enum {
    SCOPE_FUNCTION = 0, /* at::RecordScope */
    SCOPE_BACKWARD = 1,
    SCOPE_USER = 7,
    SCOPE_COUNT = 10,
    NAME_BYTES = 256,
    OPEN_MOST = 32 /* deeper ones end without a row, if the interpreter takes over within them */
};

/* at::RecordFunctionCallback */
struct observer {
    void (*begin)(void);
    void (*end)(const void *function, void *context);
    double sampling_probability;
    bool scopes[SCOPE_COUNT];
    bool needs_inputs, needs_outputs, needs_ids;
};

static const char *const torch_libraries[] = {"libtorch_cpu.so", NULL};
static const char *const core_libraries[] = {"libc10.so", NULL};

static struct {
    const char *(*name)(const void *function);
    const char *(*overload)(const void *function); /* NULL before 2.7 */
} torch;

static _Atomic bool is_settled, is_left;
static _Atomic bool may_have_come = true;

/* The operators that began here and have not ended, innermost last: where the interpreter takes
 * over within one, its end is still told here. Kept only where it may. */
static __thread struct {
    const void *functions[OPEN_MOST];
    unsigned count;
} begun __attribute__((tls_model("initial-exec")));

/* --- events ----------------------------------------------------------------------------- */

/* PyTorch's own frames around a node of autograd, and around a mode of the dispatcher (our own,
 * too), say nothing that the operator inside does not. Few names begin like one of them. */
static bool is_frame(const char *name)
{
    static const char *const frames[] = {"autograd::engine::", "PythonDispatchMode",
                                         "PythonSubclass"};

    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++)
        if (name[0] == frames[i][0] && name[1] == frames[i][1] &&
            strncmp(name, frames[i], strlen(frames[i])) == 0)
            return true;
    return false;
}

static bool is_wanted(const char *name)
{
    if (is_frame(name))
        return false;
    return !atomic_load_explicit(&is_left, memory_order_relaxed) || !strstr(name, "::");
}

static void begun_push(const void *function)
{
    if (begun.count < OPEN_MOST && torch_python_tells_operators())
        begun.functions[begun.count++] = function;
}

/* Whether it began here. */
static bool begun_pop(const void *function)
{
    if (!begun.count || begun.functions[begun.count - 1] != function)
        return false;
    begun.count--;
    return true;
}

/* "aten::add.Tensor", as schemas are written. */
static struct text full_name(const void *function, const char *name, char *room)
{
    const char *overload = torch.overload ? torch.overload(function) : "";
    size_t length = strnlen(name, NAME_BYTES - 1), more = strlen(overload);

    if (!more || length + 1 + more >= NAME_BYTES)
        return (struct text){name, length};
    memcpy(room, name, length);
    room[length] = '.';
    memcpy(room + length + 1, overload, more);
    return (struct text){room, length + 1 + more};
}

/* "ProfilerStep#7": by its beginning, prof.step() says that the one before it is over. */
static void look_for_step(const char *name)
{
    uint64_t number;

    if (name[0] == MT_PROFILER_STEP[0] && mt_profiler_step(name, strlen(name), &number))
        record_profiler_step(number);
}

static void begin_record(const void *function, const char *name)
{
    char room[NAME_BYTES];

    look_for_step(name);
    if (config_get()->passes_operators || !is_wanted(name))
        return;
    begun_push(function);
    record_operator_begin(full_name(function, name, room));
}

static void end_record(const void *function, const char *name)
{
    char room[NAME_BYTES];

    if (begun_pop(function) || is_wanted(name))
        record_operator_end(full_name(function, name, room));
}

static void operator_record(const void *function,
                            void (*record)(const void *function, const char *name))
{
    int saved_errno = errno;
    const char *name;

    if (!guard_enter(LAYER_OPERATORS))
        return;
    name = torch.name(function);
    if (name)
        record(function, name);
    guard_leave(LAYER_OPERATORS);
    errno = saved_errno;
}

static void operator_end(const void *function, void *context)
{
    (void)context;
    if (!config_get()->passes_operators)
        operator_record(function, end_record);
}

void torch_operator_begin(const void *function);
void torch_operator_begin(const void *function)
{
    torch_python_look();
    operator_record(function, begin_record);
}

/* std::unique_ptr<ObserverContext> (const RecordFunction &): there is none. Global: of a local name
 * gas makes its section, and on aarch64 the address that C reads for it is then the first function
 * of this file. */
__attribute__((visibility("hidden"))) void torch_operator_entry(void);
#if defined(__x86_64__)
__asm__(".text\n"
        ".globl torch_operator_entry\n"
        ".hidden torch_operator_entry\n"
        ".type torch_operator_entry, @function\n"
        "torch_operator_entry:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    pushq %rdi\n" /* where the context goes, which is also what is returned */
        "    .cfi_adjust_cfa_offset 8\n"
        "    movq $0, (%rdi)\n"
        "    movq %rsi, %rdi\n"
        "    call torch_operator_begin\n"
        "    popq %rax\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size torch_operator_entry, . - torch_operator_entry\n");
#elif defined(__aarch64__)
__asm__(".text\n"
        ".globl torch_operator_entry\n"
        ".hidden torch_operator_entry\n"
        ".type torch_operator_entry, %function\n"
        "torch_operator_entry:\n"
        "    .cfi_startproc\n"
        "    hint #34\n" /* bti c */
        "    str xzr, [x8]\n"
        "    b torch_operator_begin\n"
        "    .cfi_endproc\n"
        ".size torch_operator_entry, . - torch_operator_entry\n");
#endif

void torch_operators_leave(bool is_now_left)
{
    atomic_store(&is_left, is_now_left);
}

/* --- PyTorch comes ---------------------------------------------------------------------- */

static int is_torch(struct dl_phdr_info *info, size_t size, void *data)
{
    const char *slash = strrchr(info->dlpi_name, '/');

    (void)size, (void)data;
    return slash && strcmp(slash + 1, torch_libraries[0]) == 0;
}

static bool is_known_version(void)
{
    return hook_find("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE", core_libraries) !=
           NULL;
}

/* False: this PyTorch has no such observers, or others than we know. */
static bool observe(void)
{
    uint64_t (*add)(struct observer) = (uint64_t(*)(struct observer))hook_find(
        "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE", torch_libraries);
    struct observer observer = {
        .begin = torch_operator_entry, .end = operator_end, .sampling_probability = 1};

    torch.name =
        (const char *(*)(const void *))hook_find("_ZNK2at14RecordFunction4nameEv", torch_libraries);
    torch.overload = (const char *(*)(const void *))hook_find(
        "_ZNK2at14RecordFunction13overload_nameEv", torch_libraries);
    if (!add || !torch.name || !is_known_version())
        return false;
    observer.scopes[SCOPE_FUNCTION] = observer.scopes[SCOPE_BACKWARD] = true;
    observer.scopes[SCOPE_USER] = true;
    add(observer);
    return true;
}

void torch_operators_look(void)
{
    if (atomic_load(&is_settled) || !atomic_exchange(&may_have_come, false) ||
        !dl_iterate_phdr(is_torch, NULL) || atomic_exchange(&is_settled, true) || observe() ||
        !guard_enter(LAYER_OPERATORS))
        return;
    record_note(&(struct note){.subject = text_of("no operators"), .text = text_of("PyTorch")});
    guard_leave(LAYER_OPERATORS);
}

void torch_operators_may_come(void)
{
    atomic_store(&may_have_come, true);
}
