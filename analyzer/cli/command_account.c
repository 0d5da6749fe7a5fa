/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide account: where the resident memory of a process is, that runs or was recorded.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arena.h"
#include "commands.h"
#include "list.h"
#include "outlet.h"
#include "waiting.h"

enum { EVERY_MOST_SECONDS = 86400, STAT_BYTES = 512 };

// clang-format off
static const struct option_spec options[] = {
    {OPTION_EVERY, 0, "every", "SECONDS", "again and again, until the processes have ended"},
    {OPTION_TREE, 0, "tree", NULL, "with all processes that descend from it"},
    ANSWER_OPTIONS,
    {0, 0, NULL, NULL, NULL},
};
// clang-format on

/* What is asked about: folders of processes, and recordings. */
struct operands {
    struct arena arena;
    const char **paths;
    size_t count, capacity;
};

static bool operand_add(struct operands *operands, const char *path)
{
    if (!list_has_room(&operands->paths, &operands->capacity, operands->count,
                       sizeof(*operands->paths)))
        return false;
    operands->paths[operands->count++] = path;
    return true;
}

static bool is_number(const char *word)
{
    return *word && strspn(word, "0123456789") == strlen(word);
}

/* A number, unless a file is called so. */
static bool is_process(const char *operand)
{
    return is_number(operand) && access(operand, F_OK) != 0;
}

/* The parent's number is the second after the name, which may hold anything. */
static long parent_of(const char *process)
{
    char path[64], text[STAT_BYTES];
    FILE *file;
    size_t size;
    const char *name_end;

    snprintf(path, sizeof(path), "/proc/%.20s/stat", process);
    file = fopen(path, "r");
    size = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    text[size] = 0;
    if (file)
        fclose(file);
    name_end = strrchr(text, ')');
    return name_end && name_end[1] ? strtol(name_end + 3, NULL, 10) : -1;
}

/* Children of what stands in the list from *next on; then theirs. */
static bool add_children(struct operands *operands, const char *parent)
{
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    bool has_memory = processes || errno != ENOMEM;

    while (has_memory && processes && (entry = readdir(processes)))
        if (is_number(entry->d_name) && parent_of(entry->d_name) == strtol(parent, NULL, 10))
            has_memory =
                operand_add(operands, arena_format(&operands->arena, "/proc/%s", entry->d_name));
    if (processes)
        closedir(processes);
    return has_memory;
}

static bool operands_make(struct operands *operands, const struct options *given)
{
    bool is_made = true;

    for (size_t i = 0; is_made && i < given->operand_count; i++) {
        size_t next = operands->count;
        bool runs = is_process(given->operands[i]);

        is_made = operand_add(operands,
                              runs ? arena_format(&operands->arena, "/proc/%s", given->operands[i])
                                   : given->operands[i]);
        while (is_made && runs && given->values[OPTION_TREE] && next < operands->count)
            is_made = add_children(operands, strrchr(operands->paths[next++], '/') + 1);
    }
    return is_made && !operands->arena.has_failed;
}

static void operands_release(struct operands *operands)
{
    free(operands->paths);
    arena_release(&operands->arena);
}

/* A line for people: when, and what is said of each process. */
static int say_line(const struct options *now)
{
    struct mt_ask_options ask = {.size_bytes = sizeof(ask), .warm_up_steps = -1};
    struct mt_trace *trace = NULL;
    struct mt_answer *given = NULL;
    struct mt_error error;
    time_t time_now = time(NULL);
    char clock[16] = "";
    struct tm local;
    enum mt_result result =
        open_inputs(now, (const char *const *)now->operands, now->operand_count, &trace, &error);

    if (result == MT_OK)
        result = mt_trace_ask(trace, "account", &ask, &given, &error);
    if (localtime_r(&time_now, &local))
        strftime(clock, sizeof(clock), "%H:%M:%S", &local);
    waiting_end();
    for (size_t i = 0; result == MT_OK && i < mt_answer_verdict_count(given); i++)
        outlet_print(stdout, "%s  %s\n", clock, mt_answer_verdict_at(given, i));
    mt_answer_close(given);
    mt_trace_close(trace);
    return result == MT_OK ? EXIT_FINE : complain_about(result, &error);
}

/* EXIT_INPUT also when the process has ended. */
static int account_once(const struct options *given)
{
    const char *format = given->values[OPTION_FORMAT];
    struct operands operands = {.paths = NULL};
    struct options now = *given;
    int code;

    arena_init(&operands.arena);
    if (operands_make(&operands, given)) {
        now.operands = (char **)operands.paths;
        now.operand_count = operands.count;
        if (given->values[OPTION_EVERY] && (!format || strcmp(format, "text") == 0))
            code = say_line(&now);
        else
            code = answer("account", &now, false);
    } else {
        code = complain(EXIT_INPUT, "no memory for names of processes");
    }
    operands_release(&operands);
    return code;
}

static bool has_ended(const struct options *given)
{
    for (size_t i = 0; i < given->operand_count; i++) {
        char path[64];

        snprintf(path, sizeof(path), "/proc/%.20s/statm", given->operands[i]);
        if (is_number(given->operands[i]) && access(path, F_OK) == 0)
            return false;
    }
    return true;
}

/* Of a process that /proc does not show. */
static enum exit_code complain_of_missing(const char *operand)
{
    if (kill((pid_t)strtol(operand, NULL, 10), 0) != 0 && errno == EPERM)
        return complain(EXIT_INPUT,
                        "process %s: /proc hides processes of other users here; ask as its user, "
                        "or as root",
                        operand);
    return complain(EXIT_INPUT, "process %s: there is no such process", operand);
}

static enum exit_code check(const struct command *command, const struct options *given)
{
    if (!given->operand_count)
        return complain(EXIT_USAGE, "%s needs a process or a recording; see leaktide %s --help",
                        command->name, command->name);
    for (size_t i = 0; i < given->operand_count; i++) {
        const char *operand = given->operands[i];
        char path[64];

        snprintf(path, sizeof(path), "/proc/%.20s", operand);
        if (given->values[OPTION_EVERY] && !is_process(operand))
            return complain(EXIT_USAGE, "--every watches processes that run, not recordings");
        if (is_process(operand) && access(path, F_OK) != 0)
            return complain_of_missing(operand);
    }
    return EXIT_FINE;
}

static int run(const struct command *command, const struct options *given)
{
    size_t seconds = 0;
    struct mt_error error;
    int code = check(command, given);

    if (code != EXIT_FINE)
        return code;
    if (option_number("every", given->values[OPTION_EVERY], EVERY_MOST_SECONDS, &seconds, &error) !=
        MT_OK)
        return complain(EXIT_USAGE, "%s", error.message);
    code = account_once(given);
    while (given->values[OPTION_EVERY] && code == EXIT_FINE) {
        fflush(stdout);
        nanosleep(&(struct timespec){.tv_sec = seconds ? (time_t)seconds : 1}, NULL);
        if (has_ended(given))
            break;
        code = account_once(given);
    }
    return code;
}

const struct command command_account = {
    .name = "account",
    .examples = "  leaktide account --every=5 4711\n"
                "  leaktide account run.leaktide\n",
    .operands = "PID|INPUT...",
    .options = options,
    .run = run,
    .remark =
        "A process that runs is looked at from outside, and goes on meanwhile; yours, or as root\n"
        "anybody's. docs/process-account.md says what the parts are.",
};
