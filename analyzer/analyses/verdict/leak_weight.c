/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What weighs too little to be called a leak.
 */
#include "leak_weight.h"

#include "ledger_layers.h"
#include "thresholds.h"

/* Each memory once: where pools lie in each other, the lowest has it all. */
static uint64_t peak_bytes_of(const struct tally *tally, uint16_t process)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < tally_ledger_count(tally); i++) {
        const struct ledger *ledger = tally_ledger_at(tally, i);

        if (ledger->process == process && ledger_is_memory(ledger) && !ledger_below(tally, ledger))
            bytes += ledger->peak_bytes;
    }
    return bytes;
}

/* What exec has made another program of shares nothing. */
static bool is_fork_of(const struct model_process *process, const struct model_process *parent)
{
    return process->parent_process_id == parent->process_id &&
           process->process_id != parent->process_id && process->executable == parent->executable &&
           process->command_line == parent->command_line;
}

uint64_t leak_process_bytes(const struct tally *tally, uint16_t process)
{
    struct model *model = tally_model(tally);
    uint64_t bytes = peak_bytes_of(tally, process);

    for (size_t i = 0; i < model_process_count(model); i++) {
        uint64_t shared;

        if (!is_fork_of(model_process_at(model, process), model_process_at(model, (uint16_t)i)))
            continue;
        shared = peak_bytes_of(tally, (uint16_t)i);
        bytes = shared > bytes ? shared : bytes;
    }
    return bytes;
}

/* A program that imports more has more caches of its interpreter and of its libraries. */
static uint64_t least_bytes(uint64_t peak_bytes)
{
    uint64_t learned = peak_bytes / LEARNED_SHARE;

    if (learned < LEAK_BYTES_MIN)
        return LEAK_BYTES_MIN;
    return learned < LEARNED_BYTES_MAX ? learned : LEARNED_BYTES_MAX;
}

static bool is_trifle(uint64_t bytes, uint64_t loop_bytes, uint64_t peak_bytes)
{
    return bytes < loop_bytes / LOOP_SHARE && bytes < peak_bytes / TRIFLE_SHARE;
}

uint64_t leak_least_bytes(uint64_t loop_bytes, uint64_t peak_bytes)
{
    uint64_t least = least_bytes(peak_bytes), of_loop = loop_bytes / LOOP_SHARE,
             of_peak = peak_bytes / TRIFLE_SHARE, trifle = of_loop < of_peak ? of_loop : of_peak;

    return trifle > least ? trifle : least;
}

bool leak_is_light(uint64_t bytes, uint64_t loop_bytes, uint64_t peak_bytes)
{
    return bytes < leak_least_bytes(loop_bytes, peak_bytes);
}

bool leak_of_each_step_is_light(uint64_t bytes, uint64_t loop_bytes, uint64_t peak_bytes)
{
    return bytes < LEAK_BYTES_MIN || is_trifle(bytes, loop_bytes, peak_bytes);
}

bool leak_is_beside(uint64_t bytes, uint64_t all_bytes)
{
    return (bytes < LINE_BYTES_MIN && bytes < all_bytes / SMALL_SHARE) ||
           (bytes < LEAK_BYTES_MIN && bytes < all_bytes / LINE_SHARE);
}
