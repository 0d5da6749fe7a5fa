/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of a run: made before it, watched while it lasts.
 */
#ifndef LEAKTIDE_CLI_RUN_FOLDER_H
#define LEAKTIDE_CLI_RUN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error_sentence.h"

/* What the processes of a run have recorded so far, from the first pages of their files. */
struct run_state {
    size_t process_count;
    uint64_t event_count, lost_count, step_count;
    uint64_t now_bytes, peak_bytes; /* of devices if they are known, else resident ones */
    bool has_devices;
};

/*
 * Makes path, or with path NULL a new folder named after the program, and gives its full name.
 * MT_USAGE when it is there already and not empty: a recording is never written over.
 */
enum mt_result run_folder_make(const char *path, const char *program, char *full, size_t full_bytes,
                               struct mt_error *error);
/* False when the folder holds no trace. */
bool run_folder_look(const char *folder, struct run_state *state);
/*
 * After the run: removes .rings files that hold nothing any more, of processes that were alone.
 * Those of processes that still run are left as they are.
 */
void run_folder_tidy(const char *folder);
/*
 * The process has ended, and status is what waitpid told of it: that is written into the header of
 * its trace, of the newest where it became another program by exec.
 */
void run_folder_note_end(const char *folder, uint32_t process_id, int status);
/* Where it is the folder's fault that nothing was recorded: words for that. False where it is not.
 */
bool run_folder_explain(const char *folder, char *out, size_t out_bytes);
/* Only if nothing was recorded in it. */
void run_folder_remove(const char *folder);

#endif
