/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two recordings as a csv in the form of msmemscope's compare.
 */
#include "compare_csv.h"

#include "memscope_compare.h"
#include "trace_question.h"

static enum mt_result write_lists(const struct compare_list lists[2], enum mt_result result,
                                  enum compare_level level, FILE *out, struct mt_error *error)
{
    return result == MT_OK ? compare_write(&lists[0], &lists[1], level, out, error) : result;
}

enum mt_result compare_csv_write(const struct mt_trace *base, const struct mt_trace *current,
                                 enum compare_level level, FILE *out, struct mt_error *error)
{
    const struct question questions[] = {trace_question(base), trace_question(current)};
    struct compare_list lists[2] = {{0}};
    enum mt_result result = compare_read(&questions[0], level, &lists[0], error);

    if (result == MT_OK)
        result = compare_read(&questions[1], level, &lists[1], error);
    if (result == MT_OK)
        result = model_status(questions[0].model, error);
    if (result == MT_OK)
        result = model_status(questions[1].model, error);
    result = write_lists(lists, result, level, out, error);
    compare_list_release(&lists[0]);
    compare_list_release(&lists[1]);
    return result;
}

enum mt_result compare_csv_write_strict(const char *base, const char *current,
                                        enum compare_level level, FILE *out, struct mt_error *error)
{
    struct compare_list lists[2] = {{0}};
    struct model *texts;
    enum mt_result result = model_create(&texts, error);

    if (result != MT_OK)
        return result;
    result = compare_read_strict(base, level, texts, &lists[0], error);
    if (result == MT_OK)
        result = compare_read_strict(current, level, texts, &lists[1], error);
    if (result == MT_OK)
        result = model_status(texts, error);
    result = write_lists(lists, result, level, out, error);
    compare_list_release(&lists[0]);
    compare_list_release(&lists[1]);
    model_destroy(texts);
    return result;
}
