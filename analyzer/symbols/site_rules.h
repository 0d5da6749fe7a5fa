/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules that say what the frames of a stack are: of an allocator, a framework, the program.
 *
 * plumbing.rules explains how they are written; it is compiled in. One thread at a time.
 */
#ifndef LEAKTIDE_SITE_RULES_H
#define LEAKTIDE_SITE_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "error_sentence.h"
#include "table.h"

/* The later, the more a frame tells about the place that asked. */
enum frame_class {
    CLASS_START,
    CLASS_ALLOCATOR,
    CLASS_INTERPRETER,
    CLASS_LIBRARY,
    CLASS_MACHINERY,
    CLASS_NATIVE,
    CLASS_OPERATOR,
    CLASS_STDLIB,
    CLASS_BACKWARD,
    CLASS_FRAMEWORK,
    CLASS_PACKAGE,
    CLASS_PROGRAM,
    FRAME_CLASS_COUNT
};

/* What of a stretch of such frames counts in the stable id. */
enum id_part { ID_NOTHING, ID_ENTRY, ID_EVERYTHING };

struct frame_class_facts {
    const char *name;  /* in rules */
    const char *whose; /* "the interpreter": for "12 frames of the interpreter" */
    bool is_plumbing;
    enum id_part id_part;
};

extern const struct frame_class_facts frame_classes[FRAME_CLASS_COUNT];

struct site_rules {
    struct arena arena;
    struct table rules;
};

/* What is known of a frame; "" where it is not. */
struct frame_words {
    const char *function, *file, *module; /* module: base name */
    bool is_python;
};

void site_rules_init(struct site_rules *rules);
void site_rules_release(struct site_rules *rules);

/* After the rules that are there already. MT_USAGE tells the line that is wrong. */
enum mt_result site_rules_add_file(struct site_rules *rules, const char *path,
                                   struct mt_error *error);
enum mt_result site_rules_add_built_in(struct site_rules *rules, struct mt_error *error);

enum frame_class site_rules_class(const struct site_rules *rules, const struct frame_words *words);

#endif
