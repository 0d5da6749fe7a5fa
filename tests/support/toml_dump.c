/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TOML file as JSON, for tests that compare with another reader: toml_dump FILE. Exit status 1
 * and the sentence when it is refused.
 */
#include <stdio.h>
#include <string.h>

#include "json_text.h"
#include "policy.h"
#include "toml.h"

static void add_node(struct text_builder *text, const struct toml_node *node)
{
    bool is_table = node->kind == TOML_TABLE;

    switch (node->kind) {
    case TOML_STRING:
        text_add_json(text, node->text);
        return;
    case TOML_INTEGER:
        text_add_format(text, "%lld", (long long)node->integer);
        return;
    case TOML_FRACTION:
        text_add_format(text, "%.17e", node->fraction);
        return;
    case TOML_BOOLEAN:
        text_add(text, node->boolean ? "true" : "false");
        return;
    default:
        break;
    }
    text_add(text, is_table ? "{" : "[");
    for (const struct toml_node *child = node->first; child; child = child->next) {
        if (is_table) {
            text_add_json(text, child->key);
            text_add(text, ": ");
        }
        add_node(text, child);
        text_add(text, child->next ? ", " : "");
    }
    text_add(text, is_table ? "}" : "]");
}

int main(int argc, char **argv)
{
    struct arena arena;
    struct text_builder json;
    struct toml_node *root = NULL;
    struct mt_error error = {.message = ""};
    const char *text;
    size_t size_bytes;
    enum mt_result result;

    if (argc != 2)
        return 2;
    arena_init(&arena);
    result = file_text(argv[1], &arena, &text, &size_bytes, &error);
    if (result == MT_OK)
        result = toml_read("policy", text, size_bytes, &arena, &root, &error);
    if (result == MT_OK) {
        text_init(&json);
        add_node(&json, root);
        puts(text_get(&json));
        text_release(&json);
    } else {
        fprintf(stderr, "%s\n", error.message);
    }
    arena_release(&arena);
    return result != MT_OK;
}
