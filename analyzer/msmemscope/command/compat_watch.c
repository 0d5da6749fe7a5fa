/* SPDX-License-Identifier: Apache-2.0 */
#include "compat_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "watch_files.h"

struct move {
    const struct compat_place *place;
    enum mt_result result;
    struct mt_error *error;
};

static bool move_to(struct move *move, const char *from, const char *to)
{
    if (rename(from, to) == 0)
        return true;
    move->result = mt_error_set(move->error, MT_IO, "%s: %s", to, strerror(errno));
    return false;
}

/* Where devices have no folder of their own the name tells them apart. */
static bool move_sums(struct move *move, int32_t device, const char *sub, const char *from)
{
    char name[64] = "watch_dump_data_check_sum", to[PATH_MAX];

    if (!move->place->request->has_process_folders)
        snprintf(name, sizeof(name), "watch_dump_data_check_sum_%" PRId32, device);
    move->result = compat_file_make(move->place, sub, name, ".csv", to, move->error);
    return move->result == MT_OK && move_to(move, from, to);
}

static bool take_file(void *context, int32_t device, const char *folder, const char *name)
{
    struct move *move = context;
    char sub[64], from[PATH_MAX], to[PATH_MAX];

    snprintf(sub, sizeof(sub), "device_%" PRId32 "/watch_dump", device);
    snprintf(from, sizeof(from), "%s/%s", folder, name);
    if (strcmp(name, WATCH_SUMS_NAME) == 0)
        return move_sums(move, device, sub, from);
    move->result = compat_folder_make(move->place, sub, to, move->error);
    if (move->result != MT_OK)
        return false;
    if (strlen(to) + strlen(name) + 2 > sizeof(to)) {
        move->result = mt_error_set(move->error, MT_USAGE, "--output-path: the path is too long");
        return false;
    }
    strcat(strcat(to, "/"), name);
    return move_to(move, from, to);
}

enum mt_result compat_watch_move(const struct compat_place *place, const char *trace_folder,
                                 struct mt_error *error)
{
    struct move move = {.place = place, .result = MT_OK, .error = error};
    const struct watch_visitor visitor = {.context = &move, .file = take_file};

    watch_files_visit(trace_folder, place->process_id, &visitor);
    return move.result;
}
