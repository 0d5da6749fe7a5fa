/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict as JUnit XML: each key is a test case. What cannot be judged is an error, as a test
 * that could not run; what is suppressed is skipped.
 */
#include <inttypes.h>

#include "gate_writers.h"
#include "json_text.h"

/* XML 1.0 knows no control characters but three, and no bytes that are not UTF-8. */
static void add_xml(struct text_builder *text, const char *words)
{
    while (*words) {
        size_t length = utf8_length((const unsigned char *)words);

        if (*words == '&')
            text_add(text, "&amp;");
        else if (*words == '<')
            text_add(text, "&lt;");
        else if (*words == '>')
            text_add(text, "&gt;");
        else if (*words == '"')
            text_add(text, "&quot;");
        else if (!length || ((unsigned char)*words < ' ' && *words != '\t'))
            text_add(text, "\xef\xbf\xbd");
        else
            text_add_bytes(text, words, length);
        words += length ? length : 1;
    }
}

static void add_attribute(struct text_builder *text, const char *name, const char *value)
{
    text_add_format(text, " %s=\"", name);
    add_xml(text, value);
    text_add(text, "\"");
}

static void add_problem(struct text_builder *text, const struct gate_case *row, const char *element)
{
    text_add_format(text, "      <%s", element);
    add_attribute(text, "message", row->sentence);
    add_attribute(text, "type", row->rule);
    text_add(text, ">");
    add_xml(text, row->sentence);
    if (row->where.file[0] && row->where.line) {
        text_add(text, " at ");
        add_xml(text, project_path(row->where.file));
        text_add_format(text, ":%" PRIu32, row->where.line);
    }
    text_add_format(text, "</%s>\n", element);
}

static void add_skipped(struct text_builder *text, const struct gate_case *row)
{
    text_add(text, "      <skipped");
    add_attribute(text, "message", row->sentence);
    text_add(text, "/>\n");
}

static void add_said(struct text_builder *text, const struct gate_case *row)
{
    text_add(text, "      <system-out>");
    add_xml(text, row->sentence);
    text_add(text, "</system-out>\n");
}

static void add_case(struct text_builder *text, const struct gate_case *row)
{
    text_add(text, "    <testcase");
    add_attribute(text, "classname", row->rule);
    add_attribute(text, "name", row->key);
    text_add(text, " time=\"0\">\n");
    switch (row->outcome) {
    case CASE_FAILED:
        add_problem(text, row, "failure");
        break;
    case CASE_INCOMPLETE:
    case CASE_UNSURE:
        add_problem(text, row, "error");
        break;
    case CASE_SUPPRESSED:
        add_skipped(text, row);
        break;
    default:
        add_said(text, row);
        break;
    }
    text_add(text, "    </testcase>\n");
}

void gate_write_junit(const struct gate_verdict *verdict, struct text_builder *text)
{
    size_t errors = verdict->counts[CASE_UNSURE] + verdict->counts[CASE_INCOMPLETE];

    text_add(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    text_add(text, "  <testsuite name=\"memtide gate\"");
    text_add_format(text,
                    " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"0\">\n",
                    gate_case_count(verdict), verdict->counts[CASE_FAILED], errors,
                    verdict->counts[CASE_SUPPRESSED]);
    for (size_t i = 0; i < gate_case_count(verdict); i++)
        add_case(text, gate_case_at(verdict, i));
    text_add(text, "  </testsuite>\n</testsuites>\n");
}
