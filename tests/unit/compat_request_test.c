/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of msleaks and msmemscope: every form of the command line, right and wrong.
 *
 * A case is a command line, its words separated by '|', and what must come out of it: the fields
 * of the request that are not at their defaults, or the sentence of an error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compat_options.h"

struct request_case {
    const char *name;
    const char *words;
    const char *expected;
    const char *notes; /* NULL: none */
};

enum { WORDS_MOST = 32 };

static void add_bits(struct text_builder *text, const char *name, uint32_t bits, uint32_t usual)
{
    if (bits != usual)
        text_add_format(text, "%s=%x ", name, bits);
}

static void add_text(struct text_builder *text, const char *name, const char *value,
                     const char *usual)
{
    if (strcmp(value, usual) != 0)
        text_add_format(text, "%s=%s ", name, value);
}

static void add_flags(struct text_builder *text, const struct compat_request *request)
{
    const struct {
        const char *name;
        bool is_set;
    } flags[] = {
        {"help", request->wants_help},           {"version", request->wants_version},
        {"compare", request->wants_compare},     {"strict", request->dump.is_strict},
        {"deferred", request->is_deferred},      {"db", request->dump.is_database},
        {"cpu", request->dump.has_cpu},          {"not_all_npu", !request->dump.has_all_devices},
        {"by_event", request->is_host_by_event}, {"full_content", request->watch.has_full_content},
    };

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (flags[i].is_set)
            text_add_format(text, "%s ", flags[i].name);
}

static void add_lists(struct text_builder *text, const struct compat_request *request)
{
    for (size_t i = 0; i < request->dump.step_count; i++)
        text_add_format(text, "step=%u ", request->dump.steps[i]);
    if (request->dump.has_c_stacks)
        text_add_format(text, "c=%u ", request->dump.c_depth);
    if (request->dump.has_python_stacks)
        text_add_format(text, "python=%u ", request->dump.python_depth);
    if (request->watch.is_wanted)
        text_add_format(text, "watch=%s>%s ", request->watch.start, request->watch.end);
    if (request->watch.has_output_id)
        text_add_format(text, "out=%u ", request->watch.output_id);
    for (size_t i = 0; i < request->input_count; i++)
        text_add_format(text, "in=%s ", request->inputs[i]);
    if (request->attach_pid)
        text_add_format(text, "pid=%d command=%s ", request->attach_pid,
                        request->attach_command ? request->attach_command : "");
    for (size_t i = 0; i < request->program_count; i++)
        text_add_format(text, "[%s]", request->program[i]);
}

static void describe(struct text_builder *text, const struct compat_request *request)
{
    bool is_old = request->generation->name == COMPAT_MSLEAKS;

    add_flags(text, request);
    add_bits(text, "level", request->dump.levels, DUMP_BIT_OP);
    add_bits(text, "events", request->dump.events, 7);
    add_bits(text, "analysis", request->dump.analyses, DUMP_BIT_LEAKS);
    add_bits(text, "oom", request->dump.oom_top, 10);
    add_bits(text, "devices", request->dump.devices, 0);
    add_bits(text, "log", request->log_level, is_old ? COMPAT_WARNING : COMPAT_INFO);
    add_bits(text, "threshold", (uint32_t)request->block_size_threshold, 0);
    add_bits(text, "rate", request->sample_rate, 1);
    add_bits(text, "start_index", request->offline.start_index, 0);
    add_bits(text, "mem_size", (uint32_t)request->offline.least_bytes, 0);
    add_bits(text, "types", request->offline.inefficient_types, 0);
    add_bits(text, "idle", request->offline.idle_threshold, 3000);
    add_text(text, "mark", request->offline.mark ? request->offline.mark : "", "");
    add_text(text, "folder", request->output_path, request->generation->output_folder);
    if (request->has_process_folders == is_old)
        text_add_format(text, "layout=%s ", is_old ? "process" : "flat");
    add_lists(text, request);
}

