/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file with DWARF data, through libdwarf.
 */
#include "dwarf_file.h"

#include <stdlib.h>
#include <string.h>

/* "20210528" until 2021, then "0.3.4", "2.1.0". */
static bool is_new_version(const char *version)
{
    return strchr(version, '.') != NULL;
}

static bool loses_first_file(const char *version)
{
    return !is_new_version(version) || (version[0] == '0' && atoi(version + 2) < 5);
}

#ifdef MT_LIBDWARF_NEW
enum { built_for_new_version = true };

static int open_path(const char *path, struct dwarf_file *file)
{
    return dwarf_init_path(path, NULL, 0, DW_GROUPNUMBER_ANY, NULL, NULL, &file->debug,
                           &file->error);
}

void dwarf_file_close(struct dwarf_file *file)
{
    if (file->debug)
        dwarf_finish(file->debug);
    file->debug = NULL;
}

static void ranges_free(struct dwarf_file *file, Dwarf_Ranges *ranges, Dwarf_Signed count)
{
    dwarf_dealloc_ranges(file->debug, ranges, count);
}
#else
enum { built_for_new_version = false };

static int open_path(const char *path, struct dwarf_file *file)
{
    return dwarf_init_path(path, NULL, 0, 0, DW_GROUPNUMBER_ANY, NULL, NULL, &file->debug, NULL, 0,
                           NULL, &file->error);
}

void dwarf_file_close(struct dwarf_file *file)
{
    if (file->debug)
        dwarf_finish(file->debug, &file->error);
    file->debug = NULL;
}

static void ranges_free(struct dwarf_file *file, Dwarf_Ranges *ranges, Dwarf_Signed count)
{
    dwarf_ranges_dealloc(file->debug, ranges, count);
}
#endif

bool dwarf_file_open(struct dwarf_file *file, const char *path)
{
    const char *version = dwarf_package_version();

    memset(file, 0, sizeof(*file));
    if (is_new_version(version) != built_for_new_version)
        return false;
    file->loses_first_file = loses_first_file(version);
    if (got(file, open_path(path, file)))
        return true;
    file->debug = NULL;
    return false;
}

void dwarf_file_forget_memory(void)
{
    dwarf_set_de_alloc_flag(0);
}

bool got(struct dwarf_file *file, int result)
{
    if (result == DW_DLV_ERROR && file->error)
        dwarf_dealloc_error(file->debug, file->error);
    file->error = NULL;
    return result == DW_DLV_OK;
}

/* --- attributes ---------------------------------------------------------------------------- */

bool dwarf_file_number(struct dwarf_file *file, Dwarf_Die die, Dwarf_Half attribute,
                       uint64_t *value)
{
    Dwarf_Attribute found;
    Dwarf_Unsigned number;
    Dwarf_Signed signed_number;
    bool is_good = true;

    if (!got(file, dwarf_attr(die, attribute, &found, &file->error)))
        return false;
    if (got(file, dwarf_formudata(found, &number, &file->error)))
        *value = number;
    else if (got(file, dwarf_formsdata(found, &signed_number, &file->error)) && signed_number >= 0)
        *value = (uint64_t)signed_number;
    else
        is_good = false;
    dwarf_dealloc_attribute(found);
    return is_good;
}

bool dwarf_file_reference(struct dwarf_file *file, Dwarf_Die die, Dwarf_Half attribute,
                          uint64_t *offset)
{
    Dwarf_Attribute found;
    Dwarf_Half form = 0;
    Dwarf_Off global;
    bool is_good;

    if (!got(file, dwarf_attr(die, attribute, &found, &file->error)))
        return false;
    /* What is in a supplementary file is not found here. */
    is_good = got(file, dwarf_whatform(found, &form, &file->error)) &&
              form != DW_FORM_GNU_ref_alt && form != DW_FORM_ref_sup4 && form != DW_FORM_ref_sup8 &&
              form != DW_FORM_ref_sig8 &&
              got(file, dwarf_global_formref(found, &global, &file->error));
    if (is_good)
        *offset = global;
    dwarf_dealloc_attribute(found);
    return is_good;
}

const char *dwarf_file_text(struct dwarf_file *file, Dwarf_Die die, Dwarf_Half attribute)
{
    char *text;

    return got(file, dwarf_die_text(die, attribute, &text, &file->error)) ? text : NULL;
}

