/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "accounts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "account_taker.h"
#include "clock.h"
#include "drain_workers.h"
#include "rings_file.h"

enum {
    ROUGH_COST_TIMES = 1500, /* as long as that the next one waits: 0.067 % */
    WHOLE_COST_TIMES = 3000, /* the next whole one: 0.033 % */
    FIRST_COST_TIMES = 100,  /* the first whole one of a process, by its size */
    COST_BYTES_OF_NS = 2,    /* of a heap of small blocks, so many are walked in a nanosecond */
    LIVES_MOST = 200,        /* at most one in this part of the process's life */
    FIRST_MS = 1000,         /* of its life: most processes end before */
    WATCH_MS = 50,           /* the same, for its cgroup */
    STEP_WAIT_MS = 2000,     /* for the end of a step, at least; then the clock is enough */
    STEP_LATE_MS = 50,       /* an end that is longer ago is none: the next one is waited for */
    EXIT_WAIT_MS = 20,       /* of a process that ends, for its account, at most, ... */
    EXIT_WAIT_PARTS = 100,   /* ... and so small a part of its life */
    EXIT_WHOLE_MS = 5,       /* it is a rough one if a whole one takes longer */
    ROWS_MOST = 96,          /* of one account in a trace: its ring is small */
    NEW_PEAK_PARTS = 16      /* higher than ever by a sixteenth */
};

static struct {
    struct recorded *recorded; /* whose account is being taken; NULL: nobody's */
    struct recorded *next;     /* of those that are due, who waited longest; NULL: none is */
    uint64_t not_before_ns;    /* of any process, of any depth */
    uint64_t whole_not_before_ns;
} accounts;

/* --- when ---------------------------------------------------------------------------------- */

static uint64_t resident_now(const struct recorded *recorded)
{
    return recorded->trace.header->rss_bytes;
}

static bool is_new_peak(const struct recorded *recorded)
{
    return resident_now(recorded) / (NEW_PEAK_PARTS + 1) * NEW_PEAK_PARTS >
           recorded->account.highest_bytes;
}

/* It waits at its exit, until somebody has looked at it. */
static bool is_exiting(const struct recorded *recorded)
{
    return shared_load(&recorded->place->is_exiting) && !recorded->account.is_of_exit;
}

/* Says how long it may wait there. */
static void exit_allow(struct recorded *recorded, uint64_t now_ns)
{
    uint64_t lived_ms = (now_ns - recorded->account.since_ns) / MILLISECOND_NS;
    uint64_t wait_ms =
        lived_ms / EXIT_WAIT_PARTS < EXIT_WAIT_MS ? lived_ms / EXIT_WAIT_PARTS : EXIT_WAIT_MS;

    shared_store(&recorded->place->exit_wait_ms, lived_ms < FIRST_MS ? 0 : (uint32_t)wait_ms);
}

static bool is_due(const struct recorded *recorded, uint64_t now_ns)
{
    uint64_t lived_ns = now_ns - recorded->account.since_ns;

    if (recorded->account.is_wanted || is_exiting(recorded))
        return true;
    if (now_ns < accounts.not_before_ns || lived_ns < FIRST_MS * MILLISECOND_NS)
        return false;
    return !recorded->account.last_ns ||
           now_ns - recorded->account.last_ns >= lived_ns / LIVES_MOST || is_new_peak(recorded);
}

static enum account_depth depth_of(const struct recorded *recorded, uint64_t now_ns)
{
    const struct recorded_account *account = &recorded->account;
    uint64_t probable_ns = resident_now(recorded) / COST_BYTES_OF_NS;

    if (is_exiting(recorded)) {
        uint64_t cost_ns = account->whole_cost_ns ? account->whole_cost_ns : probable_ns;

        return cost_ns <= EXIT_WHOLE_MS * MILLISECOND_NS ? ACCOUNT_WHOLE : ACCOUNT_ROUGH;
    }
    if (account->is_wanted)
        return ACCOUNT_WHOLE;
    if (now_ns < accounts.whole_not_before_ns)
        return ACCOUNT_ROUGH;
    if (!account->last_whole_ns)
        return now_ns - account->since_ns >= FIRST_COST_TIMES * probable_ns ? ACCOUNT_WHOLE
                                                                            : ACCOUNT_ROUGH;
    return now_ns - account->last_whole_ns >= WHOLE_COST_TIMES * account->whole_cost_ns
               ? ACCOUNT_WHOLE
               : ACCOUNT_ROUGH;
}

/* --- at the end of a step -------------------------------------------------------------------- */

static void step_ask(struct recorded *recorded, uint64_t now_ns)
{
    recorded->account.step_asked_ns = now_ns;
    __atomic_store_n(&recorded->place->step_ended, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&recorded->place->step_end_wanted, 1, __ATOMIC_RELEASE);
}

