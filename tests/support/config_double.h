/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration that a test may change: implements config_get() of tracer/config/config.h. */
#ifndef LEAKTIDE_TESTS_CONFIG_DOUBLE_H
#define LEAKTIDE_TESTS_CONFIG_DOUBLE_H

#include "config.h"

/* Records everything until a test says otherwise. */
extern struct config double_config;

void double_config_reset(void);

#endif
