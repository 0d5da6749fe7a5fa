/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stays of a stack when a program changes, and which frame tells.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model.h"
#include "symbols.h"
#include "temporary_folder.h"

/* "function file line", innermost first; a file that ends in .py makes it Python. */
struct frame_text {
    const char *function, *file;
    uint32_t line;
};

enum { depth_most = 12 };

struct fixture {
    struct model *model;
    struct symbols *symbols;
};

static uint32_t text_of(struct model *model, const char *text)
{
    return model_text(model, text, strlen(text));
}

static uint32_t site_of(struct model *model, const struct frame_text *frames)
{
    uint32_t stack = 0;
    size_t count = 0;

    while (count < depth_most && frames[count].function)
        count++;
    while (count-- > 0) {
        const struct frame_text *frame = &frames[count];
        const char *end = strrchr(frame->file, '.');

        stack = model_stack(
            model, stack,
            model_frame(model,
                        (struct model_frame){
                            .kind = end && strcmp(end, ".py") == 0 ? FRAME_PYTHON : FRAME_NATIVE,
                            .function = text_of(model, frame->function),
                            .file = text_of(model, frame->file),
                            .line = frame->line,
                        }));
    }
    return model_site(model, (struct model_site){.stack = stack});
}

static struct fixture fixture_make(void)
{
    struct fixture fixture;

    assert_int_equal(model_create(&fixture.model, NULL), MT_OK);
    assert_int_equal(symbols_create(fixture.model, &fixture.symbols, NULL), MT_OK);
    return fixture;
}

static void fixture_release(struct fixture *fixture)
{
    symbols_destroy(fixture->symbols);
    model_destroy(fixture->model);
}

struct pair {
    const char *name;
    struct frame_text first[depth_most], second[depth_most];
    bool is_same;
};

