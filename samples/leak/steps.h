/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says where a step begins and ends: as Ascend programs do, by an mstx range called "step start";
 * without mstx, by mt_step_begin and mt_step_end.
 */
#ifndef LEAK_SAMPLE_STEPS_H
#define LEAK_SAMPLE_STEPS_H

void steps_open(void);
void step_begin(void);
void step_end(void);

#endif
