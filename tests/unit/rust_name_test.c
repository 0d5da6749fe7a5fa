/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of Rust's functions. Those without a remark are rustc's own, of 1.95 and 1.97, of small
 * programs; what is expected of them is what its library, rustc-demangle, says ("{:#}").
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cxx_name.h"
#include "readable_name.h"
#include "rust_name.h"

#define ALL(table) (sizeof(table) / sizeof((table)[0]))

struct name_case {
    const char *mangled, *name; /* NULL: it is none, and stays as it is */
};

static const struct name_case v0_cases[] = {
    /* of the rustc book, "v0 Symbol Format" */
    {"_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate",
     "<std::path::PathBuf>::new"},
    {"_RNvCs15kBYyAo9fc_7mycrate7example", "mycrate::example"},
    {"_RNvMs_Cs4Cv8Wi1oAIB_7mycrateNtB4_7Example3foo", "<mycrate::Example>::foo"},
    {"_RNvXCs15kBYyAo9fc_7mycrateNtB2_7ExampleNtB2_5Trait3foo",
     "<mycrate::Example as mycrate::Trait>::foo"},
    {"_RNvYNtCs15kBYyAo9fc_7mycrate7ExampleNtB4_5Trait7exampleB4_",
     "<mycrate::Example as mycrate::Trait>::example"},
    {"_RNCNvCsgStHSCytQ6I_7mycrate4main0B3_", "mycrate::main::{closure#0}"},
    {"_RNCNvCsgStHSCytQ6I_7mycrate4mains_0B3_", "mycrate::main::{closure#1}"},
    {"_RINvCsgStHSCytQ6I_7mycrate7examplelKj1_EB2_", "mycrate::example::<i32, 1>"},
    {"_RNvNtNtCsgOH4LzxkuMq_7mycrateu8gdel_5qa6escher4bach", "mycrate::gödel::escher::bach"},
    {"_RINvCs7qp2U7fqm6G_7mycrate7exampleFG0_RL1_hRL0_tEuEB2_",
     "mycrate::example::<for<'a, 'b> fn(&'a u8, &'b u16)>"},
    {"_RINvCs7qp2U7fqm6G_7mycrate7exampleKy12345678_EB2_", "mycrate::example::<305419896>"},
    {"_RNvNvMCsd9PVOYlP1UU_7mycrateINtB4_7ExamplepKpE3foo14EXAMPLE_STATIC",
     "<mycrate::Example<_, _>>::foo::EXAMPLE_STATIC"},
    {"_RINvC1a1bC4f128E", "a::b::<f128>"},
    /* compiled */
    {"_RINvCs6xxl1lAjzDf_1a3genFKClElEB2_", "a::gen::<extern \"C\" fn(i32) -> i32>"},
    {"_RINvCs6xxl1lAjzDf_1a3genODNtNtCsgEmfK2I1SDS_4core3fmt5DebugEL_EB2_",
     "a::gen::<*mut dyn core::fmt::Debug>"},
    {"_RINvCs6xxl1lAjzDf_1a3genINtNtCslNYArtu3iFV_5alloc5boxed3BoxDG_INtNtNtCsgEmfK2I1SDS_4core3ops"
     "8function2FnTRL0_eEEp6OutputRL0_eNtNtB15_6marker4SendEL_EEB2_",
     "a::gen::<alloc::boxed::Box<dyn for<'a> core::ops::function::Fn<(&'a str,), Output = &'a str> "
     "+ core::marker::Send>>"},
    {"_RINvCs6xxl1lAjzDf_1a3genINtNtCsgEmfK2I1SDS_4core6option6OptionINtNtCslNYArtu3iFV_5alloc5boxe"
     "d3BoxDNtNtNtNtBr_4iter6traits8iterator8Iteratorp4ItemhNtNtBr_6marker4SyncNtB2m_4SendEL_"
     "EEEB2_",
     "a::gen::<core::option::Option<alloc::boxed::Box<dyn "
     "core::iter::traits::iterator::Iterator<Item = u8> + core::marker::Sync + "
     "core::marker::Send>>>"},
    {"_RINvCs6xxl1lAjzDf_1a4pickKc2603_Kb1_Kan5_EB2_", "a::pick::<'☃', true, -5>"},
    {"_RINvCs6xxl1lAjzDf_1a5takesTlReINtNtCsgEmfK2I1SDS_4core6option6OptiondEEEB2_",
     "a::takes::<(i32, &str, core::option::Option<f64>)>"},
    {"_RNvMs3_NtCslNYArtu3iFV_5alloc7raw_vecINtB5_6RawVecINtNtB7_5boxed3BoxAyj10_EE8grow_oneCs6xxl1"
     "lAjzDf_1a",
     "<alloc::raw_vec::RawVec<alloc::boxed::Box<[u64; 16]>>>::grow_one"},
    {"_RNCINvNtCsjrHSEGnQ3l9_3std2rt10lang_startuE0Cs6xxl1lAjzDf_1a.llvm.14434626591707928332",
     "std::rt::lang_start::<()>::{closure#0}"},
    {"_RNSNvYNCNvCs6xxl1lAjzDf_1a4main0INtNtNtCsgEmfK2I1SDS_4core3ops8function6FnOnceTReEE9call_onc"
     "e6vtableB8_",
     "<a::main::{closure#0} as core::ops::function::FnOnce<(&str,)>>::call_once::{shim:vtable#0}"},
    {"_RINvCs7bVAqS5l9UX_1c2ofKVNtNtB2_4Kind5PlainUEB2_", "c::of::<{c::Kind::Plain}>"},
    {"_RINvCs7bVAqS5l9UX_1c2ofKVNtNtB2_4Kind4PairTh7_b1_EEB2_",
     "c::of::<{c::Kind::Pair(7, true)}>"},
    {"_RINvCs7bVAqS5l9UX_1c2ofKVNtNtB2_4Kind5NamedS4widesn3_4markcdf_EEB2_",
     "c::of::<{c::Kind::Named { wide: -3, mark: 'ß' }}>"},
    {"_RINvCs7bVAqS5l9UX_1c5namedKRe746964652022c3a9220a_EB2_",
     "c::named::<\"tide \\\"é\\\"\\n\">"},
    {"_RINvCs7bVAqS5l9UX_1c6listedKAh1_h2_hff_EKTan1_b0_EEB2_",
     "c::listed::<{[1, 2, 255]}, {(-1, false)}>"},
    /* written by hand, for what rustc was not asked for */
    {"_RINvC1a1bPvQlRL_hOzSuFUK10aapcs_hardEpE",
     "a::b::<*const ..., &mut i32, &u8, *mut !, [()], unsafe extern \"aapcs-hard\" fn() -> _>"},
    {"_RINvC1a1bWmRm1_mff_WmORm1_m2_Rm5_m6_EWPuNE",
     "a::b::<u32 is 1..=255, u32 is 1..=2 | 5..=6, *const () is !null>"},
    {"_RINvC1a1bKo123456789abcdef0123_L_TlETEE", "a::b::<0x123456789abcdef0123, '_, (i32,), ()>"},
    {"_RNvC1a3caf\xc3\xa9", NULL}, /* the length is of bytes */
    {"_RNvC1a5caf\xc3\xa9", "a::café"},
    {"_RNZNvC1a1b3foo", "a::b::{Z:foo#0}"},
    {"_RNvNvC1a1b12_3d", NULL},
    {"_RNvC1a1b$suffix", "a::b"},
    /* punycode of the book */
    {"_RNvC1au6f_5gaa", "a::føø"},
    {"_RNvC1au7___ylb7e", "a::α_ω"},
    {"_RNvC1au6n84amf", "a::铁锈"},
    {"_RNvC1au4fq9h", "a::🤦"},
    {"_RNvC1au6_2xaedc", "a::ρυστ"},
};