static const struct pair pairs[] = {
    {"moved lines are the same site",
     {{"make", "/src/buffer.c", 10}, {"main", "/src/main.c", 20}},
     {{"make", "/src/buffer.c", 14}, {"main", "/src/main.c", 33}},
     true},
    {"another build path is the same site",
     {{"make", "/src/buffer.c", 10}, {"main", "/src/main.c", 20}},
     {{"make", "C:\\build\\42\\buffer.c", 10}, {"main", "C:\\build\\42\\main.c", 20}},
     true},
    {"another caller is another site",
     {{"make", "buffer.c", 10}, {"load", "io.c", 20}, {"main", "main.c", 1}},
     {{"make", "buffer.c", 10}, {"save", "io.c", 20}, {"main", "main.c", 1}},
     false},
    {"another caller further out is another site",
     {{"make", "buffer.c", 10}, {"load", "io.c", 20}, {"first", "main.c", 1}},
     {{"make", "buffer.c", 10}, {"load", "io.c", 20}, {"second", "main.c", 1}},
     false},
    {"a function of the same name in another file is another site",
     {{"init", "red.c", 1}, {"main", "main.c", 1}},
     {{"init", "blue.c", 1}, {"main", "main.c", 1}},
     false},
    {"a Rust program that is built again is the same site",
     {{"_ZN4leak5shelf14Shelf$LT$T$GT$4keep17hf31b6db8ef9e3df3E", "", 0},
      {"_RNvCskxg14rcgYob_4leak4turn", "", 0},
      {"_ZN4leak4main17h3c28eb001ee0651dE", "", 0}},
     {{"_ZN4leak5shelf14Shelf$LT$T$GT$4keep17h0ab1bd73e05b2a11E", "", 0},
      {"_RNvCs1Ab2Cd3Ef4_4leak4turn", "", 0},
      {"_ZN4leak4main17h00c3f5a7b9d1e208E.llvm.71", "", 0}},
     true},
    {"how deep a recursion was does not matter",
     {{"leaf", "a.c", 1}, {"walk", "a.c", 2}, {"main", "a.c", 3}},
     {{"leaf", "a.c", 1},
      {"walk", "a.c", 2},
      {"walk", "a.c", 2},
      {"walk", "a.c", 2},
      {"main", "a.c", 3}},
     true},
    {"two functions that call each other are recursion",
     {{"leaf", "a.c", 1}, {"even", "a.c", 2}, {"odd", "a.c", 2}, {"main", "a.c", 3}},
     {{"leaf", "a.c", 1},
      {"even", "a.c", 2},
      {"odd", "a.c", 2},
      {"even", "a.c", 2},
      {"odd", "a.c", 2},
      {"main", "a.c", 3}},
     true},
    {"how the library came to malloc does not matter",
     {{"malloc", "", 0}, {"std::vector<int>::reserve(unsigned long)", "", 0}, {"fill", "f.cc", 3}},
     {{"operator new(unsigned long)", "", 0},
      {"std::vector<int>::push_back(int&&)", "", 0},
      {"fill", "f.cc", 5}},
     true},
    {"whose malloc it was does not matter",
     {{"zmalloc_usable", "", 0}, {"fill", "f.c", 3}, {"main", "f.c", 1}},
     {{"zrealloc_usable", "", 0}, {"fill", "f.c", 3}, {"main", "f.c", 1}},
     true},
    {"what allocates ahead is a function of the program",
     {{"prealloc_rows", "f.c", 9}, {"fill", "f.c", 3}, {"main", "f.c", 1}},
     {{"prealloc_columns", "f.c", 19}, {"fill", "f.c", 3}, {"main", "f.c", 1}},
     false},
    {"copies that a compiler makes are the function",
     {{"fill", "f.c", 3}, {"main", "f.c", 1}},
     {{"fill.constprop.0", "f.c", 3}, {"main", "f.c", 1}},
     true},
    {"inside of the framework nothing counts but its entry",
     {{"forward", "net.py", 5},
      {"_call_impl", "/lib/python3.11/site-packages/torch/nn/module.py", 9},
      {"train", "train.py", 3}},
     {{"forward", "net.py", 6},
      {"_inner", "/lib/python3.12/site-packages/torch/nn/module.py", 12},
      {"_call_impl", "/lib/python3.12/site-packages/torch/nn/module.py", 19},
      {"train", "train.py", 4}},
     true},
    {"the framework is known where pip was given a folder, too",
     {{"forward", "/opt/packages/torch/nn/modules/linear.py", 134},
      {"_call_impl", "/opt/packages/torch/nn/modules/module.py", 9},
      {"forward", "net.py", 23}},
     {{"forward", "/opt/packages/torch/nn/modules/linear.py", 134},
      {"_inner", "/opt/packages/torch/nn/modules/module.py", 12},
      {"_call_impl", "/opt/packages/torch/nn/modules/module.py", 19},
      {"forward", "net.py", 24}},
     true},
    {"another function of the framework that the program calls is another site",
     {{"step", "/x/site-packages/torch/optim/adam.py", 9}, {"train", "train.py", 3}},
     {{"load", "/x/site-packages/torch/serialization.py", 9}, {"train", "train.py", 3}},
     false},
    {"how a program was started does not matter",
     {{"main", "main.c", 3}},
     {{"main", "main.c", 3}, {"__libc_start_call_main", "", 0}, {"_start", "", 0}},
     true},
    {"a stack of nothing but plumbing counts as it is",
     {{"malloc", "", 0}, {"call_init", "dl-init.c", 1}},
     {{"malloc", "", 0}, {"start_thread", "pthread.c", 1}},
     false},
};

static void stable_ids(void **state)
{
    const struct pair *pair = *state;
    struct fixture fixture = fixture_make();
    uint32_t first = site_of(fixture.model, pair->first);
    uint32_t second = site_of(fixture.model, pair->second);
    bool is_same =
        symbols_site_id(fixture.symbols, first) == symbols_site_id(fixture.symbols, second);

    assert_true(is_same == pair->is_same);
    assert_int_not_equal(symbols_site_id(fixture.symbols, first), 0);
    fixture_release(&fixture);
}

