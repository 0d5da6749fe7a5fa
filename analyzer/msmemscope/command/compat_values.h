/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function an option: reads its value, checks it strictly, and keeps it in the request.
 *
 * False when the value is wrong; `why` then says what would be right.
 */
#ifndef LEAKTIDE_CLI_COMPAT_VALUES_H
#define LEAKTIDE_CLI_COMPAT_VALUES_H

#include "compat_request.h"

#define COMPAT_VALUE(name)                                                                         \
    bool name(struct compat_request *request, const char *value, struct text_builder *why)

COMPAT_VALUE(compat_set_help);
COMPAT_VALUE(compat_set_version);
COMPAT_VALUE(compat_set_debug);
COMPAT_VALUE(compat_set_quiet);
COMPAT_VALUE(compat_set_level);
COMPAT_VALUE(compat_set_events);
COMPAT_VALUE(compat_set_steps);
COMPAT_VALUE(compat_set_call_stack);
COMPAT_VALUE(compat_set_collect_mode);
COMPAT_VALUE(compat_set_device);
COMPAT_VALUE(compat_set_analysis);
COMPAT_VALUE(compat_set_compare);
COMPAT_VALUE(compat_set_watch);
COMPAT_VALUE(compat_set_input);
COMPAT_VALUE(compat_set_output);
COMPAT_VALUE(compat_set_format);
COMPAT_VALUE(compat_set_log_level);
COMPAT_VALUE(compat_set_host_leak_mode);
COMPAT_VALUE(compat_set_block_size_threshold);
COMPAT_VALUE(compat_set_sample_rate);
COMPAT_VALUE(compat_set_pid);
COMPAT_VALUE(compat_set_command);
COMPAT_VALUE(compat_set_mstx_info);
COMPAT_VALUE(compat_set_start_index);
COMPAT_VALUE(compat_set_mem_size);
COMPAT_VALUE(compat_set_inefficient_type);
COMPAT_VALUE(compat_set_idle_threshold);
COMPAT_VALUE(compat_set_strict);
COMPAT_VALUE(compat_set_layout);
COMPAT_VALUE(compat_set_kernel_names);

#undef COMPAT_VALUE

#endif
