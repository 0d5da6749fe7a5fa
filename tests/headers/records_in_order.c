/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of records.def stand in the order of their codes, from 1, without a gap. */
enum {
    BEFORE_THE_FIRST,
#define RECORD(code, name, fields, meaning) LINE_OF_##name,
#include "leaktide/records.def"
#undef RECORD
    LINES_END
};

#define RECORD(code, name, fields, meaning)                                                        \
    _Static_assert(LINE_OF_##name == (code), "records.def: " #name " is out of order");
#include "leaktide/records.def"
#undef RECORD

_Static_assert(LINES_END <= 32, "records.def: codes are 1 to 31");