struct label {
    const char *text;
    struct frame_text frames[depth_most];
};

static const struct label labels[] = {
    {"forward (models/net.py:5)",
     {{"c10::alloc(unsigned long)", "??", 0},
      {"at::empty(int)", "??", 0},
      {"dropout", "/x/site-packages/torch/nn/functional.py", 9},
      {"forward", "/home/u/models/net.py", 5},
      {"main", "/home/u/main.py", 1}}},
    {"MulBackward0::apply",
     {{"c10::alloc(unsigned long)", "??", 0},
      {"at::_ops::mul::call(int)", "", 0},
      {"torch::autograd::generated::MulBackward0::apply(int)", "", 0},
      {"clone", "", 0}}},
    {"at::clone (libtorch_cpu.so)",
     {{"c10::alloc(unsigned long)", "??", 0},
      {"at::_ops::empty_strided::redispatch(int)", "libtorch_cpu.so", 0},
      {"at::native::clone(int)", "", 0},
      {"at::_ops::clone::redispatch(int)", "libtorch_cpu.so", 0},
      {"at::_ops::clone::call(int)", "libtorch_cpu.so", 0},
      {"start_thread", "", 0}}},
    {"train_step (user/train.py:7)",
     {{"__torch_dispatch__", "/usr/local/ascend/tool/python/hook.py", 40},
      {"train_step", "/home/user/train.py", 7}}},
    {"at::parallel_for<...>::run (f.cc:3)",
     {{"at::parallel_for<at::native::index_select_out_cpu_dim1_<std::vector<int> > >::run(int)",
       "/src/f.cc", 3}}},
    {"operator<< <...> (f.cc:3)",
     {{"std::ostream& operator<< <at::native::index_select_out_cpu_dim1_, std::vector<int> >(int)",
       "/src/f.cc", 3}}},
    {"fill<int> (f.cc:3)", {{"void fill<int>(int) [clone .cold]", "/src/f.cc", 3}}},
    {"Box::operator bool (f.cc)", {{"Box::operator bool() const", "/src/f.cc", 0}}},
    {"(anonymous namespace)::fill (f.cc)",
     {{"std::pair<int, int> (anonymous namespace)::fill(int)", "/src/f.cc", 0}}},
    {"fill (f.cc:4)", {{"fill", "f.cc", 4}, {"(nothing tells who called)", "", 0}}},
    {"pool (libstdc++.so.6)",
     {{"pool", "libstdc++.so.6", 0},
      {"call_init", "", 0},
      {"(the stack could not be read further)", "", 0}}},
    {"fill (f.cc:4)", {{"fill", "f.cc", 4}, {"(called from code made at run time)", "", 0}}},
    {"fill (f.cc:4)", {{"fill", "f.cc", 4}, {"(more frames were not asked for)", "", 0}}},
    {"(more frames were not asked for)", {{"(more frames were not asked for)", "", 0}}},
    {"fill (f.cc:3)",
     {{"operator new(unsigned long)", "", 0},
      {"std::vector<int>::reserve(unsigned long)", "", 0},
      {"fill(int)", "/src/f.cc", 3},
      {"main", "/src/f.cc", 9}}},
    {"load (f.c:3)",
     {{"getline", "/usr/include/x86_64-linux-gnu/bits/stdio.h", 119},
      {"load", "/src/f.c", 3},
      {"main", "/src/f.c", 9}}},
};

static void a_site_is_named_after_the_frame_that_tells_most(void **state)
{
    const struct label *label = *state;
    struct fixture fixture = fixture_make();

    assert_string_equal(symbols_label(fixture.symbols, site_of(fixture.model, label->frames)),
                        label->text);
    fixture_release(&fixture);
}

