/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the leaks of recordings: one line each, with what it loses in a step and where; or why
 * nobody can say whether something leaks.
 */
#include <inttypes.h>
#include <stdio.h>

#include <leaktide/analyzer.h>

static void print_leak(const struct mt_finding *leak)
{
    const struct mt_value *rate = mt_finding_value(leak, "growth_bytes_per_step");

    if (mt_value_kind(rate) == MT_VALUE_NONE) { /* not known: the sentence says what stays */
        printf("%s\n", mt_finding_sentence(leak));
        return;
    }
    printf("%" PRIu64 " bytes per step at %s (%s)\n", mt_value_number(rate),
           mt_value_text(mt_finding_value(leak, "site")),
           mt_value_text(mt_finding_value(leak, "ledger")));
}

static int print_leaks(const struct mt_answer *answer)
{
    const struct mt_finding *leak;
    const char *sentence;

    for (size_t i = 0; (leak = mt_answer_finding_at(answer, i)); i++)
        print_leak(leak);
    switch (mt_answer_outcome(answer)) {
    case MT_OUTCOME_FINE:
        return 0;
    case MT_OUTCOME_FOUND:
        return 1;
    default: /* no leak was found, but that is no "no leak" */
        for (size_t i = 0; (sentence = mt_answer_verdict_at(answer, i)); i++)
            fprintf(stderr, "%s\n", sentence);
        return 4;
    }
}

int main(int argc, char **argv)
{
    const char *const *paths = (const char *const *)argv + 1;
    struct mt_trace *trace = NULL;
    struct mt_answer *answer = NULL;
    struct mt_error error;
    int status;

    if (mt_trace_open(paths, (size_t)argc - 1, &trace, &error) == MT_OK &&
        mt_trace_ask(trace, "leaks", NULL, &answer, &error) == MT_OK) {
        status = print_leaks(answer);
    } else {
        fprintf(stderr, "%s\n", error.message);
        status = 2;
    }
    mt_answer_close(answer);
    mt_trace_close(trace);
    return status;
}
