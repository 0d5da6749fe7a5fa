/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "file_room.h"

#include <linux/fs.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>

/* Of fstatfs: file systems that never overwrite. */
static const uint32_t copying[] = {
    0x9123683e, /* btrfs */
    0x2fc12fc1, /* ZFS */
    0xca451a4e, /* bcachefs */
    0x00003434, /* nilfs2 */
};

/* Only file systems that copy have such a flag: so they are known below an overlay, too. */
static bool is_taken_out_of_copying(int descriptor)
{
    int flags = 0;

    if (ioctl(descriptor, FS_IOC_GETFLAGS, &flags) != 0)
        return false;
    flags |= FS_NOCOW_FL;
    return ioctl(descriptor, FS_IOC_SETFLAGS, &flags) == 0 &&
           ioctl(descriptor, FS_IOC_GETFLAGS, &flags) == 0 && (flags & FS_NOCOW_FL);
}

bool file_room_is_kept(int descriptor)
{
    struct statfs system;

    if (is_taken_out_of_copying(descriptor) || fstatfs(descriptor, &system) != 0)
        return false;
    for (size_t i = 0; i < sizeof(copying) / sizeof(copying[0]); i++)
        if ((uint32_t)system.f_type == copying[i])
            return false;
    return true;
}
