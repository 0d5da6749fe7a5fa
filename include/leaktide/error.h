/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Result codes, and one sentence for a person.
 *
 * Libraries return an enum mt_result and fill a struct mt_error; only a main() turns a result
 * into an exit code. The sentence says what and where: "run.mtt: chunk 7 at byte 4096: ...".
 */
#ifndef LEAKTIDE_ERROR_H
#define LEAKTIDE_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

enum mt_result {
    MT_OK = 0,
    MT_USAGE,   /* the caller asked for something that does not exist or make sense */
    MT_IO,      /* the system could not open, read or write something */
    MT_CORRUPT, /* the bytes are not what they claim to be */
    MT_UNSUPPORTED /* a newer version, or a kind that this build does not read */,
    MT_NOT_FOUND, /* nothing by that name or number */
    MT_NO_DATA,   /* readable, but too little to answer */
    MT_NO_MEMORY,
    MT_CANCELLED /* the caller's own function asked for it */
};

struct mt_error {
    char message[512]; /* always terminated; empty while all is well */
    /* The member of an options struct that is wrong, as "steps"; static. NULL: none is. */
    const char *option;
};

#ifdef __cplusplus
}
#endif

#endif
