/* SPDX-License-Identifier: Apache-2.0 */
/* Five steps of a training-like program on an Ascend stack; see ascend_steps.c. */
#ifndef LEAKTIDE_TEST_ASCEND_STEPS_H
#define LEAKTIDE_TEST_ASCEND_STEPS_H

/* 0 when every call answered as a healthy stack does. */
int ascend_steps(void);

#endif
