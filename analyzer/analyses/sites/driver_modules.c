/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the Ascend driver's modules, by number.
 */
#include "driver_modules.h"

#include <stddef.h>

const char *driver_module_name(uint32_t number)
{
    static const char *const names[] = {
        [0] = "UNKNOWN",      [1] = "IDEDD",     [2] = "IDEDH",
        [3] = "HCCL",         [4] = "FMK",       [5] = "HIAIENGINE",
        [6] = "DVPP",         [7] = "RUNTIME",   [8] = "CCE",
        [9] = "HLT",          [22] = "DEVMM",    [24] = "LIBMEDIA",
        [25] = "CCECPU",      [26] = "ASCENDDK", [27] = "HCCP_SCHE",
        [28] = "HCCP",        [29] = "ROCE",     [30] = "TEFUSION",
        [31] = "PROFILING",   [32] = "DP",       [33] = "APP",
        [35] = "TSDUMP",      [36] = "AICPU",    [37] = "AICPU_SCHE",
        [38] = "TDT",         [39] = "FE",       [40] = "MD",
        [41] = "MB",          [42] = "ME",       [45] = "GE",
        [48] = "ASCENDCL",    [54] = "PROCMGR",  [56] = "AIVECTOR",
        [57] = "TBE",         [58] = "FV",       [60] = "TUNE",
        [61] = "HSS",         [62] = "FFTS",     [63] = "OP",
        [64] = "UDF",         [65] = "HICAID",   [66] = "TSYNC",
        [67] = "AUDIO",       [68] = "TPRT",     [69] = "ASCENDCKERNEL",
        [70] = "ASYS",        [71] = "ATRACE",   [72] = "RTC",
        [73] = "SYSMONITOR",  [74] = "AML",      [75] = "MBUFF",
        [76] = "CUSTOM_SCHE",
    };

    return number < sizeof(names) / sizeof(names[0]) ? names[number] : NULL;
}
