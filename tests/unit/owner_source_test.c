/* SPDX-License-Identifier: Apache-2.0 */
/* Owners that are told after the allocs of their blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model.h"
#include "owner_source.h"

enum { EVENTS_MOST = 64, HAL_BLOCKS = 0, PTA_BLOCKS = 1 };

struct recording {
    struct event events[EVENTS_MOST];
    size_t count, given;
};

static struct model *model;

static enum mt_result recording_rewind(void *context, struct mt_error *error)
{
    (void)error;
    ((struct recording *)context)->given = 0;
    return MT_OK;
}

/* A few at a time, so that batches end everywhere. */
static enum mt_result recording_next(void *context, struct event *batch, size_t capacity,
                                     size_t *count, struct mt_error *error)
{
    struct recording *r = context;

    (void)error;
    for (*count = 0; *count < 3 && *count < capacity && r->given < r->count; ++*count) {
        if (*count && r->events[r->given].process != batch[0].process)
            break;
        batch[*count] = r->events[r->given++];
    }
    return MT_OK;
}

static uint32_t text(const char *word)
{
    return model_text(model, word, strlen(word));
}

static void add(struct recording *r, struct event event)
{
    assert_true(r->count < EVENTS_MOST);
    r->events[r->count++] = event;
}

static void alloc(struct recording *r, uint16_t pool, uint64_t address, uint64_t size_bytes)
{
    add(r,
        (struct event){.kind = EVENT_ALLOC, .pool = pool, .address = address, .value = size_bytes});
}

static void name(struct recording *r, uint64_t address, const char *owner)
{
    add(r, (struct event){.kind = EVENT_BLOCK_OWNER, .address = address, .text = text(owner)});
}

/* "0x10:a 0x20:-": allocs in order, each with the innermost tag around it. */
static void read_owners(struct recording *r, char *told, size_t room)
{
    const struct event_source inner = {
        .context = r, .rewind = recording_rewind, .next = recording_next};
    struct owner_source *source = NULL;
    struct event_source events;
    struct event batch[16];
    struct mt_error error;
    uint32_t tags[8];
    size_t depth = 0, count = 1, length = 0;

    assert_int_equal(owner_source_create(&inner, model, &source, &error), MT_OK);
    events = owner_source_events(source);
    for (int reading = 0; reading < 2; reading++) { /* the second is as the first */
        length = 0;
        told[0] = 0;
        assert_int_equal(events.rewind(events.context, &error), MT_OK);
        for (count = 1; count;) {
            assert_int_equal(events.next(events.context, batch, 16, &count, &error), MT_OK);
            for (size_t i = 0; i < count; i++) {
                if (batch[i].kind == EVENT_TAG_BEGIN)
                    tags[depth++] = batch[i].text;
                else if (batch[i].kind == EVENT_TAG_END)
                    depth--;
                else if (batch[i].kind == EVENT_ALLOC)
                    length +=
                        (size_t)snprintf(told + length, room - length, "%s%llx:%s",
                                         length ? " " : "", (unsigned long long)batch[i].address,
                                         depth ? model_text_at(model, tags[depth - 1]) : "-");
            }
        }
        assert_int_equal(depth, 0);
    }
    owner_source_destroy(source);
}

static void check(struct recording *r, const char *expected)
{
    char told[512];

    read_owners(r, told, sizeof(told));
    assert_string_equal(told, expected);
}

static int setup(void **state)
{
    struct mt_error error;

    (void)state;
    return model_create(&model, &error) == MT_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    model_destroy(model);
    return 0;
}

static void the_smallest_block_that_holds_the_address_is_meant(void **state)
{
    struct recording r = {.count = 0};

    (void)state;
    alloc(&r, HAL_BLOCKS, 0x1000, 0x1000);
    alloc(&r, PTA_BLOCKS, 0x1100, 0x100);
    alloc(&r, PTA_BLOCKS, 0x1200, 0x100);
    name(&r, 0x11ff, "weight");
    name(&r, 0x1800, "pool");
    name(&r, 0x5000, "nothing");
    check(&r, "1000:pool 1100:weight 1200:-");
}

/* A tensor on the host is a block of malloc's, too. */
static void a_block_is_meant_in_each_pool(void **state)
{
    struct recording r = {.count = 0};

    (void)state;
    alloc(&r, HAL_BLOCKS, 0x1000, 0x100);
    alloc(&r, PTA_BLOCKS, 0x1000, 0x100);
    alloc(&r, HAL_BLOCKS, 0x2000, 0x1000);
    alloc(&r, PTA_BLOCKS, 0x2000, 0x100); /* the first one in its segment */
    name(&r, 0x1000, "weight");
    name(&r, 0x2000, "gradient");
    check(&r, "1000:weight 1000:weight 2000:- 2000:gradient");
}

static void a_block_is_meant_while_it_is_alive(void **state)
{
    struct recording r = {.count = 0};

    (void)state;
    alloc(&r, PTA_BLOCKS, 0x10, 0x10);
    add(&r, (struct event){.kind = EVENT_FREE, .pool = PTA_BLOCKS, .address = 0x10});
    name(&r, 0x10, "late");
    alloc(&r, PTA_BLOCKS, 0x10, 0x10);
    name(&r, 0x10, "second");
    alloc(&r, PTA_BLOCKS, 0x10, 0x10); /* its free was lost */
    check(&r, "10:- 10:second 10:-");
}

static void names_are_joined(void **state)
{
    struct recording r = {.count = 0};

    (void)state;
    add(&r, (struct event){.kind = EVENT_TAG_BEGIN, .text = text("model")});
    alloc(&r, PTA_BLOCKS, 0x10, 0x10);
    add(&r, (struct event){.kind = EVENT_TAG_END});
    alloc(&r, PTA_BLOCKS, 0x20, 0x10);
    name(&r, 0x20, "b");
    name(&r, 0x10, "weight");
    name(&r, 0x20, "b");
    name(&r, 0x10, "tied");
    check(&r, "10:model@weight@tied 20:b");
}

static void processes_have_blocks_of_their_own(void **state)
{
    struct recording r = {.count = 0};

    (void)state;
    alloc(&r, PTA_BLOCKS, 0x10, 0x10);
    name(&r, 0x10, "one");
    alloc(&r, PTA_BLOCKS, 0x20, 0x10);
    r.events[2].process = 1;
    name(&r, 0x10, "other");
    r.events[3].process = 1;
    check(&r, "10:one 20:-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_block_is_meant_in_each_pool, setup, teardown),
        cmocka_unit_test_setup_teardown(the_smallest_block_that_holds_the_address_is_meant, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_block_is_meant_while_it_is_alive, setup, teardown),
        cmocka_unit_test_setup_teardown(names_are_joined, setup, teardown),
        cmocka_unit_test_setup_teardown(processes_have_blocks_of_their_own, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
