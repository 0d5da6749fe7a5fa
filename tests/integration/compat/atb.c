/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs operators of the fake ATB: a short name, a long one, and one that fails.
 */
#include <stdio.h>

#include "fake_ascend.h"

struct fake_runner {
    const char *name;
    void *block;
};

int execute(struct fake_runner *runner,
            void *pack) __asm__("_ZN3atb6Runner7ExecuteERNS_17RunnerVariantPackE");

int main(void)
{
    struct fake_runner runners[] = {{"LinearRunner", NULL},
                                    {"SelfAttentionFusionRunnerOfALongName", NULL}};

    aclInit(NULL);
    aclrtSetDevice(0);
    for (int i = 0; i < 2; i++)
        printf("%d ", execute(&runners[i], NULL));
    printf("%d\n", execute(&runners[0], runners));
    return 0;
}