static const struct name_case legacy_cases[] = {
    {"_ZN1a4main17h1854dee5fd9945b4E", "a::main"},
    {"_ZN1a4main28_$u7b$$u7b$closure$u7d$$u7d$17h984fc98a32c8979fE", "a::main::{{closure}}"},
    {"_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17he39bdf0230cb3880E.llvm."
     "12225378964484605597",
     "std::rt::lang_start::{{closure}}"},
    {"_ZN42_$LT$$RF$T$u20$as$u20$core..fmt..Debug$GT$3fmt17h5f9e7f04b716cae8E",
     "<&T as core::fmt::Debug>::fmt"},
    {"_ZN4core3ops8function6FnOnce40call_once$u7b$$u7b$vtable.shim$u7d$$u7d$"
     "17h818d26540a9886bbE",
     "core::ops::function::FnOnce::call_once{{vtable.shim}}"},
    {"_ZN4core3ptr184drop_in_place$LT$alloc..boxed..Box$LT$alloc..boxed..Box$LT$dyn$u20$core..ops.."
     "function..Fn$LT$$LP$$RF$str$C$$RP$$GT$$u2b$Output$u20$$u3d$$u20$$RF$str$u2b$core..marker.."
     "Send$GT$$GT$$GT$17h187eeeeb80fb712aE",
     "core::ptr::drop_in_place<alloc::boxed::Box<alloc::boxed::Box<dyn "
     "core::ops::function::Fn<(&str,)>+Output = &str+core::marker::Send>>>"},
    {"_ZN9hashbrown3map28HashMap$LT$K$C$V$C$S$C$A$GT$6insert17h2f64ca4db323d7a6E",
     "hashbrown::map::HashMap<K,V,S,A>::insert"},
    /* C++, and what is neither */
    {"_ZN5torch8autograd6EngineD1Ev", NULL},
    {"_ZN3foo17h1854dee5fd9945bXE", NULL},
    {"_ZN3foo16h1854dee5fd9945bE", NULL},
    {"_ZN17h1854dee5fd9945b4E", NULL}, /* nothing but the hash */
    {"_ZN3foo17h1854dee5fd9945b4Ev", NULL},
    {"_ZN3foo17h1854dee5fd9945b4", NULL},
    {"_ZN9foo17h1854dee5fd9945b4E", NULL},
    {"_ZN", NULL},
    /* an escape that means nothing stays; so do those of control characters */
    {"_ZN6a$XY$b17h1854dee5fd9945b4E", "a$XY$b"},
    {"_ZN6a$u1b$17h1854dee5fd9945b4E", "a$u1b$"},
    {"_ZN8a$ud800$17h1854dee5fd9945b4E", "a$ud800$"},
    {"_ZN2a$17h1854dee5fd9945b4E", "a$"},
};

