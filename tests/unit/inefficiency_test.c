/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that are used badly, by the definitions of msmemscope.
 *
 * A story is a text of words: "(" and ")" an operator of the dispatcher begins and ends, "[" and
 * "]" a node of autograd, "+a" block a is taken, "-a" given back, "a" used; "{" and "}" the program
 * begins and ends the recording. The answer lists the blocks with what is wrong with them.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "inefficiency.h"

static void tell(struct inefficiency *judge, const char *story, enum dump_pool pool,
                 uint64_t process_id)
{
    for (; *story; story++) {
        struct inefficiency_event event = {.pool = pool, .process_id = process_id};

        if (*story == ' ')
            continue;
        if (strchr("([])", *story)) {
            event.event = strchr("([", *story) ? DUMP_OPERATOR_BEGIN : DUMP_OPERATOR_END;
            event.name = strchr("()", *story) ? "torch._ops.aten.mm.default" : "MmBackward0";
        } else if (strchr("{}", *story))
            event.event = *story == '{' ? DUMP_TRACE_BEGIN : DUMP_TRACE_END;
        else if (*story == '+')
            event.event = DUMP_MALLOC;
        else
            event.event = *story == '-' ? DUMP_FREE : DUMP_ACCESS;
        if (*story == '+' || *story == '-')
            story++;
        if (isalpha((unsigned char)*story))
            event.block = event.number = (uint32_t)*story;
        assert_true(inefficiency_take(judge, &event));
    }
}

static void write_answer(const struct inefficiency *judge, char *text)
{
    *text = 0;
    for (size_t i = 0; i < inefficiency_count(judge); i++) {
        char names[INEFFICIENCY_NAMES_BYTES];
        uint32_t types, number = inefficiency_at(judge, i, &types);

        inefficiency_names(types, names);
        text += sprintf(text, "%s%c:%s", i ? " " : "", (char)number, names);
    }
}

static const struct story {
    const char *name, *story, *expected;
} stories[] = {
    {"used at once, given back at once", "(+a a) -a", ""},
    {"taken before another was given back", "(+b b) (+a) (b) (-b) (a)", "a:early_allocation"},
    {"first use in the call that gives back", "(+b b) (+a) (b) (-b a)", ""},
    {"nothing given back before the first use", "(+b b) (+a) () (a)", ""},
    {"given back before it was taken", "(+b b) (-b) (+a) (a)", ""},
    {"only the last free counts", "(+b b) (+a) (b) (-b) (a) (a)", "a:early_allocation"},
    {"given back after another was taken", "(+a a) (+b b) () (-a)", "a:late_deallocation"},
    {"given back in the call that takes", "(+a a) (+b b -a)", ""},
    {"nothing taken since the last use", "(+b b) (+a a) () (-a)", ""},
    {"never used", "(+a) (+b b) () (-a)", ""},
    {"a block outside of operators is a call", "(+a a) +b () -a", "a:late_deallocation"},
    {"a free outside of operators is a call", "(+b b) (+a) (b) -b (a)", "a:early_allocation"},
    {"early and late", "(+b b) (+a) (b) (-b) (a) (+c c) -a",
     "a:early_allocation,late_deallocation"},
    {"idle for longer than three calls", "(+a a) () () () (a)", "a:temporary_idleness"},
    {"idle for three calls", "(+a a) () () (a)", ""},
    {"a use outside of operators is a call", "(+a a) a a a (a)", ""},
    {"first used after the call that took it", "(+b b) (+a a) (b) (-b) (a)", "a:early_allocation"},
    {"only the first use after that call counts", "(+b b) (+a a) (a b) (-b) (a)", ""},
    {"a node is no call", "[(+a a)] [] [] [] (a)", ""},
    {"what a node takes between its operators", "(+b b) [(+a a) () +c] -a", "a:late_deallocation"},
    {"what an operator's node takes is the operator's", "(+a a [+b]) -a", ""},
    {"nodes alone are calls", "[+a a] [+b b] [] [-a]", "a:late_deallocation"},
    {"a block of before the recording", "(+b b) +a { () (-b) (a) (+c) -a", ""},
    {"a free after the recording", "{ (+a a) (+b b) } -a", ""},
    {"a free after the second recording", "{ (+a a) } { (+b b) (+c c) () (-b) }",
     "b:late_deallocation"},
    {"an address that is used again", "(+a a) (-a) (+a a) (+b b) -a", "a:late_deallocation"},
};

static void blocks_are_judged(void **state)
{
    const struct story *story = *state;
    struct inefficiency *judge = inefficiency_create(3);
    char text[256];

    tell(judge, story->story, DUMP_POOL_PTA, 1);
    write_answer(judge, text);
    assert_string_equal(text, story->expected);
    inefficiency_destroy(judge);
}

static void processes_and_pools_count_for_themselves(void **state)
{
    struct inefficiency *judge = inefficiency_create(3);
    char text[256];

    (void)state;
    tell(judge, "(+a a)", DUMP_POOL_PTA, 1);
    tell(judge, "(+b b) ()", DUMP_POOL_PTA, 2);
    tell(judge, "(+c c) ()", DUMP_POOL_ATB, 1);
    tell(judge, "(-a)", DUMP_POOL_PTA, 1);
    tell(judge, "(+a a) (+b) -a", DUMP_POOL_HAL, 1); /* the driver's are not judged */
    write_answer(judge, text);
    assert_string_equal(text, "");
    inefficiency_destroy(judge);
}

int main(void)
{
    enum { story_count = sizeof(stories) / sizeof(stories[0]) };
    struct CMUnitTest tests[story_count + 1] = {
        cmocka_unit_test(processes_and_pools_count_for_themselves),
    };

    for (size_t i = 0; i < story_count; i++)
        tests[i + 1] = (struct CMUnitTest){.name = stories[i].name,
                                           .test_func = blocks_are_judged,
                                           .initial_state = (void *)&stories[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