static void lines_are_told_apart_within_one_recording(void **state)
{
    static const struct frame_text first[] = {{"f", "a.c", 1}, {"main", "a.c", 9}, {NULL, "", 0}};
    static const struct frame_text other[] = {{"f", "a.c", 2}, {"main", "a.c", 9}, {NULL, "", 0}};
    static const struct frame_text outer[] = {{"f", "a.c", 1}, {"main", "a.c", 8}, {NULL, "", 0}};
    struct fixture fixture = fixture_make();
    uint64_t key = symbols_site_key(fixture.symbols, site_of(fixture.model, first));

    (void)state;
    assert_int_not_equal(key, symbols_site_key(fixture.symbols, site_of(fixture.model, other)));
    assert_int_equal(key, symbols_site_key(fixture.symbols, site_of(fixture.model, outer)));
    fixture_release(&fixture);
}

/* Of as many callers in as many files, which main() calls. */
static uint32_t sites_behind(struct model *model, const char *wrapper, size_t callers, size_t files)
{
    uint32_t site = 0;

    for (size_t i = 0; i < callers; i++) {
        char caller[32], file[32];
        const struct frame_text frames[] = {{"malloc", "", 0},
                                            {wrapper, "/src/mem.c", 5},
                                            {caller, file, (uint32_t)i + 1},
                                            {"main", "/src/main.c", 9},
                                            {NULL, "", 0}};

        snprintf(caller, sizeof(caller), "make_%zu", i);
        snprintf(file, sizeof(file), "/src/part%zu.c", i % files);
        site = site_of(model, frames);
    }
    return site;
}

static void what_many_call_from_many_files_is_a_wrapper(void **state)
{
    struct fixture fixture = fixture_make();
    uint32_t site = sites_behind(fixture.model, "grab", 16, 4);
    uint64_t id = symbols_site_id(fixture.symbols, site);
    size_t count;
    const struct symbol_frame *shown;

    (void)state;
    assert_string_equal(symbols_label(fixture.symbols, site), "make_15 (part3.c:16)");
    shown = symbols_frames(fixture.symbols, site, &count);
    assert_true(count == 4 && shown[2].is_telling && !shown[1].is_telling);
    fixture_release(&fixture);

    /* The id does not depend on what else was recorded. */
    fixture = fixture_make();
    sites_behind(fixture.model, "grab", 15, 4);
    site = site_of(fixture.model, (const struct frame_text[]){{"malloc", "", 0},
                                                              {"grab", "/src/mem.c", 5},
                                                              {"make_15", "/src/part3.c", 16},
                                                              {"main", "/src/main.c", 9},
                                                              {NULL, "", 0}});
    assert_int_equal(symbols_site_id(fixture.symbols, site), id);
    fixture_release(&fixture);
}

static void what_few_call_or_one_file_calls_is_none(void **state)
{
    struct fixture fixture = fixture_make();

    (void)state;
    assert_string_equal(symbols_label(fixture.symbols, sites_behind(fixture.model, "grab", 15, 4)),
                        "grab (mem.c:5)");
    fixture_release(&fixture);
    fixture = fixture_make();
    assert_string_equal(symbols_label(fixture.symbols, sites_behind(fixture.model, "grab", 40, 3)),
                        "grab (mem.c:5)");
    fixture_release(&fixture);
}

static uint32_t site_in(struct model *model, const char *const *functions,
                        const char *const *modules, size_t count)
{
    uint32_t stack = 0;

    while (count-- > 0)
        stack = model_stack(model, stack,
                            model_frame(model, (struct model_frame){
                                                   .kind = FRAME_NATIVE,
                                                   .function = text_of(model, functions[count]),
                                                   .module = text_of(model, modules[count]),
                                                   .address = 0x1000 + count,
                                               }));
    return model_site(model, (struct model_site){.stack = stack});
}