/* Small things that ask for much, or for what is not there. */
static const struct name_case hostile_cases[] = {
    {"_R", NULL},
    {"_Rfoo", NULL},
    {"_RC", NULL},
    {"_R0NvC1a1b", NULL}, /* another version */
    {"_RNvC1a", NULL},
    {"_RNvC1a1bx", NULL},
    {"_RB_", NULL}, /* refers to itself */
    {"_RNvB_1a", NULL},
    {"_RNvB9_1a", NULL},
    {"_RNvBzzzzzzzzzzzzzzzz_1a", NULL},
    {"_RNvC1a99999999999999999999b", NULL},
    {"_RNvC1a4294967297b", NULL},
    {"_RINvC1a1bRL5_hE", NULL},               /* a lifetime that nobody names */
    {"_RINvC1a1bFGzzzzzzzzzz_EuE", NULL},     /* 10^17 of them */
    {"_RNvMIC1aFGzzzzzzzzzz_EuEu3foo", NULL}, /* the same where nothing is shown */
    {"_RINvC1a1bKc110000_E", NULL},
    {"_RINvC1a1bKcd800_E", NULL},
    {"_RINvC1a1bKb2_E", NULL},
    {"_RINvC1a1bKj_E", NULL},
    {"_RINvC1a1bKRe4_E", NULL},
    {"_RINvC1a1bKReff_E", NULL},
    {"_RINvC1a1bKj1", NULL},
    {"_RINvC1a1bDE", NULL},
    {"_RINvC1a1bVE", NULL},
    {"_RNvC1au1z", NULL}, /* no end */
    {"_RNvC1au9a_99999999", NULL},
};

