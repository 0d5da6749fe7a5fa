/* SPDX-License-Identifier: Apache-2.0 */
/* A fake interpreter: keeps the call that it is asked for, and says of each code what the test
 * says. */
#ifndef LEAKTIDE_FAKE_PYTHON_H
#define LEAKTIDE_FAKE_PYTHON_H

#include <stdbool.h>

struct fake_python {
    int state;        /* what the code says; below 0: it fails */
    bool is_full;     /* no call is taken */
    int ask_count;    /* calls that were asked for */
    int object_count; /* references that were not let go */
    int error_count;  /* errors that were not cleared */
};

extern struct fake_python fake_python;

/* The calls that wait. False: none does. */
bool fake_python_run(void);

#endif