static void request_reads_or_rejects(void **state)
{
    const struct request_case *c = *state;
    char *copy = strdup(c->words), *argv[WORDS_MOST + 1] = {0}, *save = copy;
    struct compat_request request;
    struct mt_error error = {.message = ""};
    struct text_builder got;
    int argc = 0;

    for (char *word; (word = strsep(&save, "|")) && argc < WORDS_MOST;)
        argv[argc++] = word;
    text_init(&got);
    if (compat_request_read(&request, compat_generation_find(argv[0]), argc, argv, &error) ==
        MT_OK) {
        describe(&got, &request);
        if (c->notes)
            assert_non_null(strstr(text_get(&request.notes), c->notes));
        else
            assert_string_equal(text_get(&request.notes), "");
        compat_request_release(&request);
        while (got.size_bytes && got.bytes[got.size_bytes - 1] == ' ')
            got.bytes[--got.size_bytes] = 0;
        assert_string_equal(text_get(&got), c->expected);
    } else {
        assert_non_null(strstr(error.message, c->expected));
    }
    text_release(&got);
    free(copy);
}

/* U+FF0C between words. */
#define WIDE "\xef\xbc\x8c"

static const struct request_case cases[] = {
    /* Where options may stand. */
    {"defaults", "msmemscope|app", "[app]", NULL},
    {"before the program", "msmemscope|--level=kernel|app|x", "level=2 [app][x]", NULL},
    {"after the program", "msmemscope|app|x|--analysis=none", "analysis=0 [app][x]", NULL},
    {"on both sides", "msmemscope|--steps=3|app|--format=db|x|--level=op,kernel",
     "db level=3 step=3 [app][x]", NULL},
    {"value in the next word", "msmemscope|--steps|3|app", "step=3 [app]", NULL},
    {"value in the next word, after the program", "msmemscope|app|--steps|3|y", "step=3 [app][y]",
     NULL},
    {"double dash before the program", "msmemscope|--level=op|--|app|--level=kernel|-h",
     "[app][--level=kernel][-h]", NULL},
    {"double dash after the program", "msmemscope|app|--|--level=kernel", "[app][--level=kernel]",
     NULL},
    {"only the first double dash is ours", "msmemscope|--|app|--|x", "[app][--][x]", NULL},
    {"stops at the first unknown option after the program",
     "msmemscope|app|--level=kernel|--lr|0.1|--steps=3", "level=2 [app][--lr][0.1][--steps=3]",
     NULL},
    {"a shell's -c is the shell's", "msmemscope|sh|-c|exit 3", "[sh][-c][exit 3]", NULL},
    {"a single dash is a word", "msmemscope|cat|-", "[cat][-]", NULL},
    {"a beginning of a name will do before the program", "msmemscope|--coll=deferred|app",
     "deferred [app]", NULL},
    {"a beginning after the program is the program's", "msmemscope|app|--coll=deferred",
     "[app][--coll=deferred]", NULL},
    {"a beginning of two names", "msmemscope|--de|app", "--de: there is no such option", NULL},
    {"a beginning of a name and of its old form", "msmemscope|--inp=a,b|--compare",
     "compare in=a in=b", NULL},
    {"short option after the program is said", "msmemscope|app|-o|out", "folder=out [app]",
     "-o after the program was taken as ours"},
    {"short value in the same word", "msmemscope|-oout|app", "folder=out [app]", NULL},
    {"the last of two counts", "msmemscope|--events=alloc|--events=free|app", "events=2 [app]",
     NULL},
    {"unknown option", "msmemscope|--lvel=op|app", "[msmemscope] Error: --lvel=op: there is no",
     NULL},
    {"unknown letter", "msmemscope|-x|app", "-x: there is no such option", NULL},
    {"flag with a value after the program", "msmemscope|app|--quiet=1", "[app][--quiet=1]", NULL},
    {"flag with a value", "msmemscope|--compare=yes|app",
     "--compare=yes: this option takes no value", NULL},
    {"no value", "msmemscope|app|--steps", "--steps needs a value", NULL},
    {"no program", "msmemscope|--level=op", "there is no program to record", NULL},
    {"nothing at all", "msmemscope", "there is no program to record", NULL},
    {"a path before the name", "/opt/bin/msmemscope.bin|app", "[app]", NULL},
    /* Help and version. */
    {"help", "msmemscope|-h", "help", NULL},
    {"long help after the program", "msmemscope|app|--help", "help [app]", NULL},
    {"version of msmemscope", "msmemscope|-V", "version", NULL},
    {"-v is verbose there", "msmemscope|-v|app", "log=0 [app]", NULL},
    {"version of msleaks", "msleaks|-v", "version", NULL},
    {"-V is nothing to msleaks", "msleaks|-V|app", "-V: there is no such option", NULL},
    {"quiet", "msmemscope|-q|app", "log=3 [app]", NULL},
    {"debug", "msmemscope|--debug|app", "log=0 [app]", NULL},
    {"debug wins", "msmemscope|--debug|-q|app", "log=0 [app]", NULL},
    {"letters together, the other way", "msmemscope|-vq|app", "log=0 [app]", NULL},
    {"letters together", "msmemscope|-qv|app", "log=0 [app]", NULL},
    /* --level */
    {"level list", "msmemscope|--level=op,kernel|app", "level=3 [app]", NULL},
    {"level list, wide comma", "msmemscope|--level=op" WIDE "kernel|app", "level=3 [app]", NULL},
    {"old level of msmemscope", "msmemscope|--level=1|app", "level=2 [app]",
     "[msmemscope] Deprecation: '1' is deprecated, use 'kernel' instead."},
    {"level of msleaks", "msleaks|--level=0,1|app", "level=3 [app]", NULL},
    {"new level under the old name", "msleaks|--level=kernel|app", "level=2 [app]", NULL},
    {"wrong level", "msmemscope|--level=2|app", "[msmemscope] Error: invalid level input.", NULL},
    {"wrong level of msleaks", "msleaks|--level=2|app", "[msleaks] ERROR: invalid level input.",
     NULL},
    {"empty level", "msmemscope|--level=|app", "invalid level input", NULL},
    {"wrong value after the program", "msmemscope|app|--level=debug",
     "if it is the program's own, write -- before the program", NULL},
    /* --events */
    {"events", "msmemscope|--events=alloc,free,access,traceback|app", "events=1b [app]", NULL},
    {"events, wide commas", "msmemscope|--events=alloc" WIDE "free" WIDE "access|app",
     "events=b [app]", NULL},
    {"no events", "msmemscope|--events=none|app", "events=0 [app]", NULL},
    {"none among others", "msmemscope|--events=alloc,none|app", "events=0 [app]",
     "Warning: none among other events"},
    {"empty words among events", "msmemscope|--events=,alloc|app", "events=1 [app]", NULL},
    {"empty events", "msmemscope|--events=,|app", "invalid events input", NULL},
    {"wrong event", "msmemscope|--events=alloc,realloc|app", "invalid events input", NULL},
    /* --steps */
    {"more than five steps", "msmemscope|--steps=1,2,3,5,8,13,21|app",
     "step=1 step=2 step=3 step=5 step=8 step=13 step=21 [app]", NULL},
    {"steps, wide comma", "msmemscope|--steps=4" WIDE "2|app", "step=4 step=2 [app]", NULL},
    {"steps with an analysis", "msmemscope|--steps=2|--analysis=leaks,decompose|app",
     "analysis=3 step=2 [app]", NULL},
    {"largest step", "msmemscope|--steps=4294967295|app", "step=4294967295 [app]", NULL},
    {"step too large", "msmemscope|--steps=4294967296|app", "invalid steps input", NULL},
    {"step 0", "msmemscope|--steps=0|app", "invalid steps input", NULL},
    {"leading zero", "msmemscope|--steps=01|app", "invalid steps input", NULL},
    {"negative step", "msmemscope|--steps=-1|app", "invalid steps input", NULL},
    {"no step between commas", "msmemscope|--steps=1,,2|app", "invalid steps input", NULL},
    {"no number", "msmemscope|--steps=two|app", "invalid steps input", NULL},
    /* --call-stack */
    {"C stacks", "msmemscope|--call-stack=c|app", "c=50 [app]", NULL},
    {"both stacks", "msmemscope|--call-stack=c:20,python:1000|app", "c=20 python=1000 [app]", NULL},
    {"no frames", "msmemscope|--call-stack=c:0|app", "c=0 [app]", NULL},
    {"too many frames", "msmemscope|--call-stack=c:1001|app", "invalid call stack input", NULL},
    {"wrong stack", "msmemscope|--call-stack=java|app", "invalid call stack input", NULL},
    {"no depth after the colon", "msmemscope|--call-stack=c:|app", "invalid call stack input",
     NULL},
    /* --collect-mode */
    {"deferred", "msmemscope|--collect-mode=deferred|app", "deferred [app]", NULL},
    {"immediate", "msmemscope|--collect-mode=immediate|app", "[app]", NULL},
    {"wrong mode", "msmemscope|--collect-mode=custom|app", "invalid collect mode input", NULL},
    /* --device */
    {"one device", "msmemscope|--device=npu:3|app", "not_all_npu devices=8 [app]", NULL},
    {"devices", "msmemscope|--device=npu:0,npu:31,cpu|app",
     "cpu not_all_npu devices=80000001 [app]", NULL},
    {"all devices and the host", "msmemscope|--device=npu,cpu|app", "cpu [app]", NULL},
    {"all swallow one", "msmemscope|--device=npu:1,npu|app", "[app]", NULL},
    {"only the host", "msmemscope|--device=cpu|app", "cpu not_all_npu [app]", NULL},
    {"device too large", "msmemscope|--device=npu:32|app", "invalid device input", NULL},
    {"wrong device", "msmemscope|--device=gpu|app", "invalid device input", NULL},
    /* --analysis */
    {"all analyses", "msmemscope|--analysis=leaks,decompose,inefficient,oom|app",
     "analysis=f [app]", NULL},
    {"oom with a number", "msmemscope|--analysis=oom:1000|app", "analysis=8 oom=3e8 [app]", NULL},
    {"oom with too much", "msmemscope|--analysis=oom:1001|app", "invalid analysis input", NULL},
    {"oom with nothing", "msmemscope|--analysis=oom:|app", "invalid analysis input", NULL},
    {"only begins with oom", "msmemscope|--analysis=oomph|app", "invalid analysis input", NULL},
    {"no analysis", "msmemscope|--analysis=none|app", "analysis=0 [app]", NULL},
    {"no analysis among others", "msmemscope|--analysis=leaks,none|app", "analysis=0 [app]",
     "Warning: none among other analyses"},
    {"empty words among analyses", "msmemscope|--analysis=inefficient,|app", "analysis=4 [app]",
     NULL},
    {"empty analysis", "msmemscope|--analysis=|app", "analysis=0 [app]", NULL},
    {"empty analysis of msleaks", "msleaks|--analysis|app|x", "invalid analysis input", NULL},
    {"host with device, which the tool refuses", "msmemscope|--analysis=host-leaks,leaks|app",
     "analysis=11 [app]", NULL},
    {"wrong analysis", "msmemscope|--analysis=lost|app", "invalid analysis input", NULL},
    /* Host heap. */
    {"host leak options",
     "msmemscope|--analysis=host-leaks|--host-leak-mode=event|--block-size-threshold=256|"
     "--sample-rate=8|app",
     "by_event analysis=10 threshold=100 rate=8 [app]", "--sample-rate has no effect"},
    {"wrong host leak mode", "msmemscope|--host-leak-mode=all|app", "invalid host-leak-mode input",
     NULL},
    {"wrong rate", "msmemscope|--sample-rate=0|app", "invalid sample-rate input", NULL},
    /* --compare, --input-path */
    {"compare", "msmemscope|--compare|--input-path=a.csv,b.csv", "compare in=a.csv in=b.csv", NULL},
    {"compare, wide comma, letter", "msmemscope|--compare|-i|a" WIDE "b|--level=kernel",
     "compare level=2 in=a in=b", NULL},
    {"compare under the old option", "msmemscope|--compare|--input=a,b", "compare in=a in=b",
     "Deprecation: '--input' is deprecated, use '--input-path' instead."},
    {"the old option under the old name", "msleaks|--compare|--input=a,b", "compare in=a in=b",
     NULL},
    {"compare without files", "msmemscope|--compare",
     "Please use compare command with correct input paths!", NULL},
    {"files without compare", "msmemscope|--input-path=a,b",
     "Please use compare command with correct input paths!", NULL},
    {"one file", "msmemscope|--compare|--input-path=a",
     "Please use compare command with correct input paths!", NULL},
    {"three files", "msmemscope|--compare|--input-path=a,b,c", "invalid input-path input", NULL},
    {"an empty file name", "msmemscope|--compare|--input-path=a,", "invalid input-path input",
     NULL},
    {"compare at two levels", "msmemscope|--compare|-i|a,b|--level=op,kernel", "looks at one level",
     NULL},
    /* One file, looked at afterwards. */
    {"leaks of a file", "msmemscope|--analysis=leaks|-i|a.csv|--mstx-info=test|--start-index=1",
     "start_index=1 mark=test in=a.csv", NULL},
    {"inefficiency of a file",
     "msmemscope|--analysis=inefficient|-i|a.csv|--mem-size=512|"
     "--inefficient-type=early_allocation,temporary_idleness|--idle-threshold=10",
     "analysis=4 mem_size=200 types=5 idle=a in=a.csv", NULL},
    {"a folder", "msmemscope|-i|/|--format=db|--analysis=decompose", "db analysis=2 in=/", NULL},
    {"nothing to look at", "msmemscope|-i|/nowhere|--analysis=decompose",
     "/nowhere: there is no such file or folder", NULL},
    {"a folder and a program", "msmemscope|-i|/|app",
     "Please use compare command with correct input paths!", NULL},
    {"a file and a program", "msmemscope|-i|a.csv|app",
     "Please use compare command with correct input paths!", NULL},
    {"wrong type", "msmemscope|--analysis=inefficient|-i|a|--inefficient-type=late",
     "invalid inefficient-type input", NULL},
    /* --output-path, --format, --log-level */
    {"output", "msmemscope|--output-path=/tmp/a b/\xe4\xb8\xad_1~|app",
     "folder=/tmp/a b/\xe4\xb8\xad_1~ [app]", NULL},
    {"old output", "msmemscope|--output=x|app", "folder=x [app]",
     "'--output' is deprecated, use '--output-path'"},
    {"output with a semicolon", "msmemscope|--output-path=a;b|app", "invalid output-path input",
     NULL},
    {"output with a wide comma", "msmemscope|--output-path=a" WIDE "b|app",
     "invalid output-path input", NULL},
    {"empty output", "msmemscope|--output-path=|app", "invalid output-path input", NULL},
    {"blank output", "msmemscope|--output-path= |app", "invalid output-path input", NULL},
    {"database", "msmemscope|--format=db|app", "db [app]", NULL},
    {"database under the old option", "msmemscope|--data-format=db|app", "db [app]",
     "'--data-format' is deprecated, use '--format'"},
    {"wrong format", "msmemscope|--format=xml|app", "invalid data-format input", NULL},
    {"log level", "msmemscope|--log-level=warning|app", "log=2 [app]", NULL},
    {"old log level", "msmemscope|--log-level=warn|app", "log=2 [app]",
     "'warn' is deprecated, use 'warning'"},
    {"log level of msleaks", "msleaks|--log-level=warn|app", "[app]", NULL},
    {"wrong log level", "msmemscope|--log-level=trace|app", "invalid log-level input", NULL},
    /* --watch */
    {"watch", "msmemscope|--watch=op_a,op_b|app", "watch=op_a>op_b [app]", NULL},
    {"watch one output, all of it", "msmemscope|--watch=op_a:2,op_b,full-content|app",
     "full_content watch=op_a>op_b out=2 [app]", NULL},
    {"watch from the beginning", "msmemscope|--watch=,op_b|app", "watch=>op_b [app]", NULL},
    {"a name with colons", "msmemscope|--watch=aten::add,op_b|app", "watch=aten::add>op_b [app]",
     NULL},
    {"an empty last word", "msmemscope|--watch=op_a:123,op_b,|app", "watch=op_a>op_b out=123 [app]",
     NULL},
    {"only an end, an empty last word", "msmemscope|--watch=,op_b,|app", "watch=>op_b [app]", NULL},
    {"an output that is no number", "msmemscope|--watch=op_a:error,op_b|app", "invalid watch input",
     NULL},
    {"an output of nothing", "msmemscope|--watch=:,op_b|app", "invalid watch input", NULL},
    {"watch without an end", "msmemscope|--watch=op_a|app", "invalid watch input", NULL},
    {"watch with another word", "msmemscope|--watch=a,b,all|app", "invalid watch input", NULL},
    /* Attach. */
    {"attach", "msmemscope|--pid=77|--command=start", "pid=77 command=start", NULL},
    {"attach without a word", "msmemscope|--pid|77", "pid=77 command=", NULL},
    {"word without a process", "msmemscope|--command=start|app", "--command needs --pid", NULL},
    {"wrong process", "msmemscope|--pid=0", "invalid pid input", NULL},
    /* Ours. */
    {"strict", "msmemscope|--strict-compat|app", "strict [app]", NULL},
    {"flat folders", "msmemscope|--layout=flat|app", "layout=flat [app]", NULL},
    {"folders of the last msleaks", "msleaks|--layout=process|app", "layout=process [app]", NULL},
    {"first version", "msleaks|--level=0|--steps=1,2|-p|--input=a|--output=o|app",
     "Please use compare command", NULL},
    {"first version, recording", "msleaks|--level=0|--steps=1,2|-p|--output=o|app",
     "folder=o step=1 step=2 [app]", NULL},
};

