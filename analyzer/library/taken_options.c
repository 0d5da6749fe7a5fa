/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a caller hands in: recordings, and options of another version of the library.
 */
#include "taken_options.h"

#include <string.h>

enum mt_result options_take(void *own, size_t own_bytes, const void *given, struct mt_error *error)
{
    const unsigned char *bytes = given;
    size_t given_bytes;

    if (!given)
        return MT_OK;
    memcpy(&given_bytes, given, sizeof(given_bytes));
    if (given_bytes < sizeof(given_bytes))
        return mt_error_of(error, "size_bytes",
                           mt_error_set(error, MT_USAGE, "options do not say their size"));
    for (size_t i = own_bytes; i < given_bytes; i++)
        if (bytes[i])
            return mt_error_set(error, MT_UNSUPPORTED,
                                "an option is set that this version of the library does not know");
    memcpy(own, given, given_bytes < own_bytes ? given_bytes : own_bytes);
    return MT_OK;
}

enum mt_result paths_take(size_t count, struct mt_error *error)
{
    return count ? MT_OK : mt_error_set(error, MT_USAGE, "no recording is named: give its path");
}
