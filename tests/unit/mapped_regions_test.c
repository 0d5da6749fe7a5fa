/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mappings that are cut and replaced, and names of shared memory, against a recorder that keeps
 * what it is told: what was recorded must come to what is there.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "call_stacks.h"
#include "chance.h"
#include "config_double.h"
#include "mapped_regions.h"
#include "recorder_double.h"
#include "recording.h"
#include "shared_names.h"
#include "thread_state.h"

enum { PAGES = 64, ROUNDS = 400, RUNS = 30 };

/* --- what the recorder would have ----------------------------------------------------------- */

_Thread_local struct thread_state thread_state;

bool call_stacks_are_on(void)
{
    return false;
}

uint32_t call_stacks_capture(struct thread_state *thread, const struct unwind_registers *from)
{
    (void)thread;
    (void)from;
    return 0;
}

struct call_site call_stacks_site(const struct thread_state *thread, uint32_t stack, uint64_t pc)
{
    (void)thread;
    (void)stack;
    (void)pc;
    return (struct call_site){0};
}

bool recording_makes_no_calls(void)
{
    return false;
}

/* --- mappings ------------------------------------------------------------------------------- */

static int reset(void **state)
{
    (void)state;
    double_reset();
    double_config_reset();
    double_config.records_host = true;
    if (regions_enter()) {
        regions_forget(0, UINT64_MAX);
        regions_leave();
    }
    double_reset();
    return 0;
}

static struct region region_of(uint64_t first, uint64_t pages, enum region_kind kind)
{
    return (struct region){.begin = first, .end = first + pages, .kind = kind};
}

/* Plays the events: of each page, the kind that it has now, or REGION_KIND_COUNT. */
static void pages_recorded(enum region_kind *pages)
{
    static const char *const names[] = {"mmap", "shared_memory", "mapped_file"};
    uint64_t begins[PAGES], ends[PAGES];
    enum region_kind kinds[PAGES];
    size_t count = 0;

    for (size_t i = 0; i < PAGES; i++)
        pages[i] = REGION_KIND_COUNT;
    for (size_t i = 0; i < double_event_count(); i++) {
        const struct double_event *event = &double_events[i];
        enum region_kind kind = 0;
        size_t at = 0;

        while (strcmp(event->text, names[kind]) != 0)
            kind++;
        if (event->code == MT_RECORD_alloc) {
            assert_true(count < PAGES);
            begins[count] = event->address;
            ends[count] = event->address + event->size_bytes;
            kinds[count++] = kind;
            continue;
        }
        assert_int_equal(event->code, MT_RECORD_free);
        while (at < count && (begins[at] != event->address || kinds[at] != kind))
            at++;
        assert_true(at < count); /* a free of a block that is there */
        count--;
        begins[at] = begins[count];
        ends[at] = ends[count];
        kinds[at] = kinds[count];
    }
    for (size_t i = 0; i < count; i++)
        for (uint64_t page = begins[i]; page < ends[i]; page++) {
            assert_int_equal(pages[page], REGION_KIND_COUNT); /* blocks do not overlap */
            pages[page] = kinds[i];
        }
}

static void change(struct chance *chance, enum region_kind *truth)
{
    uint32_t first = chance_between(chance, 0, PAGES - 1);
    uint32_t pages = chance_between(chance, 1, PAGES - first);
    enum region_kind kind = (enum region_kind)chance_between(chance, 0, REGION_KIND_COUNT);

    assert_true(regions_enter());
    if (kind == REGION_KIND_COUNT)
        regions_forget(first, first + pages);
    else
        regions_remember(region_of(first, pages, kind));
    regions_leave();
    for (uint32_t page = first; page < first + pages; page++)
        truth[page] = kind;
}

static void what_is_recorded_is_what_is_mapped(void **state)
{
    for (unsigned run = 0; run < RUNS; run++) {
        enum region_kind truth[PAGES], pages[PAGES];
        struct chance chance = {run};

        reset(state);
        for (size_t i = 0; i < PAGES; i++)
            truth[i] = REGION_KIND_COUNT;
        for (unsigned round = 0; round < ROUNDS; round++)
            change(&chance, truth);
        pages_recorded(pages);
        assert_memory_equal(pages, truth, sizeof(truth));
        for (uint64_t page = 0; page < PAGES; page++) {
            struct region found;

            assert_true(regions_enter());
            assert_int_equal(regions_find(page, &found), truth[page] != REGION_KIND_COUNT);
            regions_leave();
        }
    }
}

static void a_forked_child_goes_on_with_the_table(void **state)
{
    int status;
    pid_t child;

    (void)state;
    assert_true(regions_enter());
    regions_remember(region_of(0, 4, REGION_ANONYMOUS));
    child = fork(); /* while the table is locked: the child's is empty */
    if (!child) {
        struct region found;

        thread_state.inside = 0;
        double_reset();
        if (!regions_enter())
            _exit(1);
        _exit(regions_find(1, &found) ? 2 : 0);
    }
    regions_leave();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void nothing_is_kept_where_the_host_is_not_recorded(void **state)
{
    (void)state;
    double_config.records_host = false;
    assert_false(regions_enter());
}

/* --- names ---------------------------------------------------------------------------------- */

static uint64_t name_make(unsigned number, char *name, size_t name_bytes)
{
    struct stat status;
    int file;

    snprintf(name, name_bytes, "/dev/shm/leaktide-test-%d-%u", (int)getpid(), number);
    file = open(name, O_CREAT | O_RDWR | O_EXCL, 0600);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, 4096), 0);
    assert_int_equal(pwrite(file, "x", 1, 0), 1);
    assert_int_equal(fstat(file, &status), 0);
    close(file);
    assert_true(regions_enter());
    shared_name_made(shared_name_of_file(&status), name, 0, (struct call_site){0});
    shared_name_sized(&status);
    regions_leave();
    return shared_name_of_file(&status);
}

/* 200 names, of which every second is unlinked at once, by us or unseen: at the end the others have
 * their notes. */
static void names_that_stay_are_told_with_their_size(void **state)
{
    char names[200][64];
    size_t told = 0, alive = 0;

    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        uint64_t address = name_make(i, names[i], sizeof(names[i]));

        if (i % 4 == 0) {
            assert_true(regions_enter());
            shared_name_unlinked(address);
            regions_leave();
        }
        if (i % 2 == 0)
            unlink(names[i]);
    }
    shared_names_end();
    for (size_t i = 0; i < double_event_count(); i++) {
        told += double_events[i].code == MT_RECORD_note;
        alive += double_events[i].code == MT_RECORD_alloc;
        alive -= double_events[i].code == MT_RECORD_free;
    }
    for (unsigned i = 1; i < 200; i += 2)
        assert_int_equal(unlink(names[i]), 0);
    assert_int_equal(told, 100);
    assert_int_equal(alive, 100);
    assert_int_equal(double_last(MT_RECORD_alloc)->size_bytes, 4096);
}

static void a_name_of_another_process_is_a_note(void **state)
{
    (void)state;
    assert_true(regions_enter());
    shared_name_unlinked(4711);
    regions_leave();
    assert_int_equal(double_event_count(), 1);
    assert_string_equal(double_events[0].domain, "shared memory unlinked");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_is_recorded_is_what_is_mapped, reset),
        cmocka_unit_test_setup(a_forked_child_goes_on_with_the_table, reset),
        cmocka_unit_test_setup(nothing_is_kept_where_the_host_is_not_recorded, reset),
        cmocka_unit_test_setup(names_that_stay_are_told_with_their_size, reset),
        cmocka_unit_test_setup(a_name_of_another_process_is_a_note, reset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
