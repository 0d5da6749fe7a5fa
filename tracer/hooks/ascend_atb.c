/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of ATB, made from ascend_atb.def: an operator begins and ends around the call.
 *
 * Its name and its path in the model are asked of the runner itself, by functions of the library
 * that return a std::string. Of that only what every C++ program relies on is used: where the text
 * is, how long it is, and that a text elsewhere than in the object belongs to operator delete.
 * Where a function is missing, as in builds with the old strings, the operator goes by the name of
 * its class; where anything is odd, the call goes on without a name. What it reads and writes, and
 * its workspace, is in what it is given (atb_pack.h): inputs are read before the call, outputs are
 * written after it. The operator runs in every case.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "atb_pack.h"
#include "config.h"
#include "guard.h"
#include "hook.h"
#include "mstx_text.h"
#include "recorder.h"
#include "watch.h"

static POOL(pool_of_tensors, "pta");

enum { NAME_BYTES = 256, ATB_FAILED = 2 /* a status that is no success */ };

/* libstdc++, since GCC 5. */
struct cxx_string {
    char *bytes;
    size_t size_bytes;
    char local[16];
};

typedef struct cxx_string (*text_getter)(const void *runner);
typedef void (*cxx_delete)(void *block);

static const char *const atb_libraries[] = {"libatb.so", NULL};

static struct hook_slot get_name = {"_ZNK3atb6Runner16GetOperationNameB5cxx11Ev", atb_libraries,
                                    NULL};
static struct hook_slot get_path = {"_ZNK3atb6Runner16GetSaveTensorDirB5cxx11Ev", atb_libraries,
                                    NULL};
static struct hook_slot delete_block = {"_ZdlPv", (const char *const[]){"libstdc++.so.6", NULL},
                                        NULL};

/* A short text lies in the object, which was returned through the stack. */
static bool is_in_object(const struct cxx_string *string)
{
    uintptr_t distance = (uintptr_t)string->bytes - (uintptr_t)string + 4096;

    return string->size_bytes < sizeof(string->local) && distance < 8192;
}

/* After `start` bytes of kept, which has NAME_BYTES; empty when it cannot be asked. */
static struct text text_take(struct hook_slot *slot, const void *runner, char *kept, size_t start)
{
    text_getter get = (text_getter)hook_asked(slot);
    cxx_delete give_back = (cxx_delete)hook_asked(&delete_block);
    struct cxx_string string;
    size_t size;

    if (!get || !give_back)
        return (struct text){NULL, 0};
    string = get(runner);
    size = string.size_bytes < NAME_BYTES - start ? string.size_bytes : NAME_BYTES - start;
    memcpy(kept + start, is_in_object(&string) ? string.local : string.bytes, size);
    if (!is_in_object(&string))
        give_back(string.bytes);
    return (struct text){kept, start + size};
}

/* One call of an operator. */
struct call {
    struct text name, path;
    char kept_name[NAME_BYTES], kept_path[NAME_BYTES];
    struct atb_pack pack;
    bool has_pack;
};

static void call_describe(struct call *call, const void *runner, const void *pack)
{
    memcpy(call->kept_name, "atb::", 5);
    call->name = text_take(&get_name, runner, call->kept_name, 5);
    if (!call->name.size_bytes)
        call->name = text_of("atb::Runner");
    call->path = text_take(&get_path, runner, call->kept_path, 0);
    call->has_pack = atb_pack_read(pack, &call->pack);
}

/* "[2, 3]" */
static struct text shape_text(const struct atb_tensor *tensor, char *kept, size_t room)
{
    size_t length = 0;

    for (uint32_t i = 0; i < tensor->dimension_count && length < room; i++)
        length += (size_t)snprintf(kept + length, room - length, "%s%" PRId64, i ? ", " : "[",
                                   tensor->dimensions[i]);
    if (!length || length + 2 > room)
        return (struct text){NULL, 0};
    kept[length] = ']';
    return (struct text){kept, length + 1};
}

static void accesses_record(const struct call *call, const struct atb_tensor *tensors,
                            uint32_t count, uint64_t access)
{
    char shape[192];

    for (uint32_t i = 0; i < count; i++) {
        const struct tensor_use use = {
            .address = tensors[i].address,
            .size_bytes = tensors[i].size_bytes,
            .flags = access,
            .operator_name = {call->name.bytes + 5, call->name.size_bytes - 5},
            .dtype = text_of(atb_dtype_name(tensors[i].dtype)),
            .shape = shape_text(&tensors[i], shape, sizeof(shape))};

        if (config_get()->records_accesses)
            record_tensor_access(pool_of_tensors, &use);
        if (access == MSTX_WRITE && watch_is_on())
            watch_output(use.address, use.size_bytes);
    }
}

static void facts_record(const struct call *call)
{
    if (call->path.size_bytes || call->has_pack)
        record_note(&(struct note){.subject = text_of("atb operator"),
                                   .text = call->path,
                                   .first = call->has_pack ? call->pack.workspace_address : 0,
                                   .second = call->has_pack ? call->pack.workspace_bytes : 0});
}

static void call_begin(const struct call *call)
{
    if (!config_get()->passes_operators) {
        facts_record(call);
        record_operator_begin(call->name);
    }
    if (watch_is_on())
        watch_operator_begin(&(struct watched_operator){.name = call->name, .path = call->path});
    if (call->has_pack)
        accesses_record(call, call->pack.inputs, call->pack.input_count, MSTX_READ);
}

static void call_end(const struct call *call)
{
    if (call->has_pack)
        accesses_record(call, call->pack.outputs, call->pack.output_count, MSTX_WRITE);
    if (!config_get()->passes_operators) {
        facts_record(call);
        record_operator_end(call->name);
    }
    if (watch_is_on())
        watch_operator_end(&(struct watched_operator){.name = call->name, .path = call->path});
}

typedef int (*runner_call)(void *runner, void *pack);

static int runner_execute(struct hook_slot *slot, void *runner, void *pack)
{
    runner_call real = (runner_call)hook_real(slot);
    int saved_errno = errno;
    struct call call;
    int status;

    if (!real)
        return ATB_FAILED;
    if (!config_get()->records_device)
        return real(runner, pack);
    call_describe(&call, runner, pack);
    if (guard_enter(LAYER_MARKS)) {
        call_begin(&call);
        guard_leave(LAYER_MARKS);
    }
    errno = saved_errno;
    status = real(runner, pack);
    saved_errno = errno;
    if (guard_enter(LAYER_MARKS)) {
        call_end(&call);
        guard_leave(LAYER_MARKS);
    }
    errno = saved_errno;
    return status;
}

#define RUNNER(ours, mangled)                                                                      \
    HOOK_EXPORT int ours(void *runner, void *pack) __asm__(#mangled);                              \
    HOOK_EXPORT int ours(void *runner, void *pack)                                                 \
    {                                                                                              \
        static struct hook_slot slot = {#mangled, atb_libraries, NULL};                            \
                                                                                                   \
        return runner_execute(&slot, runner, pack);                                                \
    }
#include "ascend_atb.def"
#undef RUNNER
