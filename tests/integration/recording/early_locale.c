/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library that makes a locale when it is loaded, as p11-kit does. Its block is the first of the
 * program, and the C library holds the lock of its locales meanwhile.
 */
#include "early_locale.h"

__attribute__((visibility("default"))) locale_t early_locale;

__attribute__((constructor)) static void make_early_locale(void)
{
    early_locale = newlocale(LC_ALL_MASK, "POSIX", (locale_t)0);
}
