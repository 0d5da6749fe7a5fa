/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of records.def stand in the order of their codes, from 1, without a gap but at 31. */
enum {
    BEFORE_THE_FIRST,
#define RECORD(code, name, fields, meaning) LINE_OF_##name,
#include "leaktide/records.def"
#undef RECORD
    LINES_END
};

#define RECORD(code, name, fields, meaning)                                                        \
    _Static_assert(LINE_OF_##name + (LINE_OF_##name > 30) == (code),                               \
                   "records.def: " #name " is out of order");
#include "leaktide/records.def"
#undef RECORD

_Static_assert(LINES_END <= 127, "records.def: codes are 1 to 127");
