/* SPDX-License-Identifier: Apache-2.0 */
/* What a program is, before it is started: whether the tracer can live in it. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "leaktide/preload.h"

enum { FILE_BYTES = 1024, LOADER_AT = 512 };

static struct {
    char path[64];
    char bytes[FILE_BYTES];
    size_t size_bytes;
} files[3];
static int file_count;

static int file_open(const char *path)
{
    for (int i = 0; i < file_count; i++)
        if (strcmp(files[i].path, path) == 0)
            return i;
    return -1;
}

static long file_read(int file, void *bytes, size_t size_bytes, uint64_t offset_bytes)
{
    size_t left = offset_bytes < files[file].size_bytes ? files[file].size_bytes - offset_bytes : 0;
    size_t got = size_bytes < left ? size_bytes : left;

    memcpy(bytes, files[file].bytes + offset_bytes, got);
    return (long)got;
}

static void file_close(int file)
{
    (void)file;
}

static void add(const char *path, const void *bytes, size_t size_bytes)
{
    snprintf(files[file_count].path, sizeof(files[0].path), "%s", path);
    memcpy(files[file_count].bytes, bytes, size_bytes);
    files[file_count++].size_bytes = size_bytes;
}

/* loader: NULL: none is named, as in a static program. */
static void add_program(const char *path, unsigned char class, uint16_t machine, const char *loader)
{
    char image[FILE_BYTES] = {0};
    Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, class, ELFDATA2LSB},
                         .e_machine = machine,
                         .e_phoff = sizeof(header),
                         .e_phentsize = sizeof(Elf64_Phdr),
                         .e_phnum = 8};
    Elf64_Phdr segment = {.p_type = PT_INTERP, .p_offset = LOADER_AT};

    if (loader) {
        segment.p_filesz = strlen(loader) + 1;
        strcpy(image + LOADER_AT, loader);
        memcpy(image + sizeof(header) + 6 * sizeof(segment), &segment, sizeof(segment));
    }
    memcpy(image, &header, sizeof(header));
    add(path, image, sizeof(image));
}

static enum mt_program_kind look(const char *name, const char *folders)
{
    static const struct mt_program_files how = {file_open, file_read, file_close};
    struct mt_program_needs needs;

    mt_program_look(&how, name, folders, &needs);
    return needs.kind;
}

static void the_tracer_lives_where_glibc_is(void **unused)
{
    static const struct {
        unsigned char class;
        uint16_t machine;
        const char *loader;
        enum mt_program_kind kind;
    } rows[] = {
        {ELFCLASS64, MT_OWN_MACHINE, "/lib64/ld-linux-x86-64.so.2", MT_PROGRAM_FITS},
        {ELFCLASS64, MT_OWN_MACHINE, "/store/long/path/ld-linux-aarch64.so.1", MT_PROGRAM_FITS},
        {ELFCLASS64, MT_OWN_MACHINE, "/lib64/ld-lsb-x86-64.so.3", MT_PROGRAM_FITS},
        {ELFCLASS64, MT_OWN_MACHINE, NULL, MT_PROGRAM_FITS},
        {ELFCLASS64, MT_OWN_MACHINE, "/lib/ld-musl-x86_64.so.1", MT_PROGRAM_OTHER_LIBC},
        {ELFCLASS64, MT_OWN_MACHINE, "/lib/ld64-uClibc.so.0", MT_PROGRAM_OTHER_LIBC},
        {ELFCLASS64, MT_OWN_MACHINE, "/system/bin/linker64", MT_PROGRAM_OTHER_LIBC},
        {ELFCLASS32, EM_386, "/lib/ld-linux.so.2", MT_PROGRAM_OTHER_PROCESSOR},
        {ELFCLASS32, MT_OWN_MACHINE, NULL, MT_PROGRAM_OTHER_PROCESSOR},
        {ELFCLASS64, EM_S390, "/lib/ld64.so.1", MT_PROGRAM_OTHER_PROCESSOR},
    };

    (void)unused;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        file_count = 0;
        add_program("/p", rows[i].class, rows[i].machine, rows[i].loader);
        assert_int_equal(look("/p", NULL), rows[i].kind);
    }
}

static void of_a_script_its_interpreter_is_looked_at(void **unused)
{
    (void)unused;
    file_count = 0;
    add("/script", "#! \t/musl -x\n", 13);
    add_program("/musl", ELFCLASS64, MT_OWN_MACHINE, "/lib/ld-musl-x86_64.so.1");
    add("/itself", "#!/itself\n", 10);
    assert_int_equal(look("/script", NULL), MT_PROGRAM_OTHER_LIBC);
    assert_int_equal(look("/itself", NULL), MT_PROGRAM_FITS);
}

