/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of one process, one for each device.
 */
#include "dump_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "list.h"

void dump_files_init(struct dump_files *files, const struct dump_write *what)
{
    *files = (struct dump_files){.what = what};
    text_init(&files->python_stack);
    text_init(&files->c_stack);
}

void dump_files_release(struct dump_files *files)
{
    free(files->files);
    free(files->system_rows);
    text_release(&files->python_stack);
    text_release(&files->c_stack);
}

/* --- one file ----------------------------------------------------------------------------------
 */

static enum mt_result file_open(const struct dump_write *what, struct dump_file *file,
                                struct mt_error *error)
{
    char path[DUMP_PATH_BYTES];
    enum mt_result result = what->file_make(what->context, file->device, path, error);

    if (result != MT_OK)
        return result;
    if (what->is_database)
        return memscope_database_create(path, path, what->table, &file->writer, error);
    file->out = fopen(path, "w");
    if (!file->out)
        return mt_error_set(error, MT_IO, "%s: %s", path, strerror(errno));
    file->text = outlet_create(FOR_CSV, file->out);
    return memscope_csv_create(file->text, &file->writer, error);
}

static enum mt_result file_close(struct dump_file *file, enum mt_result result,
                                 struct mt_error *error)
{
    if (result == MT_OK)
        result = memscope_finish(file->writer, error);
    memscope_writer_destroy(file->writer);
    if (file->out) {
        bool is_written = outlet_destroy(file->text);

        if ((fclose(file->out) != 0 || !is_written) && result == MT_OK)
            result = mt_error_set(error, MT_IO, "a file cannot be written: %s", strerror(errno));
    }
    return result;
}

/* That of the device, made when it is not there yet. */
static enum mt_result file_of(struct dump_files *files, int32_t device, struct dump_file **file,
                              struct mt_error *error)
{
    struct dump_file *made;
    enum mt_result result;

    for (size_t i = 0; i < files->count; i++)
        if (files->files[i].device == device) {
            *file = &files->files[i];
            return MT_OK;
        }
    if (!list_has_room(&files->files, &files->capacity, files->count, sizeof(*made)))
        return mt_error_set(error, MT_NO_MEMORY, "no memory for a file");
    made = &files->files[files->count++];
    *made = (struct dump_file){.device = device};
    result = file_open(files->what, made, error);
    if (result == MT_OK)
        *file = made;
    return result;
}

/* --- rows --------------------------------------------------------------------------------------
 */

static const char *cut_stack(struct text_builder *kept, const char *stack, uint32_t depth)
{
    const char *end = stack;

    for (; *end && depth; depth--) {
        end += strcspn(end, "\n");
        end += depth > 1 && *end;
    }
    if (!*end)
        return stack;
    text_clear(kept);
    text_add_bytes(kept, stack, (size_t)(end - stack));
    return text_get(kept);
}

/* Stacks are recorded for our own answers, too; the files have them when they were asked for. */
static void choose_stacks(struct dump_files *files, struct memscope_row *row)
{
    const struct dump_write *what = files->what;

    row->python_stack = what->has_python_stacks
                            ? cut_stack(&files->python_stack, row->python_stack, what->python_depth)
                            : "";
    row->c_stack =
        what->has_c_stacks ? cut_stack(&files->c_stack, row->c_stack, what->c_depth) : "";
}

static enum mt_result keep_system_row(struct dump_files *files, const struct memscope_row *row,
                                      struct mt_error *error)
{
    if (!list_has_room(&files->system_rows, &files->system_capacity, files->system_count,
                       sizeof(*files->system_rows)))
        return mt_error_set(error, MT_NO_MEMORY, "no memory for a row");
    files->system_rows[files->system_count++] = *row;
    return MT_OK;
}

enum mt_result dump_files_write(struct dump_files *files, const struct memscope_row *row,
                                struct mt_error *error)
{
    struct memscope_row chosen = *row;
    struct dump_file *file = NULL;
    enum mt_result result;

    choose_stacks(files, &chosen);
    if (row->device == MEMSCOPE_DEVICE_NONE)
        return keep_system_row(files, &chosen, error);
    result = file_of(files, row->device, &file, error);
    return result == MT_OK ? memscope_write(file->writer, &chosen, error) : result;
}

enum mt_result dump_files_close(struct dump_files *files, enum mt_result result,
                                struct mt_error *error)
{
    for (size_t i = 0; i < files->count; i++) {
        for (size_t j = 0; result == MT_OK && j < files->system_count; j++)
            result = memscope_write(files->files[i].writer, &files->system_rows[j], error);
        result = file_close(&files->files[i], result, error);
    }
    return result;
}