enum { case_count = sizeof(cases) / sizeof(cases[0]) };

static void no_other_program_is_taken_for_it(void **state)
{
    (void)state;
    assert_null(compat_generation_find("leaktide"));
    assert_null(compat_generation_find("msleaksx"));
    assert_int_equal(compat_generation_find("./msleaks")->name, COMPAT_MSLEAKS);
}

static void analyses_widen_what_is_recorded_not_what_is_written(void **state)
{
    struct compat_request request = {.dump.events = DUMP_BIT_FREE};

    (void)state;
    assert_int_equal(compat_events_needed(&request), DUMP_BIT_ALLOC | DUMP_BIT_FREE);
    request.dump.events = 0;
    assert_int_equal(compat_events_needed(&request), 0);
    request.dump.analyses = DUMP_BIT_DECOMPOSE;
    assert_int_equal(compat_events_needed(&request),
                     DUMP_BIT_ALLOC | DUMP_BIT_FREE | DUMP_BIT_ACCESS);
    request.dump.analyses = DUMP_BIT_INEFFICIENT;
    assert_int_equal(compat_events_needed(&request), 15);
    request.dump.analyses = 0;
    request.dump.events = DUMP_BIT_ACCESS;
    assert_int_equal(compat_events_needed(&request),
                     DUMP_BIT_ALLOC | DUMP_BIT_FREE | DUMP_BIT_ACCESS);
}

int main(void)
{
    struct CMUnitTest tests[case_count + 2] = {
        cmocka_unit_test(no_other_program_is_taken_for_it),
        cmocka_unit_test(analyses_widen_what_is_recorded_not_what_is_written),
    };

    for (size_t i = 0; i < case_count; i++)
        tests[i + 2] = (struct CMUnitTest){.name = cases[i].name,
                                           .test_func = request_reads_or_rejects,
                                           .initial_state = (void *)&cases[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