static void step_ask_no_more(struct recorded *recorded)
{
    recorded->account.step_asked_ns = 0;
    __atomic_store_n(&recorded->place->step_end_wanted, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&recorded->place->step_ended, 0, __ATOMIC_RELAXED);
}

static bool is_step_end_here(struct recorded *recorded, uint64_t now_ns)
{
    uint64_t ended = __atomic_load_n(&recorded->place->step_ended, __ATOMIC_ACQUIRE);
    uint64_t end_ns = recorded->place->step_end_ns;

    if (ended && now_ns - end_ns > STEP_LATE_MS * MILLISECOND_NS)
        step_ask(recorded, recorded->account.step_asked_ns);
    return ended && now_ns - end_ns <= STEP_LATE_MS * MILLISECOND_NS;
}

/* It is due. A program with steps has its accounts at their ends, where they can be compared; not
 * longer is waited than the last one is ago. */
static bool waits_for_step(struct recorded *recorded, uint64_t now_ns)
{
    struct recorded_account *account = &recorded->account;
    uint64_t waited_ns, ago_ns;

    if (account->is_wanted || is_exiting(recorded) || is_new_peak(recorded) ||
        !recorded->place->header.step_count)
        return false;
    if (!account->step_asked_ns)
        step_ask(recorded, now_ns);
    waited_ns = now_ns - account->step_asked_ns;
    ago_ns = account->last_ns ? account->step_asked_ns - account->last_ns : 0;
    return !is_step_end_here(recorded, now_ns) &&
           (waited_ns < STEP_WAIT_MS * MILLISECOND_NS || waited_ns < ago_ns);
}

/* Of the one that is taken now. */
static void step_remember(struct recorded *recorded)
{
    struct recorded_account *account = &recorded->account;

    account->step = __atomic_load_n(&recorded->place->step_ended, __ATOMIC_ACQUIRE);
    account->step_end_ns = recorded->place->step_end_ns;
    step_ask_no_more(recorded);
}

/* --- the kernel kills ---------------------------------------------------------------------- */

static void watch_cgroup(struct recorded *recorded, uint64_t now_ns)
{
    struct recorded_account *account = &recorded->account;
    char folder[64];

    if (account->is_watched || !recorded->process_id ||
        now_ns - account->since_ns < WATCH_MS * MILLISECOND_NS)
        return;
    account->is_watched = true;
    snprintf(folder, sizeof(folder), "/proc/%d", (int)recorded->process_id);
    cgroup_watch_open(&account->cgroup, folder);
    if (account->cgroup.folder >= 0)
        account->kills = cgroup_watch_kills(&account->cgroup);
}

/* Who ends does not wait long. */
static uint64_t waits_since_ns(const struct recorded *recorded)
{
    return is_exiting(recorded) ? 0 : recorded->account.last_ns;
}

void accounts_want(struct recorded *recorded)
{
    recorded->account.is_wanted = true;
    recorded->account.last_ns = 0; /* it waited longest */
}

void accounts_look(struct recorded *recorded, uint64_t now_ns)
{
    if (!recorded->account.since_ns)
        recorded->account.since_ns = now_ns;
    watch_cgroup(recorded, now_ns);
    if (!recorded->process_id || !recorded->place->facts.sample_ms ||
        __atomic_load_n(&recorded->place->attention, __ATOMIC_RELAXED) & MT_ATTENTION_PAUSED)
        return;
    if (__atomic_exchange_n(&recorded->place->account_wanted, 0, __ATOMIC_ACQUIRE))
        accounts_want(recorded);
    exit_allow(recorded, now_ns);
    if (accounts.recorded || !is_due(recorded, now_ns) || waits_for_step(recorded, now_ns))
        return;
    if (!accounts.next || waits_since_ns(recorded) < waits_since_ns(accounts.next))
        accounts.next = recorded;
}

void accounts_forget(const struct recorded *recorded)
{
    if (accounts.recorded == recorded)
        accounts.recorded = NULL;
    if (accounts.next == recorded)
        accounts.next = NULL;
}

/* --- into the trace ------------------------------------------------------------------------ */

/* When it was, which is before it is written; and how long after the end of a step. */
static void account_date(const struct recorded_account *of, struct account *account)
{
    uint64_t *figures = account->figures;

    figures[ACCOUNT_FIGURE_AGE_NS] = clock_now_ns(CLOCK_MONOTONIC) - account->begin_ns;
    figures[ACCOUNT_FIGURE_AT_EXIT] = of->is_of_exit;
    figures[ACCOUNT_FIGURE_STEP] = of->step;
    if (of->step && account->begin_ns > of->step_end_ns)
        figures[ACCOUNT_FIGURE_LATE_NS] = account->begin_ns - of->step_end_ns;
}

static void account_write(struct recorded *recorded, struct account *account)
{
    account_fold(account, ROWS_MOST);
    drain_process(recorded); /* so that there is room for all of it */
    account_date(&recorded->account, account);
    for (size_t i = 0; i < account_note_count(account); i++) {
        struct account_note note = account_note_at(account, i);

        own_stream_note(&recorded->stream, note.subject, note.text, note.first, note.second);
    }
    drain_process(recorded);
}

