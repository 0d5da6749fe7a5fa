/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to files that are there already: --compare, and --analysis with one --input-path; and
 * the files of a recording, written again.
 */
#include <stdio.h>
#include <unistd.h>

#include "commands.h"
#include "compare_csv.h"
#include "compat_command.h"
#include "compat_files.h"
#include "compat_layout.h"
#include "dump_inefficient.h"
#include "dump_leaks.h"
#include "outlet.h"

static int fail(const struct compat_request *request, const char *what, enum mt_result result,
                const struct mt_error *error)
{
    outlet_print(stderr, "[%s] %s: %s%s\n", request->generation->program,
                 request->generation->error_word, what, error->message);
    return exit_code_of_result(result);
}

static void say_bad_rows(const struct compat_request *request, uint64_t count)
{
    if (count)
        outlet_print(stderr, "[%s] Warning: %ju rows make no sense, and were left out\n",
                     request->generation->program, (uintmax_t)count);
}

/* The tool takes only its own csv files; we take any recording. */
static enum mt_result compare_recordings(const struct compat_request *request,
                                         enum compare_level level, FILE *out,
                                         struct mt_error *error)
{
    struct mt_trace *base = NULL, *other = NULL;
    enum mt_result result = mt_trace_open(&request->inputs[0], 1, &base, error);

    if (result == MT_OK)
        result = mt_trace_open(&request->inputs[1], 1, &other, error);
    if (result == MT_OK)
        result = compare_csv_write(base, other, level, out, error);
    mt_trace_close(base);
    mt_trace_close(other);
    return result;
}

static int compare_into(const struct compat_place *place, const char *path, FILE *out)
{
    const struct compat_request *request = place->request;
    enum compare_level level =
        request->dump.levels == DUMP_BIT_KERNEL ? COMPARE_KERNELS : COMPARE_OPERATORS;
    struct mt_error error;
    enum mt_result result =
        request->dump.is_strict
            ? compare_csv_write_strict(request->inputs[0], request->inputs[1], level, out, &error)
            : compare_recordings(request, level, out, &error);

    fclose(out);
    if (result != MT_OK) {
        compat_file_drop(place, path);
        return fail(request, "Memory comparison failed! ", result, &error);
    }
    outlet_print(stdout, "[%s] Info: create file %s.\n", request->generation->program, path);
    return EXIT_FINE;
}

static int compare_files(const struct compat_request *request)
{
    struct compat_place place;
    struct mt_error error;
    char path[PATH_MAX];
    FILE *out = NULL;
    enum mt_result result =
        compat_place_make(&place, request, (uint64_t)getpid(), time(NULL), &error);

    if (result == MT_OK)
        result = compat_file_open(&place, "compare", "memory_compare", ".csv", path, &out, &error);
    if (result != MT_OK)
        return fail(request, "", result, &error);
    return compare_into(&place, path, out);
}

static int check_leaks(const struct compat_request *request)
{
    struct dump_leaks leaks = {.path = request->inputs[0],
                               .mark = request->offline.mark,
                               .start_index = request->offline.start_index};
    struct dump_leaks_counts counts;
    struct mt_error error;
    enum mt_result result = dump_leaks_write(&leaks, stdout, &counts, &error);

    if (result != MT_OK)
        return fail(request, "", result, &error);
    say_bad_rows(request, counts.bad_count);
    if (!counts.judged_device_count)
        return EXIT_NO_DATA;
    return counts.leak_count ? EXIT_FOUND : EXIT_FINE;
}

/* Without a mark there is no stretch: then the whole recording is judged. */
static int judge_leaks(const struct compat_request *request)
{
    char *operands[] = {(char *)request->inputs[0], NULL};
    struct options options = {.operands = operands, .operand_count = 1};

    return answer("leaks", &options, true);
}

static int check_inefficient(const struct compat_request *request)
{
    struct dump_inefficient_search search = {.path = request->inputs[0],
                                             .least_bytes = request->offline.least_bytes,
                                             .types = request->offline.inefficient_types,
                                             .idle_threshold = request->offline.idle_threshold,
                                             .is_strict = request->dump.is_strict};
    struct dump_inefficient_counts counts;
    struct mt_error error;
    enum mt_result result = dump_inefficient_mark(&search, stdout, &counts, &error);

    if (result != MT_OK)
        return fail(request, "", result, &error);
    say_bad_rows(request, counts.bad_count);
    if (!request->dump.is_strict)
        outlet_print(
            stdout,
            "%ju blocks of %ju B are used badly: %ju taken early, %ju given back late, %ju idle "
            "in between\n",
            (uintmax_t)counts.block_count, (uintmax_t)counts.block_bytes,
            (uintmax_t)counts.early_count, (uintmax_t)counts.late_count,
            (uintmax_t)counts.idle_count);
    return counts.block_count && !request->dump.is_strict ? EXIT_FOUND : EXIT_FINE;
}

static int write_again(const struct compat_request *request)
{
    size_t process_count;
    bool is_ok = compat_files_write(request, request->inputs[0], &process_count);
    struct mt_error error;

    if (process_count)
        return is_ok ? EXIT_FINE : EXIT_INPUT;
    mt_error_set(&error, MT_UNSUPPORTED, "%s: no recording of leaktide is in this folder",
                 request->inputs[0]);
    return fail(request, "", MT_UNSUPPORTED, &error);
}

int compat_look(const struct compat_request *request)
{
    if (request->wants_compare)
        return compare_files(request);
    if (request->has_recording)
        return write_again(request);
    if (request->dump.analyses == DUMP_BIT_INEFFICIENT)
        return check_inefficient(request);
    return request->offline.has_mark ? check_leaks(request) : judge_leaks(request);
}
