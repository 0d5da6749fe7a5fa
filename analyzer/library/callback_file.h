/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream whose bytes go to a function.
 */
#ifndef LEAKTIDE_LIBRARY_CALLBACK_FILE_H
#define LEAKTIDE_LIBRARY_CALLBACK_FILE_H

#include <stdio.h>

#include "leaktide/answer.h"

/* To be closed with fclose(). NULL without memory. After write returned false, EIO is in errno. */
FILE *callback_file_open(mt_write_function write, void *context, struct mt_error *error);

#endif
