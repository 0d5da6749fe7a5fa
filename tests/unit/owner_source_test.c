/* SPDX-License-Identifier: Apache-2.0 */
/* Owners that are told after the allocs of their blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "event_reader.h"
#include "model.h"
#include "owner_source.h"
#include "tally.h"

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

static void free_block(struct recording *r, uint16_t pool, uint64_t address)
{
    add(r, (struct event){.kind = EVENT_FREE, .pool = pool, .address = address});
}

static void name(struct recording *r, uint64_t address, const char *owner)
{
    add(r, (struct event){.kind = EVENT_BLOCK_OWNER, .address = address, .text = text(owner)});
}

/* The first reading. */
static void find_owned(struct recording *r, const struct event_source *inner,
                       struct owned_blocks *owned)
{
    struct event batch[3];
    struct mt_error error;
    struct tally *tally;
    size_t count = 1;

    assert_int_equal(tally_create(model, &tally, &error), MT_OK);
    tally_keep_owners(tally, owned);
    assert_int_equal(inner->rewind(inner->context, &error), MT_OK);
    while (count) {
        assert_int_equal(inner->next(r, batch, 3, &count, &error), MT_OK);
        assert_int_equal(tally_feed(tally, batch, count, &error), MT_OK);
    }
    tally_finish(tally);
    tally_destroy(tally);
    assert_false(owned->has_failed);
    owned_blocks_settle(owned, model);
}

