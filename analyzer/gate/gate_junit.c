/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict as JUnit XML: each key is a test case. What cannot be judged is an error, as a test
 * that could not run; what is suppressed is skipped.
 */
#include <inttypes.h>

#include "gate_writers.h"

static void add_problem(struct outlet *out, const struct gate_case *row, const char *element)
{
    outlet_format(out, "      <%s", element);
    outlet_format(out, " message=\"%s\"", row->sentence);
    outlet_format(out, " type=\"%s\"", row->rule);
    outlet_add(out, ">");
    outlet_words(out, row->sentence);
    outlet_format(out, "\nkey: %s", row->key);
    if (place_has_line(&row->where))
        outlet_format(out, "\nat: %s:%" PRIu32, project_path(row->where.file), row->where.line);
    outlet_format(out, "</%s>\n", element);
}

static void add_skipped(struct outlet *out, const struct gate_case *row)
{
    outlet_add(out, "      <skipped");
    outlet_format(out, " message=\"%s\"", row->sentence);
    outlet_add(out, "/>\n");
}

static void add_said(struct outlet *out, const struct gate_case *row)
{
    outlet_add(out, "      <system-out>");
    outlet_words(out, row->sentence);
    outlet_add(out, "</system-out>\n");
}

static void add_case(struct outlet *out, const struct gate_verdict *verdict,
                     const struct gate_case *row)
{
    const struct gate_place place = gate_place_of(verdict, row);

    outlet_add(out, "    <testcase");
    outlet_format(out, " classname=\"leaktide.%s\" name=\"%s\"", row->rule, case_name(row));
    outlet_format(out, " file=\"%s\" line=\"%" PRIu32 "\" time=\"0\">\n", place.file, place.line);
    switch (row->outcome) {
    case CASE_FAILED:
        add_problem(out, row, "failure");
        break;
    case CASE_INCOMPLETE:
    case CASE_UNSURE:
        add_problem(out, row, "error");
        break;
    case CASE_SUPPRESSED:
        add_skipped(out, row);
        break;
    default:
        add_said(out, row);
        break;
    }
    outlet_add(out, "    </testcase>\n");
}

void gate_write_junit(const struct gate_verdict *verdict, struct outlet *out)
{
    size_t errors = verdict->counts[CASE_UNSURE] + verdict->counts[CASE_INCOMPLETE];

    outlet_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    outlet_add(out, "  <testsuite name=\"leaktide gate\"");
    outlet_format(out,
                  " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"0\">\n",
                  gate_case_count(verdict), verdict->counts[CASE_FAILED], errors,
                  verdict->counts[CASE_SUPPRESSED]);
    for (size_t i = 0; i < gate_case_count(verdict); i++)
        add_case(out, verdict, gate_case_at(verdict, i));
    outlet_add(out, "  </testsuite>\n</testsuites>\n");
}
