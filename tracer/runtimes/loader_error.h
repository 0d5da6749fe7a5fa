/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loader's last error stays the program's: ours is forgotten.
 *
 * dlerror would forget it too, but it translates the message first, under the lock of the locales.
 * A program that allocates in newlocale or setlocale holds that lock in our hook: the C library
 * then gives it back twice, and the next setlocale waits for ever. So nothing of ours calls
 * dlerror.
 */
#ifndef LOADER_ERROR_H
#define LOADER_ERROR_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>

/* Each question that has an answer forgets the error of the one before. */
static inline void loader_error_forget(void)
{
    (void)dlsym(RTLD_DEFAULT, "free");
}

#endif
