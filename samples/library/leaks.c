/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the leaks of recordings: one line each, with what it loses in a step and where.
 */
#include <inttypes.h>
#include <stdio.h>

#include <leaktide/analyzer.h>

static void print_leak(const struct mt_finding *leak)
{
    printf("%" PRIu64 " bytes per step at %s (%s)\n",
           mt_value_number(mt_finding_value(leak, "growth_bytes_per_step")),
           mt_value_text(mt_finding_value(leak, "site")),
           mt_value_text(mt_finding_value(leak, "ledger")));
}

int main(int argc, char **argv)
{
    const char *const *paths = (const char *const *)argv + 1;
    struct mt_trace *trace = NULL;
    struct mt_answer *answer = NULL;
    const struct mt_finding *leak;
    struct mt_error error;
    int status = 0;

    if (mt_trace_open(paths, (size_t)argc - 1, &trace, &error) == MT_OK &&
        mt_trace_ask(trace, "leaks", NULL, &answer, &error) == MT_OK) {
        for (size_t i = 0; (leak = mt_answer_finding_at(answer, i)); i++)
            print_leak(leak);
        status = mt_answer_outcome(answer) == MT_OUTCOME_FOUND;
    } else {
        fprintf(stderr, "%s\n", error.message);
        status = 2;
    }
    mt_answer_close(answer);
    mt_trace_close(trace);
    return status;
}
