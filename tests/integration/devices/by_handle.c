/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that loads the device runtimes itself and looks their functions up on their handles,
 * as torch_npu and CUDA's static runtime do: "by_handle ACL-LIBRARY CUDA-DRIVER". One block of
 * each stays. Prints as ascend_steps.c does, and whose malloc comes after the program.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIB = 1024 };

static int failures;

static void *look_up(void *library, const char *name)
{
    void *found = dlsym(library, name);

    if (!found) {
        printf("%s: %s\n", name, dlerror());
        exit(EXIT_FAILURE);
    }
    return found;
}

static void use_acl(void *library)
{
    int (*set_device)(int32_t) = look_up(library, "aclrtSetDevice");
    int (*alloc)(void **, size_t, int) = look_up(library, "aclrtMalloc");
    int (*release)(void *) = look_up(library, "aclrtFree");
    void *kept = NULL, *address = NULL;

    failures += set_device(0) != 0;
    failures += alloc(&kept, 48 * KIB, 0) != 0;
    failures += alloc(&address, 64 * KIB, 0) != 0;
    failures += release(address) != 0;
    printf("left acl %" PRIuPTR " %d\n", (uintptr_t)kept, 48 * KIB);
}

static void use_cuda(void *library)
{
    int (*get)(const char *, void **, int, uint64_t, int *) =
        look_up(library, "cuGetProcAddress_v2");
    int (*retain)(void **, int) = look_up(library, "cuDevicePrimaryCtxRetain");
    int (*push)(void *) = look_up(library, "cuCtxPushCurrent_v2");
    int (*alloc)(uint64_t *, size_t) = NULL;
    void *context = NULL;
    uint64_t address = 0;
    int result;

    failures += retain(&context, 0) != 0 || push(context) != 0;
    failures += get("cuMemAlloc", (void **)&alloc, 12000, 0, &result) != 0;
    failures += alloc(&address, 16 * KIB) != 0;
    printf("left cuda %" PRIu64 " %d\n", address, 16 * KIB);
}

/* What dlsym(RTLD_NEXT) says depends on who asks. */
static void tell_next_malloc(void)
{
    Dl_info info;
    void *next = dlsym(RTLD_NEXT, "malloc");

    if (next && dladdr(next, &info))
        fprintf(stderr, "malloc of %s\n", strrchr(info.dli_fname, '/') + 1);
    if (dlsym(RTLD_DEFAULT, "no_such_function") || !dlerror())
        failures++;
}

int main(int argc, char **argv)
{
    void *acl = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void *cuda = argc > 2 ? dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) : NULL;

    if (!acl || !cuda) {
        fprintf(stderr, "usage: by_handle ACL-LIBRARY CUDA-DRIVER\n");
        return EXIT_FAILURE;
    }
    use_acl(acl);
    use_cuda(cuda);
    tell_next_malloc();
    return failures;
}
