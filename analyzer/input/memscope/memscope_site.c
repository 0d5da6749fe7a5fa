/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the stack columns of a row to a site.
 *
 * A program allocates at few places, so stacks repeat: the site of a stack is remembered by the
 * hash of its text, in a table where a new one takes the place of an old one.
 */
#include "memscope_site.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"

enum { site_rows = 1 << 12, label_most_bytes = 200 };

/* Parts of the paths of the tool's own libraries. */
static const char *const own_parts[] = {"msmemscope", "libleaks_ascend", "libascend_leaks",
                                        "libascend_mstx_hook", "libascend_kernel_hook"};

static bool has_part(const char *bytes, size_t size_bytes, const char *part)
{
    size_t length = strlen(part);

    for (size_t i = 0; i + length <= size_bytes; i++)
        if (memcmp(bytes + i, part, length) == 0)
            return true;
    return false;
}

static bool is_own(const char *bytes, size_t size_bytes)
{
    for (size_t i = 0; i < sizeof(own_parts) / sizeof(own_parts[0]); i++)
        if (has_part(bytes, size_bytes, own_parts[i]))
            return true;
    return false;
}

/* The first line of a stack that is not the tool's; empty if there is none. */
static struct attr_text first_line(struct attr_text stack)
{
    const char *bytes = stack.bytes, *end = stack.bytes + stack.size_bytes;

    while (bytes < end) {
        const char *line_end = memchr(bytes, '\n', (size_t)(end - bytes));
        struct attr_text line = {bytes, (size_t)((line_end ? line_end : end) - bytes)};

        while (line.size_bytes && (line.bytes[0] == ' ' || line.bytes[0] == '"')) {
            line.bytes++;
            line.size_bytes--;
        }
        while (line.size_bytes && strchr(" \"\r", line.bytes[line.size_bytes - 1]))
            line.size_bytes--;
        if (line.size_bytes > 2 && !is_own(line.bytes, line.size_bytes))
            return line;
        bytes = line_end ? line_end + 1 : end;
    }
    return (struct attr_text){"", 0};
}

/* "./gold(+0x131d) [0x561f866ef31d]" without the address, which is another in each run. */
static struct attr_text without_address(struct attr_text line)
{
    for (size_t i = line.size_bytes; i-- > 1;)
        if (line.bytes[i] == '[' && line.bytes[i - 1] == ' ')
            return (struct attr_text){line.bytes, i - 1};
    return line;
}

/* Two parts of a path are enough to know it. */
static struct attr_text without_folders(struct attr_text line)
{
    unsigned parts = 0;
    size_t end = 0;

    while (end < line.size_bytes && line.bytes[end] != '(' && line.bytes[end] != ' ')
        end++;
    for (size_t i = end; i-- > 0;) {
        if (line.bytes[i] == '/' && ++parts == 2)
            return (struct attr_text){line.bytes + i + 1, line.size_bytes - i - 1};
    }
    return line;
}

static uint32_t make_site(struct model *model, uint16_t process, struct attr_text python,
                          struct attr_text native)
{
    struct attr_text line = first_line(python);

    if (!line.size_bytes)
        line = first_line(native);
    line = without_folders(without_address(line));
    if (line.size_bytes > label_most_bytes)
        line.size_bytes = label_most_bytes;
    if (!line.size_bytes)
        return 0;
    return model_site(model, (struct model_site){
                                 .process = process,
                                 .label = model_text(model, line.bytes, line.size_bytes),
                             });
}

uint32_t memscope_site(struct memscope_sites *sites, struct model *model, uint16_t process,
                       struct attr_text python, struct attr_text native)
{
    struct site_row *row;
    uint64_t hash;

    if (!python.size_bytes && !native.size_bytes)
        return 0;
    if (!sites->rows)
        sites->rows = calloc(site_rows, sizeof(*sites->rows));
    if (!sites->rows)
        return make_site(model, process, python, native);
    hash = hash_pair(hash_bytes(python.bytes, python.size_bytes),
                     hash_pair(hash_bytes(native.bytes, native.size_bytes), process)) |
           1;
    row = &sites->rows[hash >> 32 & (site_rows - 1)];
    if (row->hash != hash)
        *row = (struct site_row){hash, make_site(model, process, python, native)};
    return row->site;
}

void memscope_sites_release(struct memscope_sites *sites)
{
    free(sites->rows);
    sites->rows = NULL;
}