static void look_at(const struct name_case *c)
{
    struct text_builder text;
    bool is_added;

    text_init(&text);
    text_add(&text, "at ");
    is_added = add_rust_name(&text, c->mangled);
    if (is_added != (c->name != NULL) || strcmp(text_get(&text) + 3, c->name ? c->name : "") != 0)
        fail_msg("%s: \"%s\"", c->mangled, text_get(&text) + 3);
    text_release(&text);
}

static void names_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < ALL(v0_cases); i++)
        look_at(&v0_cases[i]);
}

static void older_names_lose_their_hash(void **state)
{
    (void)state;
    for (size_t i = 0; i < ALL(legacy_cases); i++)
        look_at(&legacy_cases[i]);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ALL(hostile_cases); i++)
        look_at(&hostile_cases[i]);
}

/* Cut anywhere, and with each byte changed. */
static void damaged_names_end(void **state)
{
    static const char changes[] = "BIGKRTEe_su9";
    struct text_builder text;

    (void)state;
    text_init(&text);
    for (size_t i = 0; i < ALL(v0_cases); i++) {
        size_t length = strlen(v0_cases[i].mangled);
        char *copy = strdup(v0_cases[i].mangled);

        assert_non_null(copy);
        for (size_t at = 2; at < length; at++) {
            for (size_t change = 0; change < ALL(changes); change++) { /* the last one cuts */
                copy[at] = changes[change];
                add_rust_name(&text, copy);
                text_clear(&text);
            }
            copy[at] = v0_cases[i].mangled[at];
        }
        free(copy);
    }
    text_release(&text);
}

static void add_base_62(struct text_builder *text, size_t number)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char reversed[16];
    size_t count = 0;

    for (; number; number = (number - 1) / 62)
        reversed[count++] = digits[(number - 1) % 62];
    while (count-- > 0)
        text_add_char(text, reversed[count], 1);
    text_add(text, "_");
}

/* A tuple of two of the tuple before, n times: twice as much each time. */
static void add_doubling(struct text_builder *text, size_t times)
{
    size_t before;

    text_add(text, "_RINvC1a1b");
    before = text->size_bytes - 2;
    text_add(text, "TllE");
    for (size_t i = 0; i < times; i++) {
        size_t here = text->size_bytes - 2;

        text_add(text, "TB");
        add_base_62(text, before);
        text_add(text, "B");
        add_base_62(text, before);
        text_add(text, "E");
        before = here;
    }
    text_add(text, "E");
}

static void what_doubles_is_given_up(void **state)
{
    struct text_builder mangled, text;

    (void)state;
    text_init(&text);
    for (size_t times = 0; times <= 5; times++) {
        text_init(&mangled);
        add_doubling(&mangled, times < 5 ? times : 5000);
        assert_true(add_rust_name(&text, text_get(&mangled)) == (times < 5));
        text_release(&mangled);
    }
    assert_true(strstr(text_get(&text), "a::b::<(i32, i32), ((i32, i32), (i32, i32))>"));
    text_release(&text);
}

