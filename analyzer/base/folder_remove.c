/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder of our own is removed with all that is in it.
 */
#define _GNU_SOURCE /* nftw */

#include "folder_remove.h"

#include <ftw.h>
#include <stdio.h>

enum { open_folders = 16 };

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void folder_remove(const char *path)
{
    nftw(path, remove_entry, open_folders, FTW_DEPTH | FTW_PHYS);
}