/* --- ranges -------------------------------------------------------------------------------- */

/* What the linker dropped starts at 0 or 1, or at the other end. */
static void visit_range(struct dwarf_range range, dwarf_range_visitor visit, void *context)
{
    if (range.low > 1 && range.low < range.high && range.high < UINT64_MAX - 1)
        visit(context, range);
}

/* Until DWARF 4. */
static void visit_old(struct dwarf_file *file, Dwarf_Die die, uint64_t offset, uint64_t base,
                      dwarf_range_visitor visit, void *context)
{
    Dwarf_Ranges *rows;
    Dwarf_Signed count;
    Dwarf_Unsigned size_bytes;
    Dwarf_Off real_offset;

    if (!got(file, dwarf_get_ranges_b(file->debug, offset, die, &real_offset, &rows, &count,
                                      &size_bytes, &file->error)))
        return;
    for (Dwarf_Signed i = 0; i < count && rows[i].dwr_type != DW_RANGES_END; i++) {
        if (rows[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
            base = rows[i].dwr_addr2;
        else
            visit_range((struct dwarf_range){base + rows[i].dwr_addr1, base + rows[i].dwr_addr2},
                        visit, context);
    }
    ranges_free(file, rows, count);
}

static bool is_stretch(unsigned code)
{
    return code == DW_RLE_startx_endx || code == DW_RLE_startx_length ||
           code == DW_RLE_offset_pair || code == DW_RLE_start_end || code == DW_RLE_start_length;
}

/* Since DWARF 5: an index of the unit's lists, or an offset. */
static void visit_new(struct dwarf_file *file, Dwarf_Attribute attribute, Dwarf_Half form,
                      uint64_t value, dwarf_range_visitor visit, void *context)
{
    Dwarf_Rnglists_Head head;
    Dwarf_Unsigned count = 0, offset;

    if (!got(file, dwarf_rnglists_get_rle_head(attribute, form, value, &head, &count, &offset,
                                               &file->error)))
        return;
    for (Dwarf_Unsigned i = 0; i < count; i++) {
        unsigned length, code;
        Dwarf_Unsigned raw_low, raw_high, low, high;
        Dwarf_Bool is_unavailable;

        if (got(file,
                dwarf_get_rnglists_entry_fields_a(head, i, &length, &code, &raw_low, &raw_high,
                                                  &is_unavailable, &low, &high, &file->error)) &&
            is_stretch(code) && !is_unavailable)
            visit_range((struct dwarf_range){low, high}, visit, context);
    }
    dwarf_dealloc_rnglists_head(head);
}

static void visit_list(struct dwarf_file *file, Dwarf_Die die, uint64_t base,
                       dwarf_range_visitor visit, void *context)
{
    Dwarf_Attribute attribute;
    Dwarf_Half form = 0, version = 0, offset_size;
    Dwarf_Unsigned number;
    Dwarf_Off offset = 0;
    bool is_good;

    if (!got(file, dwarf_attr(die, DW_AT_ranges, &attribute, &file->error)))
        return;
    is_good = got(file, dwarf_whatform(attribute, &form, &file->error)) &&
              got(file, dwarf_get_version_of_die(die, &version, &offset_size));
    if (is_good && form == DW_FORM_sec_offset) {
        is_good = got(file, dwarf_global_formref(attribute, &offset, &file->error));
    } else if (is_good) {
        is_good = got(file, dwarf_formudata(attribute, &number, &file->error));
        offset = is_good ? number : 0;
    }
    if (is_good && version < 5)
        visit_old(file, die, offset, base, visit, context);
    else if (is_good)
        visit_new(file, attribute, form, offset, visit, context);
    dwarf_dealloc_attribute(attribute);
}

void dwarf_file_ranges(struct dwarf_file *file, Dwarf_Die die, uint64_t base,
                       dwarf_range_visitor visit, void *context)
{
    Dwarf_Addr low, high;
    Dwarf_Half form;
    enum Dwarf_Form_Class class;

    if (got(file, dwarf_lowpc(die, &low, &file->error)) &&
        got(file, dwarf_highpc_b(die, &high, &form, &class, &file->error)))
        visit_range((struct dwarf_range){low, class == DW_FORM_CLASS_CONSTANT ? low + high : high},
                    visit, context);
    else
        visit_list(file, die, base, visit, context);
}
