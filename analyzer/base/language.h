/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The language of sentences: English, or that of a catalogue.
 *
 * A catalogue is analyzer/base/languages/LANGUAGE.po, in the format of GNU gettext, so that its
 * tools can edit it; the build makes a table of it. It is not looked for at run time: the command
 * speaks Chinese in a container that has no locales, and wherever it is installed.
 * Rejected: gettext of the C library, which needs a locale of that name and an installed file.
 */
#ifndef LEAKTIDE_BASE_LANGUAGE_H
#define LEAKTIDE_BASE_LANGUAGE_H

#include <stdbool.h>

/*
 * "zh", "zh_CN.UTF-8", "en", "C", "POSIX"; for all sentences from now on. False: there is no such
 * language, and nothing changes. Before other threads ask for sentences.
 */
bool language_choose(const char *name);
/* What the environment asks for: LC_ALL, LC_MESSAGES or LANG, the first that is set; or English. */
void language_choose_usual(void);
bool language_is_english(void);

/* The translation; the text itself where the catalogue has none. Text may be NULL. Any thread. */
const char *language_find(const char *english);

#endif