static void a_frame_without_a_name_gives_way_to_one_of_its_module(void **state)
{
    static const char *const functions[] = {"", "", "sqlite3BtreeInsert", "query"};
    static const char *const same[] = {"/lib/libsqlite3.so", "/lib/libsqlite3.so",
                                       "/lib/libsqlite3.so", "/bin/app"};
    static const char *const other[] = {"/bin/app", "/bin/app", "/lib/libglib.so",
                                        "/lib/libglib.so"};
    struct fixture fixture = fixture_make();

    (void)state;
    assert_string_equal(symbols_label(fixture.symbols, site_in(fixture.model, functions, same, 4)),
                        "sqlite3BtreeInsert (libsqlite3.so)");
    assert_string_equal(symbols_label(fixture.symbols, site_in(fixture.model, functions, other, 4)),
                        "0x1000 (app)");
    fixture_release(&fixture);
}

static void frames_are_the_whole_stack_with_what_is_plumbing(void **state)
{
    static const struct frame_text frames[] = {
        {"malloc", "", 0}, {"f", "/src/a.c", 2}, {"main", "/src/a.c", 9}, {NULL, "", 0}};
    struct fixture fixture = fixture_make();
    size_t count;
    const struct symbol_frame *shown =
        symbols_frames(fixture.symbols, site_of(fixture.model, frames), &count);

    (void)state;
    assert_int_equal(count, 3);
    assert_true(shown[0].is_plumbing);
    assert_string_equal(shown[0].whose, "the allocator");
    assert_string_equal(shown[1].function, "f");
    assert_string_equal(shown[1].file, "/src/a.c");
    assert_int_equal(shown[1].line, 2);
    assert_true(shown[1].is_telling && !shown[2].is_telling && !shown[1].is_plumbing);
    fixture_release(&fixture);
}

static void what_an_operator_calls_is_plumbing(void **state)
{
    static const struct frame_text frames[] = {{"at::_ops::empty::call(int)", "", 0},
                                               {"at::native::zeros(int)", "", 0},
                                               {"at::_ops::zeros::redispatch(int)", "", 0},
                                               {"at::_ops::zeros::call(int)", "", 0},
                                               {"make", "/home/u/net.py", 2},
                                               {NULL, "", 0}};
    struct fixture fixture = fixture_make();
    size_t count;
    const struct symbol_frame *shown =
        symbols_frames(fixture.symbols, site_of(fixture.model, frames), &count);

    (void)state;
    assert_int_equal(count, 5);
    assert_true(shown[0].is_plumbing && shown[1].is_plumbing && shown[2].is_plumbing);
    assert_string_equal(shown[0].whose, "the framework's machinery");
    assert_true(!shown[3].is_plumbing && !shown[4].is_plumbing);
    assert_true(shown[4].is_telling && shown[4].is_python && !shown[3].is_python);
    fixture_release(&fixture);
}

