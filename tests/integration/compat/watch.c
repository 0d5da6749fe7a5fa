/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that change a tensor, on the fake Ascend stack: what they leave in it is known, so the
 * check sums of --watch are, too.
 *
 *   step: make  tensor 0 = 1, tensor 1 = 2 (two outputs, inside one block of a pool)
 *         add   tensor 0 = 3
 *         look  reads tensor 0
 *         free  of the block of the pool, when the word `free` is given, before `look`
 *         last
 *
 *   compat_watch [free | fail | kill | twice | address | nowhere | told]...
 *
 * `told`: the tracer is told by its own functions, as of PyTorch's operators, and not by marks.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "fake_ascend.h"
#include "leaktide/tracer.h"
#include "mstx_client.h"

enum { TENSOR_BYTES = 5 * 1024 * 1024 + 3, FIRST_OFFSET = 512, BLOCK_BYTES = 12 * 1024 * 1024 };
enum { WRITE = 2, OUTPUT = 4 };

bool mt_control(const char *line, char *answer, size_t answer_bytes) __attribute__((weak));

static int word_count;
static char **words;
static unsigned char *block;
static void *pool;

static bool has(const char *word)
{
    for (int i = 1; i < word_count; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

static unsigned char *tensor_at(int number)
{
    return block + FIRST_OFFSET + number * TENSOR_BYTES;
}

static void say(const char *kind, const char *name)
{
    char message[128];

    if (has("told")) {
        (*kind == 'b' ? mt_tracer()->operator_begin : mt_tracer()->operator_end)(name);
        return;
    }
    snprintf(message, sizeof(message), "memscope-aten-%s: name=%s", kind, name);
    mstx.mark(message, NULL);
}

static void write_tensor(const char *name, int number, int value)
{
    char message[256];

    if (aclrtMemset(tensor_at(number), TENSOR_BYTES, value, TENSOR_BYTES) != 0)
        puts("the tensor cannot be written");
    if (has("told")) {
        mt_tracer()->tensor_access("pta", tensor_at(number), TENSOR_BYTES, WRITE | OUTPUT, name,
                                   "torch.uint8", "");
        return;
    }
    snprintf(message, sizeof(message),
             "memscope-aten-ac:ptr=%" PRIu64 ";is_write=True;is_read=False;is_output=True;name=%s;"
             "shape=torch.Size([1]);dtype=torch.uint8;tensor_size=%d;device=npu:1",
             (uint64_t)(uintptr_t)tensor_at(number), name, TENSOR_BYTES);
    mstx.mark(message, NULL);
}

static void region(bool begins)
{
    struct mstx_virtual_range range = {1, block, BLOCK_BYTES};
    struct mstx_regions regions = {.count = 1, .ranges = &range};
    struct mstx_region_reference reference = {.address = block};
    struct mstx_region_references references = {1, &reference};

    if (begins)
        mstx.regions_register(pool, &regions);
    else
        mstx.regions_unregister(pool, &references);
}

static void step(void)
{
    say("b", "aten.make");
    region(true);
    write_tensor("aten.make", 0, 1);
    write_tensor("aten.make", 1, 2);
    say("e", "aten.make");
    say("b", "aten.add/x");
    write_tensor("aten.add/x", 0, 3);
    if (has("fail"))
        fake_hal_fail_next_copy(1);
    say("e", "aten.add/x");
    if (has("kill"))
        raise(SIGKILL);
    if (has("free"))
        region(false);
    say("b", "aten.look");
    say("e", "aten.look");
    say("b", "aten.last");
    say("e", "aten.last");
    say("b", "aten.after");
    say("e", "aten.after");
    if (!has("free"))
        region(false);
}

/* By its address, as the binding for Python does it. */
static void watch_address(void)
{
    char line[128], answer[256];
    uint64_t address = has("nowhere") ? UINT64_C(0x12cf00000000) : (uintptr_t)tensor_at(0);

    snprintf(line, sizeof(line), "watch %" PRIu64 " %d 4 mine", address, TENSOR_BYTES);
    if (!mt_control || !mt_control(line, answer, sizeof(answer)))
        puts("the tensor cannot be watched");
}

int main(int argc, char **argv)
{
    word_count = argc;
    words = argv;
    if (!mstx_start())
        return 77; /* no tracer */
    aclInit(NULL);
    aclrtSetDevice(1);
    if (aclrtMalloc((void **)&block, BLOCK_BYTES, ACL_POLICY_HUGE_FIRST) != 0)
        return 1;
    pool = mstx.domain_create("ptaCaching");
    if (has("address") || has("nowhere"))
        watch_address();
    step();
    if (has("twice"))
        step();
    aclrtFree(block);
    return 0;
}
