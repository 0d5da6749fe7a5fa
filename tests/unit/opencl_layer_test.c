/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OpenCL layer, loaded as the ICD loader loads it. This program stands for the preloaded
 * tracer: it exports mt_opencl_recorder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "opencl_api.h"

enum { LOADER_ENTRIES = 149, CREATE_BUFFER = 14, RETAIN_OBJECT = 17, SVM_FREE = 127 };

static struct opencl_recorder recorder;
static const struct opencl_calls *seen_real;
static uint64_t seen_site;
static char of_the_real_call;

__attribute__((visibility("default"))) const struct opencl_recorder *mt_opencl_recorder(void);
const struct opencl_recorder *mt_opencl_recorder(void)
{
    return recorder.size_bytes ? &recorder : NULL;
}

static cl_mem create_buffer(const struct opencl_calls *real, struct unwind_registers from,
                            cl_context context, cl_bitfield flags, size_t size_bytes, void *host,
                            cl_int *errcode)
{
    seen_real = real;
    seen_site = from.pc;
    return real->clCreateBuffer(context, flags, size_bytes, host, errcode);
}

static cl_mem real_create_buffer(cl_context context, cl_bitfield flags, size_t size_bytes,
                                 void *host, cl_int *errcode)
{
    (void)context, (void)flags, (void)host;
    *errcode = (cl_int)size_bytes;
    return (cl_mem)&of_the_real_call;
}

struct layer {
    void *library;
    cl_int (*info)(cl_uint what, size_t size_bytes, void *value, size_t *got);
    cl_int (*start)(cl_uint entry_count, void *const *target, cl_uint *own_count,
                    void *const **own);
};

static struct layer layer_load(void)
{
    struct layer layer = {.library = dlopen(OPENCL_LAYER_PATH, RTLD_NOW | RTLD_LOCAL)};

    assert_non_null(layer.library);
    *(void **)&layer.info = dlsym(layer.library, "clGetLayerInfo");
    *(void **)&layer.start = dlsym(layer.library, "clInitLayer");
    assert_non_null(layer.info);
    assert_non_null(layer.start);
    return layer;
}

/* Starts a fresh layer on a loader that has a few functions. */
static struct layer layer_start(cl_uint entry_count, cl_uint *own_count, void *const **own)
{
    static void *target[LOADER_ENTRIES];
    struct layer layer = layer_load();

    target[CREATE_BUFFER] = (void *)real_create_buffer;
    target[RETAIN_OBJECT] = (void *)real_create_buffer; /* any function will do */
    assert_int_equal(layer.start(entry_count, target, own_count, own), CL_SUCCESS);
    return layer;
}

static void layer_says_its_version_and_name(void **state)
{
    struct layer layer = layer_load();
    cl_uint version = 0;
    char name[16];
    size_t got = 0;

    (void)state;
    assert_int_equal(layer.info(0x4240, sizeof(version), &version, &got), CL_SUCCESS);
    assert_int_equal(version, 100);
    assert_int_equal(got, sizeof(version));
    assert_int_equal(layer.info(0x4241, 0, NULL, &got), CL_SUCCESS);
    assert_int_equal(got, sizeof("leaktide"));
    assert_int_equal(layer.info(0x4241, sizeof(name), name, NULL), CL_SUCCESS);
    assert_string_equal(name, "leaktide");
    assert_int_equal(layer.info(0x4241, 3, name, NULL), CL_INVALID_VALUE);
    assert_int_equal(layer.info(1, sizeof(name), name, NULL), CL_INVALID_VALUE);
    dlclose(layer.library);
}

static void layer_without_a_tracer_takes_no_call(void **state)
{
    void *const *own = NULL;
    cl_uint own_count = 0;
    struct layer layer;

    (void)state;
    recorder.size_bytes = 0;
    layer = layer_start(LOADER_ENTRIES, &own_count, &own);
    for (cl_uint i = 0; i < own_count; i++)
        assert_null(own[i]);
    dlclose(layer.library);
}

static void layer_of_another_build_takes_no_call(void **state)
{
    void *const *own = NULL;
    cl_uint own_count = 0;
    struct layer layer;

    (void)state;
    recorder.size_bytes = sizeof(recorder) + sizeof(void *);
    layer = layer_start(LOADER_ENTRIES, &own_count, &own);
    assert_null(own[CREATE_BUFFER]);
    dlclose(layer.library);
}

static void layer_passes_calls_to_the_tracer(void **state)
{
    void *const *own = NULL;
    cl_uint own_count = 0;
    cl_int status = 0;
    cl_mem (*create)(cl_context, cl_bitfield, size_t, void *, cl_int *);
    struct layer layer;

    (void)state;
    recorder =
        (struct opencl_recorder){.size_bytes = sizeof(recorder), .clCreateBuffer = create_buffer};
    layer = layer_start(LOADER_ENTRIES, &own_count, &own);
    assert_in_range(own_count, SVM_FREE + 1, LOADER_ENTRIES);
    assert_non_null(own[RETAIN_OBJECT]);
    assert_null(own[SVM_FREE]); /* the loader has none */
    create = (cl_mem(*)(cl_context, cl_bitfield, size_t, void *, cl_int *))own[CREATE_BUFFER];
    assert_ptr_equal(create(NULL, 0, 4711, NULL, &status), &of_the_real_call);
    assert_int_equal(status, 4711);
    assert_true(seen_site != 0);
    assert_null(seen_real->clSVMFree);
    dlclose(layer.library);
}

static void short_dispatch_table_is_not_overrun(void **state)
{
    void *const *own = NULL;
    cl_uint own_count = 0;
    struct layer layer;

    (void)state;
    recorder =
        (struct opencl_recorder){.size_bytes = sizeof(recorder), .clCreateBuffer = create_buffer};
    layer = layer_start(CREATE_BUFFER + 1, &own_count, &own);
    assert_non_null(own[CREATE_BUFFER]);
    assert_null(own[RETAIN_OBJECT]);
    dlclose(layer.library);
}

static void wrong_use_is_refused(void **state)
{
    struct layer layer = layer_load();
    cl_uint own_count;

    (void)state;
    assert_int_equal(layer.start(0, NULL, &own_count, NULL), CL_INVALID_VALUE);
    dlclose(layer.library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layer_says_its_version_and_name),
        cmocka_unit_test(layer_without_a_tracer_takes_no_call),
        cmocka_unit_test(layer_of_another_build_takes_no_call),
        cmocka_unit_test(layer_passes_calls_to_the_tracer),
        cmocka_unit_test(short_dispatch_table_is_not_overrun),
        cmocka_unit_test(wrong_use_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