/* Inlined or not, with debug data or without. */
static void rusts_own_library_does_not_name_sites(void **state)
{
    static const struct {
        struct frame_text frames[depth_most];
        const char *label;
    } cases[] = {
        {{{"_RNvNtCslNYArtu3iFV_5alloc5alloc5alloc", "/rustc/5980/library/alloc/src/alloc.rs", 95},
          {"_RNvMs2_Cs1_3vecNtB5_6Server6handle", "/home/u/vec.rs", 6},
          {"main", "", 0}},
         "<vec::Server>::handle (vec.rs:6)"},
        {{{"_RNvMs4_NtCslNYArtu3iFV_5alloc7raw_vecNtB5_11RawVecInner11finish_growCs6_1a", "", 0},
          {"_RNvXs_NtCs1_5alloc3vecINtB4_3VechENtNtCs2_4core5clone5Clone5clone", "", 0},
          {"_ZN9hashbrown3map28HashMap$LT$K$C$V$C$S$C$A$GT$6insert17h2f64ca4db323d7a6E", "", 0},
          {"_ZN3vec6Server6handle17h0ab1bd73e05b2a11E", "", 0},
          {"main", "", 0}},
         "vec::Server::handle"},
        /* a trait of the program, for a type of the library */
        {{{"_RNvMs4_NtCslNYArtu3iFV_5alloc7raw_vecNtB5_11RawVecInner11finish_growCs6_1a", "", 0},
          {"_RNvXCs1_3vecINtNtCs2_5alloc3vec3VechENtB2_4Keep4keep", "", 0},
          {"main", "", 0}},
         "<alloc::vec::Vec<u8> as vec::Keep>::keep"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fixture fixture = fixture_make();

        assert_string_equal(symbols_label(fixture.symbols, site_of(fixture.model, cases[i].frames)),
                            cases[i].label);
        fixture_release(&fixture);
    }
}

static void a_rule_of_the_user_comes_first(void **state)
{
    static const char rules[] = "# ours\n\nallocator  native  pool_*\nallocator file */MEM.py\n";
    static const struct frame_text frames[] = {
        {"pool_get", "pool.c", 2}, {"serve", "serve.c", 9}, {NULL, "", 0}};
    static const struct frame_text python[] = {
        {"get", "C:\\lib\\mem.py", 2}, {"serve", "serve.py", 9}, {NULL, "", 0}};
    struct fixture fixture = fixture_make();
    char *folder = temporary_folder_create();
    char *path = temporary_file_write(folder, "our.rules", rules, strlen(rules));

    (void)state;
    assert_int_equal(
        symbols_configure(fixture.symbols, &(struct symbols_options){.rule_files = path}, NULL),
        MT_OK);
    assert_string_equal(symbols_label(fixture.symbols, site_of(fixture.model, frames)),
                        "serve (serve.c:9)");
    assert_string_equal(symbols_label(fixture.symbols, site_of(fixture.model, python)),
                        "serve (serve.py:9)");
    free(path);
    temporary_folder_remove(folder);
    fixture_release(&fixture);
}

static const struct {
    const char *text, *words;
} bad_rules[] = {
    {"allocator native a\nplumbing native b\n", "line 2: there is no class plumbing"},
    {"allocator function a\n", "line 1: expected native, python, file or module after the class"},
    {"allocator native\n", "line 1: the pattern is missing"},
};

static void a_wrong_rule_is_told_with_its_line(void **state)
{
    struct fixture fixture = fixture_make();
    struct mt_error error;
    char *folder = temporary_folder_create();

    (void)state;
    for (size_t i = 0; i < sizeof(bad_rules) / sizeof(bad_rules[0]); i++) {
        char *path =
            temporary_file_write(folder, "bad.rules", bad_rules[i].text, strlen(bad_rules[i].text));

        assert_int_equal(symbols_configure(fixture.symbols,
                                           &(struct symbols_options){.rule_files = path}, &error),
                         MT_USAGE);
        if (!strstr(error.message, bad_rules[i].words))
            fail_msg("%s", error.message);
        free(path);
    }
    assert_int_equal(symbols_configure(fixture.symbols,
                                       &(struct symbols_options){.rule_files = "/no/such.rules"},
                                       &error),
                     MT_USAGE);
    temporary_folder_remove(folder);
    fixture_release(&fixture);
}

/* Without steps, these are one stack; and what a stack says of its time. */
static const struct shape_pair {
    const char *name;
    struct frame_text first[depth_most], second[depth_most];
    bool is_same;
    unsigned traits; /* of the first */
} shape_pairs[] = {
    {"copies of an interpreter's loop are one",
     {{"list_append", "", 0}, {"_PyEval_EvalFrameDefault", "", 0}, {"run", "a.py", 3}},
     {{"list_append", "", 0}, {"_PyEval_Vector", "", 0}, {"run", "a.py", 3}},
     true,
     STACK_IS_PYTHON},
    {"another native function below the line is another stack",
     {{"list_append", "", 0}, {"run", "a.py", 3}},
     {{"dict_resize", "", 0}, {"run", "a.py", 3}},
     false,
     STACK_IS_PYTHON},
    {"native functions between lines of Python do not count",
     {{"run", "a.py", 3}, {"cfunction_call", "", 0}, {"main", "a.py", 9}},
     {{"run", "a.py", 3}, {"method_vectorcall", "", 0}, {"main", "a.py", 9}},
     true,
     STACK_IS_PYTHON},
    {"another line is another stack",
     {{"run", "a.py", 3}, {"main", "a.py", 9}},
     {{"run", "a.py", 4}, {"main", "a.py", 9}},
     false,
     STACK_IS_PYTHON},
    {"the depth of a recursion does not matter to the shape",
     {{"leaf", "a.py", 1}, {"walk", "a.py", 2}, {"main", "a.py", 3}},
     {{"leaf", "a.py", 1}, {"walk", "a.py", 2}, {"walk", "a.py", 2}, {"main", "a.py", 3}},
     true,
     STACK_IS_PYTHON},
    {"which way a module was loaded does not matter",
     {{"compile", "/usr/lib/python3.11/re.py", 9},
      {"<module>", "/x/site-packages/torch/a.py", 7},
      {"PyImport_ImportModuleLevelObject", "", 0},
      {"<module>", "/x/site-packages/torch/b.py", 5},
      {"PyImport_ImportModuleLevelObject", "", 0},
      {"<module>", "/home/train.py", 1}},
     {{"update", "/x/site-packages/torch/c.py", 8},
      {"PyImport_ImportModuleLevelObject", "", 0},
      {"<module>", "/home/train.py", 1}},
     true,
     STACK_IS_PYTHON | STACK_IS_IMPORT},
    {"which line loads it does",
     {{"update", "/x/site-packages/torch/c.py", 8},
      {"PyImport_ImportModuleLevelObject", "", 0},
      {"<module>", "/home/train.py", 1}},
     {{"update", "/x/site-packages/torch/c.py", 8},
      {"PyImport_ImportModuleLevelObject", "", 0},
      {"<module>", "/home/train.py", 2}},
     false,
     STACK_IS_PYTHON | STACK_IS_IMPORT},
    {"a loop of the program that runs while its module is loaded is a loop",
     {{"work", "/home/loop.py", 4},
      {"<module>", "/home/loop.py", 6},
      {"PyImport_ImportModuleLevelObject", "", 0},
      {"<module>", "/home/train.py", 1}},
     {{"work", "/home/loop.py", 5},
      {"<module>", "/home/loop.py", 6},
      {"PyImport_ImportModuleLevelObject", "", 0},
      {"<module>", "/home/train.py", 1}},
     false,
     STACK_IS_PYTHON},
    {"without Python every function counts",
     {{"fill", "", 0}, {"load", "", 0}, {"main", "", 0}},
     {{"fill", "", 0}, {"save", "", 0}, {"main", "", 0}},
     false,
     0},
    {"exit handlers are the end",
     {{"flush", "", 0}, {"__run_exit_handlers", "", 0}, {"exit", "", 0}},
     {{"flush", "", 0}, {"__run_exit_handlers", "", 0}, {"exit", "", 0}},
     true,
     STACK_IS_ENDING},
    {"modules are cleared after the last collection",
     {{"dict_dealloc", "", 0}, {"finalize_modules", "", 0}, {"Py_FinalizeEx", "", 0}},
     {{"dict_dealloc", "", 0}, {"finalize_modules", "", 0}, {"Py_FinalizeEx", "", 0}},
     true,
     STACK_IS_ENDING | STACK_IS_CLEARED},
    {"a Python function that is called exit is none",
     {{"exit", "shell.py", 4}, {"main", "shell.py", 9}},
     {{"exit", "shell.py", 4}, {"main", "shell.py", 9}},
     true,
     STACK_IS_PYTHON},
    {"an allocator of the interpreter hides what it hands out",
     {{"_PyMem_ArenaAlloc", "", 0}, {"new_arena", "", 0}, {"run", "a.py", 3}},
     {{"_PyMem_ArenaAlloc", "", 0}, {"new_arena", "", 0}, {"run", "a.py", 3}},
     true,
     STACK_IS_PYTHON | STACK_IS_POOLED},
    {"the cache of module re",
     {{"_sre_compile", "", 0}, {"_compile", "/usr/lib/python3.10/re.py", 303}, {"read", "a.py", 3}},
     {{"_sre_compile", "", 0}, {"_compile", "/usr/lib/python3.10/re.py", 303}, {"read", "a.py", 3}},
     true,
     STACK_IS_PYTHON | STACK_IS_PATTERN},
    {"a function that is called like that of re is none",
     {{"PyList_New", "", 0}, {"_compile", "/home/core.py", 303}, {"read", "a.py", 3}},
     {{"PyList_New", "", 0}, {"_compile", "/home/core.py", 303}, {"read", "a.py", 3}},
     true,
     STACK_IS_PYTHON},
    {"a buffer of JavaScript",
     {{"node::NodeArrayBufferAllocator::Allocate", "", 0}, {"_start", "", 0}},
     {{"node::NodeArrayBufferAllocator::Allocate", "", 0}, {"_start", "", 0}},
     true,
     STACK_IS_COLLECTED},
    {"V8 begins to look at all of its heap",
     {{"v8::internal::MarkCompactCollector::StartMarking(bool)", "", 0}, {"_start", "", 0}},
     {{"v8::internal::MarkCompactCollector::StartMarking(bool)", "", 0}, {"_start", "", 0}},
     true,
     STACK_IS_COLLECTING},
    {"a cache that says how much it holds",
     {{"bounded_lru_cache_wrapper", "", 0}, {"page", "a.py", 3}},
     {{"bounded_lru_cache_wrapper", "", 0}, {"page", "a.py", 3}},
     true,
     STACK_IS_PYTHON | STACK_IS_BOUNDED},
};

static void stacks_of_one_shape_are_one(void **state)
{
    const struct shape_pair *pair = *state;
    struct fixture fixture = fixture_make();
    struct symbols_shape first =
        symbols_shape_of(fixture.symbols, site_of(fixture.model, pair->first));
    struct symbols_shape second =
        symbols_shape_of(fixture.symbols, site_of(fixture.model, pair->second));

    assert_true(first.shape);
    assert_int_equal(first.shape == second.shape, pair->is_same);
    assert_int_equal(first.traits, pair->traits);
    fixture_release(&fixture);
}

enum {
    shape_count = sizeof(shape_pairs) / sizeof(shape_pairs[0]),
    pair_count = sizeof(pairs) / sizeof(pairs[0]),
    label_count = sizeof(labels) / sizeof(labels[0])
};

int main(void)
{
    struct CMUnitTest tests[pair_count + label_count + shape_count + 5] = {
        cmocka_unit_test(lines_are_told_apart_within_one_recording),
        cmocka_unit_test(what_many_call_from_many_files_is_a_wrapper),
        cmocka_unit_test(what_few_call_or_one_file_calls_is_none),
        cmocka_unit_test(a_frame_without_a_name_gives_way_to_one_of_its_module),
        cmocka_unit_test(frames_are_the_whole_stack_with_what_is_plumbing),
        cmocka_unit_test(what_an_operator_calls_is_plumbing),
        cmocka_unit_test(rusts_own_library_does_not_name_sites),
        cmocka_unit_test(a_rule_of_the_user_comes_first),
        cmocka_unit_test(a_wrong_rule_is_told_with_its_line),
    };

    for (size_t i = 0; i < pair_count; i++)
        tests[5 + i] = (struct CMUnitTest){pairs[i].name, stable_ids, NULL, NULL,
                                           (void *)(uintptr_t)&pairs[i]};
    for (size_t i = 0; i < label_count; i++)
        tests[5 + pair_count + i] =
            (struct CMUnitTest){labels[i].text, a_site_is_named_after_the_frame_that_tells_most,
                                NULL, NULL, (void *)(uintptr_t)&labels[i]};
    for (size_t i = 0; i < shape_count; i++)
        tests[5 + pair_count + label_count + i] =
            (struct CMUnitTest){shape_pairs[i].name, stacks_of_one_shape_are_one, NULL, NULL,
                                (void *)(uintptr_t)&shape_pairs[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
