/* SPDX-License-Identifier: Apache-2.0 */
/* A locale that is made before main. */
#ifndef EARLY_LOCALE_H
#define EARLY_LOCALE_H

#include <locale.h>

extern locale_t early_locale;

#endif
