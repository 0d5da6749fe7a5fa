/* SPDX-License-Identifier: Apache-2.0 */
/* A fake libacl_rt_impl.so: kernel launches, in terms of rt*. */
#include "fake_ascend.h"

int aclrtLaunchKernelImpl(void *function, uint32_t blocks, const void *data, size_t size,
                          void *stream)
{
    (void)data;
    (void)size;
    return rtLaunchKernelByFuncHandleV2(function, blocks, NULL, stream, NULL);
}

int aclrtLaunchKernelV2Impl(void *function, uint32_t blocks, const void *data, size_t size,
                            void *config, void *stream)
{
    (void)config;
    return aclrtLaunchKernelImpl(function, blocks, data, size, stream);
}

int aclrtLaunchKernelWithConfigImpl(void *function, uint32_t blocks, void *stream, void *config,
                                    void *arguments, void *reserved)
{
    (void)config;
    (void)arguments;
    (void)reserved;
    return aclrtLaunchKernelImpl(function, blocks, NULL, 0, stream);
}

int aclrtLaunchKernelWithHostArgsImpl(void *function, uint32_t blocks, void *stream, void *config,
                                      void *data, size_t size, void *places, size_t place_count)
{
    (void)config;
    (void)places;
    (void)place_count;
    return aclrtLaunchKernelImpl(function, blocks, data, size, stream);
}
