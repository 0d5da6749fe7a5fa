/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a picture needs.
 */
#ifndef LEAKTIDE_ANALYSES_PICTURE_ANALYSES_H
#define LEAKTIDE_ANALYSES_PICTURE_ANALYSES_H

#include "analysis.h"

extern const struct block_analysis picture_analysis;

#endif