/* "0x10:a 0x20:-": allocs in order, each with the innermost tag around it. */
static void read_owners(struct recording *r, char *told, size_t room)
{
    const struct event_source inner = {
        .context = r, .rewind = recording_rewind, .next = recording_next};
    struct owner_source *source = NULL;
    struct owned_blocks owned = {.count = 0};
    struct event_source events;
    struct event_reader reader;
    const struct event *batch;
    struct mt_error error;
    uint32_t tags[8];
    size_t depth = 0, count = 1, length = 0;

    find_owned(r, &inner, &owned);
    assert_int_equal(owner_source_create(&inner, &owned, &source, &error), MT_OK);
    events = owner_source_events(source);
    assert_int_equal(event_reader_begin(&reader, &events, &error), MT_OK);
    for (int reading = 0; reading < 2; reading++) { /* the second is as the first */
        length = 0;
        told[0] = 0;
        assert_int_equal(events.rewind(events.context, &error), MT_OK);
        for (count = 1; count;) {
            assert_int_equal(event_reader_next(&reader, &batch, &count, &error), MT_OK);
            for (size_t i = 0; i < count; i++) {
                if (batch[i].kind == EVENT_TAG_BEGIN || batch[i].kind == EVENT_NN_MODULE_BEGIN)
                    tags[depth++] = batch[i].text;
                else if (batch[i].kind == EVENT_TAG_END || batch[i].kind == EVENT_NN_MODULE_END)
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
    event_reader_end(&reader);
    owner_source_destroy(source);
    owned_blocks_release(&owned);
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
    free_block(&r, PTA_BLOCKS, 0x10);
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

static void place(struct recording *r, uint64_t address, const char *path)
{
    add(r, (struct event){.kind = EVENT_BLOCK_NN_MODULE, .address = address, .text = text(path)});
}

/* The innermost of what is around it is told here; an owner stands outside. */
static void a_block_is_of_the_first_module_that_has_it(void **state)
{
    struct recording r = {.count = 0};

    (void)state;
    alloc(&r, PTA_BLOCKS, 0x10, 0x10);
    alloc(&r, PTA_BLOCKS, 0x20, 0x10);
    alloc(&r, PTA_BLOCKS, 0x30, 0x10);
    place(&r, 0x10, "Net.words");
    place(&r, 0x10, "Net.head"); /* tied */
    name(&r, 0x20, "model@weight");
    place(&r, 0x24, "Net.norm");
    name(&r, 0x30, "model@weight");
    check(&r, "10:Net.words 20:Net.norm 30:model@weight");
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

/* The end of one, the middle of a large one, and a page with an address that is not in the block.
 */
static void an_address_is_found_in_blocks_of_any_size(void **state)
{
    struct recording r = {.count = 0};

    (void)state;
    alloc(&r, PTA_BLOCKS, 0x10ff0, 0x20);
    alloc(&r, PTA_BLOCKS, 0x20000, 0x100000);
    alloc(&r, PTA_BLOCKS, 0x200000, 0x10);
    alloc(&r, PTA_BLOCKS, UINT64_MAX - 0xff, 0x1000);
    alloc(&r, PTA_BLOCKS, 0x300000, 0);
    name(&r, 0x1100f, "last");
    name(&r, 0x88888, "middle");
    name(&r, 0x200010, "beside");
    name(&r, UINT64_MAX, "highest");
    name(&r, 0x300000, "empty");
    check(&r, "10ff0:last 20000:middle 200000:- ffffffffffffff00:highest 300000:-");
}

/* Each time, what came since is put in order, and what is gone is passed over. */
static void addresses_within_blocks_are_found_again_and_again(void **state)
{
    struct recording r = {.count = 0};

    (void)state;
    alloc(&r, PTA_BLOCKS, 0x1000, 0x1000);
    alloc(&r, PTA_BLOCKS, 0x1200, 0x100);
    name(&r, 0x1210, "a");
    free_block(&r, PTA_BLOCKS, 0x1200);
    alloc(&r, PTA_BLOCKS, 0x3000, 0x1000);
    free_block(&r, PTA_BLOCKS, 0x3000);
    alloc(&r, HAL_BLOCKS, 0x3000, 0x800);
    alloc(&r, PTA_BLOCKS, 0x3100, 0x40);
    name(&r, 0x1210, "b");
    name(&r, 0x3010, "c");
    name(&r, 0x3110, "d");
    free_block(&r, PTA_BLOCKS, 0x3100);
    alloc(&r, PTA_BLOCKS, 0x3100, 0x40);
    name(&r, 0x3110, "e");
    name(&r, 0x3010, "f");
    check(&r, "1000:b 1200:a 3000:- 3000:c@f 3100:d 3100:e");
}

/* More than are kept between two such addresses, few of which live. */
static void the_order_holds_as_many_blocks_as_live(void **state)
{
    enum { churn_count = 200000, kept_every = 1000, block_bytes = 0x100 };
    struct owned_blocks owned = {.count = 0};
    struct event event = {.kind = EVENT_BLOCK_OWNER, .address = 0x10, .text = text("a")};
    struct tally *tally;
    struct mt_error error;

    (void)state;
    assert_int_equal(tally_create(model, &tally, &error), MT_OK);
    tally_keep_owners(tally, &owned);
    assert_int_equal(tally_feed(tally, &event, 1, &error), MT_OK);
    for (uint64_t i = 1; i <= churn_count; i++) {
        event = (struct event){
            .kind = EVENT_ALLOC, .address = i * block_bytes, .value = block_bytes, .time_ns = i};
        assert_int_equal(tally_feed(tally, &event, 1, &error), MT_OK);
        event.kind = EVENT_FREE;
        if (i % kept_every)
            assert_int_equal(tally_feed(tally, &event, 1, &error), MT_OK);
    }
    for (uint64_t i = kept_every - 1; i <= churn_count; i += kept_every) {
        event = (struct event){.kind = EVENT_BLOCK_OWNER, .text = text("a")};
        event.address = i * block_bytes + 1; /* gone */
        assert_int_equal(tally_feed(tally, &event, 1, &error), MT_OK);
        event.address += block_bytes;
        assert_int_equal(tally_feed(tally, &event, 1, &error), MT_OK);
    }
    assert_int_equal(owned.count, churn_count / kept_every);
    tally_finish(tally);
    tally_destroy(tally);
    owned_blocks_settle(&owned, model);
    assert_int_equal(owned.rows[1].alloc - owned.rows[0].alloc, 2 * kept_every - 1);
    owned_blocks_release(&owned);
}

/* As in a loop that names its weights in each step. */
static void blocks_and_their_names_are_kept_once(void **state)
{
    struct owned_blocks owned = {.count = 0};

    (void)state;
    for (uint64_t i = 0; i < 10000; i++)
        owned_blocks_name(&owned, 1 + i % 7, 0, text(i % 2 ? "a" : "b"));
    assert_int_equal(owned.count, 7);
    owned_blocks_settle(&owned, model);
    assert_string_equal(model_text_at(model, owned.rows[0].owner), "b@a");
    assert_int_equal(owned.rows[6].alloc, 7);
    owned_blocks_release(&owned);
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
        cmocka_unit_test_setup_teardown(a_block_is_of_the_first_module_that_has_it, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_address_is_found_in_blocks_of_any_size, setup, teardown),
        cmocka_unit_test_setup_teardown(addresses_within_blocks_are_found_again_and_again, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_order_holds_as_many_blocks_as_live, setup, teardown),
        cmocka_unit_test_setup_teardown(blocks_and_their_names_are_kept_once, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
