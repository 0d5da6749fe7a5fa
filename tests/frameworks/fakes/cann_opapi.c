/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fake libopapi.so: operators do nothing; those of a matrix product ask for FAKE_NPU_WORKSPACE
 * bytes of workspace, default 0. What is not here answers 0.
 */
#include <stdint.h>
#include <stdlib.h>

static int workspace(uint64_t *size, void **executor)
{
    static char executor_of_all;
    const char *text = getenv("FAKE_NPU_WORKSPACE");

    *size = text ? strtoull(text, NULL, 0) : 0;
    *executor = &executor_of_all;
    return 0;
}

#define ASKS_FOR_WORKSPACE(name)                                                                   \
    int name(void *first, void *second, void *output, int8_t option, uint64_t *size,               \
             void **executor)                                                                      \
    {                                                                                              \
        (void)first, (void)second, (void)output, (void)option;                                     \
        return workspace(size, executor);                                                          \
    }
#define GIVES(name)                                                                                \
    void *name(void)                                                                               \
    {                                                                                              \
        return calloc(1, 64);                                                                      \
    }
#define DROPS(name)                                                                                \
    int name(void *object)                                                                         \
    {                                                                                              \
        free(object);                                                                              \
        return 0;                                                                                  \
    }

ASKS_FOR_WORKSPACE(aclnnMatmulGetWorkspaceSize)
ASKS_FOR_WORKSPACE(aclnnMmGetWorkspaceSize)
ASKS_FOR_WORKSPACE(aclnnBatchMatMulGetWorkspaceSize)
GIVES(aclCreateTensor)
DROPS(aclDestroyTensor)
GIVES(aclCreateScalar)
DROPS(aclDestroyScalar)
GIVES(aclCreateIntArray)
DROPS(aclDestroyIntArray)
GIVES(aclCreateFloatArray)
DROPS(aclDestroyFloatArray)
GIVES(aclCreateBoolArray)
DROPS(aclDestroyBoolArray)
GIVES(aclCreateTensorList)
DROPS(aclDestroyTensorList)
GIVES(aclCreateScalarList)
DROPS(aclDestroyScalarList)
