/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of ATB, made from ascend_atb.def: an operator begins and ends around the call.
 *
 * Its name is asked of the runner itself, by a function of the library that returns a std::string.
 * Of that only what every C++ program relies on is used: where the text is, how long it is, and
 * that a text elsewhere than in the object belongs to operator delete. Where the function is
 * missing, as in builds with the old strings, the operator goes by the name of its class; where
 * anything is odd, the call goes on without a name. The operator runs in every case.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "guard.h"
#include "hook.h"
#include "mstx_text.h"
#include "recorder.h"

enum { NAME_BYTES = 256, ATB_FAILED = 2 /* a status that is no success */ };

/* libstdc++, since GCC 5. */
struct cxx_string {
    char *bytes;
    size_t size_bytes;
    char local[16];
};

typedef struct cxx_string (*name_getter)(const void *runner);
typedef void (*cxx_delete)(void *block);

static const char *const atb_libraries[] = {"libatb.so", NULL};

static struct hook_slot get_name = {"_ZNK3atb6Runner16GetOperationNameB5cxx11Ev", atb_libraries,
                                    NULL};
static struct hook_slot delete_block = {"_ZdlPv", (const char *const[]){"libstdc++.so.6", NULL},
                                        NULL};

/* A short text lies in the object, which was returned through the stack. */
static bool is_in_object(const struct cxx_string *string)
{
    uintptr_t distance = (uintptr_t)string->bytes - (uintptr_t)string + 4096;

    return string->size_bytes < sizeof(string->local) && distance < 8192;
}

static struct text name_take(const void *runner, char *kept)
{
    name_getter get = (name_getter)hook_asked(&get_name);
    cxx_delete give_back = (cxx_delete)hook_asked(&delete_block);
    struct cxx_string string;
    size_t size;

    if (!get || !give_back)
        return text_of("atb::Runner");
    string = get(runner);
    size = string.size_bytes < NAME_BYTES - 5 ? string.size_bytes : NAME_BYTES - 5;
    memcpy(kept, "atb::", 5);
    memcpy(kept + 5, is_in_object(&string) ? string.local : string.bytes, size);
    if (!is_in_object(&string))
        give_back(string.bytes);
    return (struct text){kept, 5 + size};
}

typedef int (*runner_call)(void *runner, void *pack);

static int runner_execute(struct hook_slot *slot, void *runner, void *pack)
{
    runner_call real = (runner_call)hook_real(slot);
    char kept[NAME_BYTES];
    struct text name;
    int status;

    if (!real)
        return ATB_FAILED;
    if (!config_get()->records_device)
        return real(runner, pack);
    name = name_take(runner, kept);
    if (guard_enter(LAYER_MARKS)) {
        record_operator_begin(name);
        guard_leave(LAYER_MARKS);
    }
    status = real(runner, pack);
    if (guard_enter(LAYER_MARKS)) {
        int saved_errno = errno;

        record_operator_end(name);
        errno = saved_errno;
        guard_leave(LAYER_MARKS);
    }
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
