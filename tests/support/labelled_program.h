/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Made-up programs whose leaks are known: what a verdict is measured with.
 *
 * A program is one to three processes on one or two devices that do 3 to 300 steps. In each ledger
 * several actors allocate, each at a site of its own that bears the actor's name: weights,
 * gradients, caches, queues, sawteeth ..., and now and then one that leaks. Everything follows from
 * the seed. Events go straight into a tally.
 */
#ifndef LEAKTIDE_TESTS_LABELLED_PROGRAM_H
#define LEAKTIDE_TESTS_LABELLED_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h"
#include "tally.h"

enum { LABELS_MAX = 128 };

/* What a site really does. */
enum truth {
    TRUTH_HARMLESS,
    TRUTH_LEAK,
    TRUTH_UNKNOWABLE /* leaks, but in fewer steps than anybody can judge from */
};

struct label {
    char site[48];     /* the site's own name: "p0d1 gradients 3" */
    const char *actor; /* "gradients" */
    enum truth truth;
};

struct labelled_program {
    struct label labels[LABELS_MAX];
    size_t label_count;
    uint32_t step_count;
    size_t process_count;
};

/* Feeds all events into the tally and says in *program what is in them. has_interpreters: also
 * caches of names, and lines that keep nearly all they make. Aborts without memory. */
void labelled_program_run(uint64_t seed, bool has_interpreters, struct model *model,
                          struct tally *tally, struct labelled_program *program);

#endif
