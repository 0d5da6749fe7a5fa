/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of what reads names of Rust: where it is, how deep, and what it has written.
 */
#include "death.h"
#include "rust_v0_name.c"

static struct reader reader;

static void make(void)
{
    const struct resumption after = {2, false};

    reader = (struct reader){.name = "lB_", .at = 2, .depth = 1, .lifetimes = 1};
    text_init(&reader.written);
    back_begin(&reader);
    reader.at = 0;
    read_type(&reader);
    leave(&reader);
    binder_end(&reader, 1);
    back_end(&reader, &after);
    hex_of('f');
}

DAMAGE(make, left_more_than_entered, leave(&reader))
DAMAGE(make, lifetimes_of_nobody, binder_end(&reader, 1))
DAMAGE(make, reference_elsewhere, reader.at = 1; back_begin(&reader))
DAMAGE(make, written_too_much, reader.written.size_bytes = written_most_bytes + 1;
       write_text(&reader, "a"))
DAMAGE(make, no_digit, hex_of('g'))
DAMAGE(make, before_the_name, reader.at = 0; read_type_of(&reader, 'N'))

int main(void)
{
    return deaths_run();
}