/* In a deep name, and in one that is long without being deep. */
static void what_is_too_deep_or_too_long_is_given_up(void **state)
{
    static const struct {
        const char *first, *repeated, *last;
        size_t times;
        bool is_read;
    } cases[] = {
        {"_RINvC1a1b", "R", "lE", 100, true},
        {"_RINvC1a1b", "R", "lE", 1000000, false},
        {"_R", "Nv", "C1a", 1000000, false},
        {"_R", "M", "", 1000000, false},
        {"_R", "INvC1a1bKA", "", 100000, false},
        {"_RINvC1a1b", "l", "E", 3000, true},
        {"_RINvC1a1b", "l", "E", 100000, false},
        {"_RINvC1a1bKh", "0", "1_E", 1000000, false},
        {"_ZN", "1a", "17h1854dee5fd9945b4E", 100000, true},
    };
    struct text_builder mangled, text;

    (void)state;
    for (size_t i = 0; i < ALL(cases); i++) {
        text_init(&mangled);
        text_init(&text);
        text_add(&mangled, cases[i].first);
        for (size_t times = 0; times < cases[i].times; times++)
            text_add(&mangled, cases[i].repeated);
        text_add(&mangled, cases[i].last);
        assert_true(add_rust_name(&text, text_get(&mangled)) == cases[i].is_read);
        text_release(&text);
        text_release(&mangled);
    }
}

/* What is shown, and what ids are made of: it is the same in each build of a program. */
static void builds_have_one_name(void **state)
{
    static const struct {
        const char *first, *second, *name;
    } cases[] = {
        {"_ZN4leak5shelf14Shelf$LT$T$GT$4keep17hf31b6db8ef9e3df3E",
         "_ZN4leak5shelf14Shelf$LT$T$GT$4keep17h0ab1bd73e05b2a11E.llvm.7231",
         "leak::shelf::Shelf<T>::keep"},
        {"_RNvMNtCskxg14rcgYob_4leak5shelfINtB2_5ShelfyE4keepB4_",
         "_RNvMNtCs1234_4leak5shelfINtB2_5ShelfyE4keepB4_.llvm.9",
         "<leak::shelf::Shelf<u64>>::keep"},
        /* demangled by somebody else */
        {"leak::turn::h15748710196eaf3c", "leak::turn::h0123456789abcdef", "leak::turn"},
        {"leak::turn", "leak::turn", "leak::turn"},
    };
    struct text_builder text;

    (void)state;
    for (size_t i = 0; i < ALL(cases); i++) {
        text_init(&text);
        add_readable_name(&text, cases[i].first);
        assert_string_equal(text_get(&text), cases[i].name);
        text_clear(&text);
        add_readable_name(&text, cases[i].second);
        assert_string_equal(text_get(&text), cases[i].name);
        assert_true(is_readable(cases[i].first) == (strcmp(cases[i].first, cases[i].name) == 0));
        text_release(&text);
    }
}

/* What is not read, goes; what a function belongs to stays. */
static void long_names_lose_their_arguments(void **state)
{
    static const struct {
        const char *name, *shorter;
    } cases[] = {
        {"<leak::Shelf<u64>>::keep", "<leak::Shelf<...>>::keep"},
        {"<a::Shelf<u64, 16> as a::Keep<u8>>::keep::<i32>",
         "<a::Shelf<...> as a::Keep<...>>::keep::<...>"},
        {"<<a::B<c> as d::E>::f as g::H<i>>::j", "<<a::B<...> as d::E>::f as g::H<...>>::j"},
        {"a::gen::<for<'a> fn(&'a str) -> &'a str>::{closure#0}", "a::gen::<...>::{closure#0}"},
        {"<&[a::B<c>] as d::E>::f", "<&[a::B<...>] as d::E>::f"},
        /* C++ */
        {"a<b<c>>::d<e>", "a<...>::d<...>"},
        {"operator<< <int>", "operator<< <...>"},
    };
    struct text_builder text;

    (void)state;
    for (size_t i = 0; i < ALL(cases); i++) {
        text_init(&text);
        add_short_name(&text, cases[i].name, strlen(cases[i].name) - 1);
        if (strncmp(text_get(&text), cases[i].shorter, strlen(cases[i].name) - 1) != 0)
            fail_msg("%s: %s", cases[i].name, text_get(&text));
        text_release(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_read),
        cmocka_unit_test(older_names_lose_their_hash),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(damaged_names_end),
        cmocka_unit_test(what_doubles_is_given_up),
        cmocka_unit_test(what_is_too_deep_or_too_long_is_given_up),
        cmocka_unit_test(builds_have_one_name),
        cmocka_unit_test(long_names_lose_their_arguments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
