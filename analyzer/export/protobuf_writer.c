/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of protocol buffers.
 */
#include "protobuf_writer.h"

#include <string.h>

#include "harmless.h"

enum { TYPE_VARINT = 0, TYPE_BYTES = 2, varint_most = 10 };

void proto_varint(struct text_builder *message, uint64_t value)
{
    char bytes[varint_most];
    size_t count = 0;

    do {
        bytes[count] = (char)(value & 0x7f);
        value >>= 7;
        bytes[count] = (char)(bytes[count] | (value ? 0x80 : 0));
        count++;
    } while (value);
    text_add_bytes(message, bytes, count);
}

void proto_number_always(struct text_builder *message, unsigned field, uint64_t value)
{
    proto_varint(message, (uint64_t)field << 3 | TYPE_VARINT);
    proto_varint(message, value);
}

void proto_number(struct text_builder *message, unsigned field, uint64_t value)
{
    if (value)
        proto_number_always(message, field, value);
}

void proto_bytes(struct text_builder *message, unsigned field, const char *bytes, size_t size_bytes)
{
    proto_varint(message, (uint64_t)field << 3 | TYPE_BYTES);
    proto_varint(message, size_bytes);
    text_add_bytes(message, bytes, size_bytes);
}

void proto_text(struct text_builder *message, unsigned field, const char *terminated)
{
    struct text_builder harmless;

    if (is_harmless(FOR_TERMINAL, terminated)) {
        proto_bytes(message, field, terminated, strlen(terminated));
        return;
    }
    text_init(&harmless);
    text_add_harmless(&harmless, FOR_TERMINAL, terminated);
    proto_message(message, field, &harmless);
    message->has_failed |= harmless.has_failed;
    text_release(&harmless);
}

void proto_message(struct text_builder *message, unsigned field, const struct text_builder *inner)
{
    proto_bytes(message, field, text_get(inner), inner->size_bytes);
}
