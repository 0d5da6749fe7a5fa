/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings of loops: lines of Python and functions of C make blocks of the process's own heap,
 * and `leaks` is asked about them.
 *
 *     (struct CMUnitTest)cmocka_unit_test_setup_teardown(a_test, setup, teardown)
 */
#ifndef LEAKTIDE_TESTS_LOOP_STORY_H
#define LEAKTIDE_TESTS_LOOP_STORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "event_list.h"
#include "leak_analyses.h"

enum { STEPS = 60, OTHERS = 20 };

static struct event_list list;
static struct report *report;
static uint16_t host_pool, host_place;
static uint64_t next_address;

static inline int setup(void **state)
{
    struct mt_place place = {.device = -1, .kind = MT_KIND_UNKNOWN, .module = -1};

    (void)state;
    event_list_init(&list);
    host_pool = model_pool(list.model, event_list_text(&list, "host"));
    host_place = model_place(list.model, place);
    next_address = 1 << 20;
    return report_create("leaks", &report, NULL);
}

static inline int teardown(void **state)
{
    (void)state;
    report_destroy(report);
    event_list_release(&list);
    return 0;
}

/* A line of the program, of json, or of C. */
static inline uint32_t frame_of(enum model_frame_kind kind, const char *function, uint32_t line)
{
    const char *python = strcmp(function, "decode") == 0     ? "/usr/lib/python3.11/json/decoder.py"
                         : strcmp(function, "_compile") == 0 ? "/usr/lib/python3.11/re/__init__.py"
                                                             : "job.py";

    return model_frame(list.model,
                       (struct model_frame){
                           .kind = (uint8_t)kind,
                           .function = event_list_text(&list, function),
                           .file = event_list_text(&list, kind == FRAME_PYTHON ? python : "lib.c"),
                           .line = line,
                       });
}

/* A native function that a line of Python called; line 0: nobody called it. */
static inline uint32_t site_of(const char *function, uint32_t line)
{
    uint32_t stack = 0;

    if (line)
        stack = model_stack(list.model, 0, frame_of(FRAME_PYTHON, "train", line));
    stack = model_stack(list.model, stack, frame_of(FRAME_NATIVE, function, 0));
    return model_site(list.model, (struct model_site){.stack = stack});
}

/* The same, through a function of json. */
static inline uint32_t json_site_of(const char *function, uint32_t line)
{
    uint32_t stack = model_stack(list.model, 0, frame_of(FRAME_PYTHON, "train", line));

    stack = model_stack(list.model, stack, frame_of(FRAME_PYTHON, "decode", 300));
    stack = model_stack(list.model, stack, frame_of(FRAME_NATIVE, function, 0));
    return model_site(list.model, (struct model_site){.stack = stack});
}

static inline uint64_t make_in(uint16_t pool, uint64_t bytes, uint32_t site)
{
    uint64_t address = next_address;

    next_address += bytes + 16;
    event_list_add(&list, (struct event){.kind = EVENT_ALLOC,
                                         .address = address,
                                         .value = bytes,
                                         .site = site,
                                         .place = host_place,
                                         .pool = pool});
    return address;
}

static inline void drop_in(uint16_t pool, uint64_t address)
{
    event_list_add(
        &list,
        (struct event){.kind = EVENT_FREE, .address = address, .place = host_place, .pool = pool});
}

static inline uint64_t make(uint64_t bytes, uint32_t site)
{
    return make_in(host_pool, bytes, site);
}

static inline void drop(uint64_t address)
{
    drop_in(host_pool, address);
}

static inline void work(uint64_t bytes, uint32_t site)
{
    for (size_t i = 0; i < OTHERS; i++)
        drop(make(bytes, site));
}

/* The interpreter ends: what is given is freed by its last collection. */
static inline void finalize(const uint64_t *addresses, size_t count)
{
    drop(make(64, site_of("Py_FinalizeEx", 0)));
    for (size_t i = 0; i < count; i++)
        if (addresses[i])
            drop(addresses[i]);
    drop(make(64, site_of("finalize_modules", 0)));
}

static inline void ask_of(const struct question *question)
{
    static const struct analysis analyses[] = {{.of_blocks = &leaks_analysis}, {NULL, NULL}};

    analyses_run(analyses, NULL, question, report);
    assert_int_equal(report_status(report, NULL), MT_OK);
}

static inline const struct question *ask(void)
{
    const struct question *question = event_list_question(&list);

    ask_of(question);
    return question;
}

static inline uint64_t number_of_leak(const char *key)
{
    const struct finding *finding = report_finding_at(report, 0);

    for (size_t i = 0; i < finding->fact_count; i++)
        if (strcmp(finding->facts[i].key, key) == 0)
            return finding->facts[i].value.number;
    fail_msg("no %s", key);
    return 0;
}

static inline const char *text_of_leak(const char *key)
{
    const struct finding *finding = report_finding_at(report, 0);

    for (size_t i = 0; i < finding->fact_count; i++)
        if (strcmp(finding->facts[i].key, key) == 0)
            return finding->facts[i].value.text;
    fail_msg("no %s", key);
    return NULL;
}

static inline const char *verdict_with(const char *words)
{
    const char *line = NULL;

    for (size_t i = 0; i < report_verdict_count(report) && !line; i++)
        line = strstr(report_verdict_at(report, i), words);
    return line;
}

#endif
