/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data inside of a page: columns, deflated, as base64.
 */
#include "payload.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "text_builder.h"

enum { varint_most = 10, level = 6 };

static size_t put_varint(unsigned char *bytes, uint64_t number)
{
    size_t count = 0;

    while (number >= 0x80) {
        bytes[count++] = (unsigned char)(number | 0x80);
        number >>= 7;
    }
    bytes[count++] = (unsigned char)number;
    return count;
}

static uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}

static size_t varint_size(uint64_t number)
{
    size_t count = 1;

    while (number >>= 7)
        count++;
    return count;
}

/* Are the differences shorter than the numbers themselves? */
static bool is_delta_shorter(const struct report_dataset_column *column)
{
    uint64_t before = 0;
    size_t plain = 0, delta = 0;

    for (size_t i = 0; i < column->count; i++) {
        plain += varint_size(column->numbers[i]);
        delta += varint_size(zigzag(column->numbers[i] - before));
        before = column->numbers[i];
    }
    return delta < plain;
}

static void add_numbers(struct text_builder *body, const struct report_dataset_column *column,
                        bool is_delta)
{
    unsigned char bytes[varint_most];
    uint64_t before = 0;

    for (size_t i = 0; i < column->count; i++) {
        uint64_t number = column->numbers[i];
        size_t count = put_varint(bytes, is_delta ? zigzag(number - before) : number);

        text_add_bytes(body, (const char *)bytes, count);
        before = number;
    }
}

static void add_column(struct text_builder *header, struct text_builder *body,
                       const struct report_dataset_column *column)
{
    size_t start = body->size_bytes;
    const char *kind = "text";

    if (column->texts) {
        for (size_t i = 0; i < column->count; i++) {
            text_add_harmless(body, FOR_TERMINAL, column->texts[i]); /* as the JSON beside shows */
            text_add_bytes(body, "", 1);
        }
    } else {
        bool is_delta = is_delta_shorter(column);

        kind = is_delta ? "delta" : "plain";
        add_numbers(body, column, is_delta);
    }
    text_add_format(header, "%s{\"key\":\"%s\",\"kind\":\"%s\",\"rows\":%zu,\"bytes\":%zu}",
                    header->size_bytes ? "," : "", column->key, kind, column->count,
                    body->size_bytes - start);
}

static void put_packed(const char *name, const char *bytes, size_t size_bytes, struct outlet *out)
{
    uLongf packed_bytes = compressBound(size_bytes);
    unsigned char *packed = malloc(packed_bytes);

    if (packed &&
        compress2(packed, &packed_bytes, (const Bytef *)bytes, size_bytes, level) == Z_OK) {
        outlet_format(out, "<script type=\"application/octet-stream\" id=\"data-%s\">", name);
        outlet_base64(out, packed, packed_bytes);
        outlet_add(out, "</script>\n");
    } else {
        outlet_fail(out);
    }
    free(packed);
}

void payload_write_json(const char *name, const struct outlet *json, struct outlet *out)
{
    size_t size_bytes;
    const char *bytes = outlet_text(json, &size_bytes);

    put_packed(name, bytes, size_bytes, out);
    if (outlet_has_failed(json))
        outlet_fail(out);
}

void payload_write_columns(const char *name, const struct report_dataset_column *columns,
                           size_t count, struct outlet *out)
{
    struct text_builder header, body, whole;

    text_init(&header);
    text_init(&body);
    text_init(&whole);
    for (size_t i = 0; i < count; i++)
        add_column(&header, &body, &columns[i]);
    text_add_format(&whole, "{\"columns\":[%s]}\n", text_get(&header));
    text_add_bytes(&whole, text_get(&body), body.size_bytes);
    put_packed(name, text_get(&whole), whole.size_bytes, out);
    if (header.has_failed || body.has_failed || whole.has_failed)
        outlet_fail(out);
    text_release(&header);
    text_release(&body);
    text_release(&whole);
}
