/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of the tensors that are watched, and of the blocks of devices.
 */
#include <stdint.h>
#include <string.h>

#include "config_double.h"
#include "death.h"
#include "device_blocks.h"
#include "watch.c"

static void make(void)
{
}

static void add(struct tensor tensor)
{
    memset(tensor.name, 'x', sizeof(tensor.name));
    tensor_add(&tensor, 1);
}

DAMAGE(make, tensor_of_no_bytes, add((struct tensor){.address = 16}))
DAMAGE(make, tensor_of_endless_name, add((struct tensor){.address = 16, .size_bytes = 16}))
DAMAGE(make, outputs_most, open_operators.output_count = OUTPUTS_MAX + 1;
       outputs_adopt(&(struct watched_operator){.name = text_of("x")}))

int main(void)
{
    return deaths_run();
}