static void remember(struct recorded_account *of, const struct account *account, uint64_t now_ns)
{
    uint64_t resident_bytes = account->figures[ACCOUNT_FIGURE_RESIDENT];

    of->resident_bytes = resident_bytes;
    memset(of->part_bytes, 0, sizeof(of->part_bytes));
    for (size_t i = 0; i < account->row_count; i++)
        of->part_bytes[account->rows[i].part] += account->rows[i].resident_bytes;
    if (resident_bytes > of->highest_bytes)
        of->highest_bytes = resident_bytes;
    if (account->figures[ACCOUNT_FIGURE_DOUBTS] & ACCOUNT_IS_ROUGH)
        return;
    of->last_whole_ns = now_ns;
    of->whole_cost_ns = account->figures[ACCOUNT_FIGURE_COST_NS];
}

static uint64_t later(uint64_t left, uint64_t right)
{
    return left > right ? left : right;
}

/* One at an exit comes before its time, so the others wait the longer. */
static void spend(const struct account *account, uint64_t now_ns)
{
    uint64_t whole_ns = account->figures[ACCOUNT_FIGURE_COST_NS] - account->rough_cost_ns;

    accounts.not_before_ns =
        later(accounts.not_before_ns, now_ns) + ROUGH_COST_TIMES * account->rough_cost_ns;
    if (!(account->figures[ACCOUNT_FIGURE_DOUBTS] & ACCOUNT_IS_ROUGH))
        accounts.whole_not_before_ns =
            later(accounts.whole_not_before_ns, now_ns) + WHOLE_COST_TIMES * whole_ns;
}

static void take_done(uint64_t now_ns)
{
    struct recorded *recorded = accounts.recorded;
    struct account account;
    int error;

    if (!account_taker_poll(&account, &error))
        return;
    accounts.recorded = NULL;
    if (recorded) {
        recorded->account.last_ns = now_ns;
        recorded->account.is_wanted = false;
    }
    if (error) {
        accounts.not_before_ns = now_ns + ROUGH_COST_TIMES * MILLISECOND_NS;
        return;
    }
    spend(&account, now_ns);
    if (recorded) {
        remember(&recorded->account, &account, now_ns);
        recorded->own_bytes = account.figures[ACCOUNT_FIGURE_RECORDER];
        account_write(recorded, &account);
    }
    account_release(&account);
}

void accounts_end(struct recorded *recorded)
{
    const struct cgroup_watch *cgroup = &recorded->account.cgroup;
    uint64_t kills = cgroup->folder >= 0 ? cgroup_watch_kills(cgroup) : UINT64_MAX, limit;

    if (accounts.recorded == recorded)
        take_done(clock_now_ns(CLOCK_MONOTONIC));
    if (kills == UINT64_MAX || kills <= recorded->account.kills)
        return;
    limit = cgroup_watch_limit(cgroup);
    own_stream_note(&recorded->stream, ACCOUNT_SUBJECT_KILLED, cgroup->path,
                    kills - recorded->account.kills, limit);
}

void accounts_poll(uint64_t now_ns)
{
    struct recorded *next = accounts.next;
    bool is_of_exit;

    take_done(now_ns);
    accounts.next = NULL;
    if (!next || !account_taker_is_idle())
        return;
    is_of_exit = is_exiting(next);
    if (account_taker_ask(next->process_id, next->place, depth_of(next, now_ns),
                          is_of_exit ? &next->place->exit_is_read : NULL)) {
        accounts.recorded = next;
        next->own_filled_bytes = __atomic_load_n(&next->place->own_bytes, __ATOMIC_RELAXED);
        next->account.is_of_exit = is_of_exit;
        step_remember(next);
    } else {
        accounts.not_before_ns = now_ns + ROUGH_COST_TIMES * MILLISECOND_NS;
    }
}

/* --- in words ------------------------------------------------------------------------------ */

void accounts_say(const struct recorded *recorded, uint64_t now_ns, char *text, size_t text_bytes)
{
    const struct recorded_account *account = &recorded->account;
    size_t length;

    text[0] = 0;
    if (!account->resident_bytes || !account->last_ns)
        return;
    length =
        (size_t)snprintf(text, text_bytes, "account %" PRIu64 " ms ago, %" PRIu64 " B\n",
                         (now_ns - account->last_ns) / MILLISECOND_NS, account->resident_bytes);
    for (int part = 0; part < ACCOUNT_PART_COUNT && length < text_bytes; part++)
        if (account->part_bytes[part])
            length += (size_t)snprintf(text + length, text_bytes - length, "  %s %" PRIu64 " B\n",
                                       account_part_key((enum account_part)part),
                                       account->part_bytes[part]);
}