static void a_name_is_looked_for_in_each_folder(void **unused)
{
    (void)unused;
    file_count = 0;
    add_program("/b/musl", ELFCLASS64, MT_OWN_MACHINE, "/lib/ld-musl-x86_64.so.1");
    assert_int_equal(look("musl", "/a:/b:/c"), MT_PROGRAM_OTHER_LIBC);
    assert_int_equal(look("musl", "/a:/c"), MT_PROGRAM_FITS);
    assert_int_equal(look("", "/a:/c"), MT_PROGRAM_FITS);
    assert_int_equal(look("musl", ""), MT_PROGRAM_FITS);
}

static void what_is_no_program_is_left_to_the_kernel(void **unused)
{
    char image[FILE_BYTES];

    (void)unused;
    file_count = 0;
    add("/empty", "", 0);
    add("/text", "hello", 5);
    add_program("/cut", ELFCLASS64, MT_OWN_MACHINE, "/lib/ld-musl-x86_64.so.1");
    memcpy(image, files[2].bytes, sizeof(image));
    assert_int_equal(look("/nothing", NULL), MT_PROGRAM_FITS);
    assert_int_equal(look("/empty", NULL), MT_PROGRAM_FITS);
    assert_int_equal(look("/text", NULL), MT_PROGRAM_FITS);
    for (size_t size = 0; size < LOADER_AT; size++) {
        files[2].size_bytes = size;
        assert_int_equal(look("/cut", NULL), MT_PROGRAM_FITS);
    }
}

static void a_list_is_without_the_tracer_where_it_cannot_live(void **unused)
{
    const struct mt_program_needs needs = {.kind = MT_PROGRAM_OTHER_LIBC};
    char out[128];

    (void)unused;
    assert_true(mt_preload_for("/x/" MT_TRACER_FILE_NAME ":/y/z.so", &needs, out, sizeof(out)));
    assert_string_equal(out, "/y/z.so");
    assert_true(mt_preload_for("libasan.so.8::/x/" MT_TRACER_FILE_NAME, &needs, out, sizeof(out)));
    assert_string_equal(out, "");
    assert_false(mt_preload_for("/y/z.so", &needs, out, sizeof(out)));
}

static void assert_limited(int resource, uint64_t bytes, enum mt_program_kind kind)
{
    struct rlimit before, limit;

    assert_int_equal(getrlimit(resource, &before), 0);
    limit = (struct rlimit){bytes, before.rlim_max};
    assert_int_equal(setrlimit(resource, &limit), 0);
    assert_int_equal(mt_program_kind_here(NULL), kind);
    assert_int_equal(setrlimit(resource, &before), 0);
}

static void the_tracer_takes_at_most_half_of_what_a_program_may_have(void **unused)
{
    (void)unused;
    assert_limited(RLIMIT_AS, 2 * MT_TRACER_ADDRESS_BYTES, MT_PROGRAM_FITS);
    assert_limited(RLIMIT_AS, 2 * MT_TRACER_ADDRESS_BYTES - 1, MT_PROGRAM_OF_LIMIT);
    assert_limited(RLIMIT_DATA, 2 * MT_TRACER_DATA_BYTES, MT_PROGRAM_FITS);
    assert_limited(RLIMIT_DATA, 2 * MT_TRACER_DATA_BYTES - 1, MT_PROGRAM_OF_LIMIT);
    assert_limited(RLIMIT_AS, RLIM_INFINITY, MT_PROGRAM_FITS);
}

static void with_an_auditor_there_is_no_tracer(void **unused)
{
    (void)unused;
    assert_int_equal(mt_program_kind_here(NULL), MT_PROGRAM_FITS);
    assert_int_equal(mt_program_kind_here(""), MT_PROGRAM_FITS);
    assert_int_equal(mt_program_kind_here("/x/auditor.so"), MT_PROGRAM_OF_AUDIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tracer_lives_where_glibc_is),
        cmocka_unit_test(of_a_script_its_interpreter_is_looked_at),
        cmocka_unit_test(a_name_is_looked_for_in_each_folder),
        cmocka_unit_test(what_is_no_program_is_left_to_the_kernel),
        cmocka_unit_test(a_list_is_without_the_tracer_where_it_cannot_live),
        cmocka_unit_test(the_tracer_takes_at_most_half_of_what_a_program_may_have),
        cmocka_unit_test(with_an_auditor_there_is_no_tracer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
