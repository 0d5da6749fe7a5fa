/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of protocol buffers, written field by field. Source: protobuf.dev, "Encoding".
 *
 * A message within a message is built in a text of its own and then put as bytes.
 */
#ifndef LEAKTIDE_PROTOBUF_WRITER_H
#define LEAKTIDE_PROTOBUF_WRITER_H

#include <stdint.h>

#include "text_builder.h"

void proto_varint(struct text_builder *message, uint64_t value);
/* Left out when it is 0, which readers take it for. */
void proto_number(struct text_builder *message, unsigned field, uint64_t value);
/* Also when it is 0: as a member of a oneof, or of a list. */
void proto_number_always(struct text_builder *message, unsigned field, uint64_t value);
void proto_bytes(struct text_builder *message, unsigned field, const char *bytes,
                 size_t size_bytes);
/* What is no UTF-8, which readers refuse, becomes U+FFFD. */
void proto_text(struct text_builder *message, unsigned field, const char *terminated);
void proto_message(struct text_builder *message, unsigned field, const struct text_builder *inner);

#endif
