/* SPDX-License-Identifier: Apache-2.0 */
/* A fake libtorch_cpu.so: its observers of operators, and operators that do nothing. */
#ifndef LEAKTIDE_FAKE_TORCH_H
#define LEAKTIDE_FAKE_TORCH_H

#include <stdbool.h>
#include <stdint.h>

/* at::RecordFunction, as far as it is asked. */
struct fake_function {
    const char *name, *overload;
};

/* std::unique_ptr<ObserverContext>, and more than two registers hold: returned through memory. */
struct fake_context {
    void *context, *unused[2];
};

/* at::RecordFunctionCallback */
struct fake_observer {
    struct fake_context (*begin)(const struct fake_function *function);
    void (*end)(const struct fake_function *function, void *context);
    double sampling_probability;
    bool scopes[10];
    bool needs_inputs, needs_outputs, needs_ids;
};

uint64_t _ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE(struct fake_observer observer);
const char *_ZNK2at14RecordFunction4nameEv(const struct fake_function *function);
const char *_ZNK2at14RecordFunction13overload_nameEv(const struct fake_function *function);

/* An operator begins, runs the body, and ends. False: an observer left a context. */
bool fake_torch_run(int scope, const char *name, const char *overload, void (*body)(void));

#endif
