/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What mstx looks for in a preloaded library.
 */
#include "ascend_mstx.h"
#include "hook.h"

HOOK_EXPORT int InitInjectionMstx(mstx_table_getter get);

HOOK_EXPORT int InitInjectionMstx(mstx_table_getter get)
{
    return mstx_inject(get);
}
