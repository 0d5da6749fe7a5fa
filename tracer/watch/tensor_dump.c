/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "tensor_dump.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ascend_abi.h"
#include "config.h"
#include "crc64.h"
#include "hook.h"

enum {
    PIECE_BYTES = 4 << 20,
    TROUBLE_LINES = 32,
    DEVICES = 65, /* by device + 1 */
    SUM_ROW_BYTES = 512,
};

#define TENSOR_BYTES_MAX (UINT64_C(16) << 30)
#define DISK_KEPT_FREE   (UINT64_C(1) << 30)

static const char *const acl_libraries[] = {"libacl_rt.so", "libascendcl.so", NULL};

static struct hook_slot copy_slot = {"aclrtMemcpy", acl_libraries, NULL};
static struct hook_slot wait_device = {"aclrtSynchronizeDevice", acl_libraries, NULL};
static struct hook_slot wait_stream = {"aclrtSynchronizeStream", acl_libraries, NULL};
static struct hook_slot capture_info = {"aclmdlRICaptureGetInfo", acl_libraries, NULL};

/* The runtime may be loaded later than we were asked first. */
static void *asked_again(struct hook_slot *slot)
{
    hook_ask_again(slot);
    return hook_asked(slot);
}

/* --- trouble ----------------------------------------------------------------------------------
 */

/* <folder of the run>/watch/<pid>[/<sub>], made where it is absent. */
static bool folder_make(char *path, const char *sub)
{
    const char *run = config_get()->output_path;
    int length;

    mkdir(run, 0750);
    snprintf(path, PATH_MAX, "%s/watch", run);
    mkdir(path, 0750);
    length = snprintf(path, PATH_MAX, "%s/watch/%d", run, (int)getpid());
    if (length < 0 || length >= PATH_MAX || (mkdir(path, 0750) != 0 && errno != EEXIST))
        return false;
    if (!*sub)
        return true;
    length = snprintf(path, PATH_MAX, "%s/watch/%d/%s", run, (int)getpid(), sub);
    return length < PATH_MAX && (mkdir(path, 0750) == 0 || errno == EEXIST);
}

static bool bytes_write(int file, const void *bytes, size_t size_bytes)
{
    const char *at = bytes;

    while (size_bytes) {
        ssize_t done = write(file, at, size_bytes);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        size_bytes -= (size_t)done;
    }
    return true;
}

/* The folder without its last part, and another after it. */
static int file_open(const char *folder, const char *name, int flags)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/%s", folder, name);

    if (length < 0 || length >= (int)sizeof(path))
        return -1;
    return open(path, O_WRONLY | O_CLOEXEC | flags, 0600);
}

void tensor_trouble(const char *format, ...)
{
    static _Atomic unsigned lines;
    char folder[PATH_MAX], line[SUM_ROW_BYTES];
    va_list arguments;
    int length, file;

    if (atomic_fetch_add_explicit(&lines, 1, memory_order_relaxed) >= TROUBLE_LINES ||
        !folder_make(folder, ""))
        return;
    va_start(arguments, format);
    length = vsnprintf(line, sizeof(line) - 1, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    if (length > (int)sizeof(line) - 2)
        length = (int)sizeof(line) - 2;
    line[length] = '\n';
    file = file_open(folder, "trouble.txt", O_CREAT | O_APPEND);
    if (file < 0)
        return;
    bytes_write(file, line, (size_t)length + 1);
    close(file);
}

/* --- the device -------------------------------------------------------------------------------
 */

/* Waiting in the middle of a capture would break it, and what is captured has not run. */
static bool is_capturing(void *stream)
{
    int (*info)(void *, int *, void **) = stream ? hook_asked(&capture_info) : NULL;
    void *model = NULL;
    int status = 0;

    return info && info(stream, &status, &model) == 0 && status == ACL_CAPTURE_ACTIVE;
}

bool tensor_dump_prepare(void *stream)
{
    int (*wait_all)(void) = asked_again(&wait_device);
    int (*wait)(void *) = wait_all ? NULL : asked_again(&wait_stream);
    int status = 0;

    if (is_capturing(stream)) {
        tensor_trouble("tensors were not read while the stream captured a graph");
        return false;
    }
    if (wait_all)
        status = wait_all();
    else if (wait)
        status = wait(stream);
    if (status != 0)
        tensor_trouble("tensors were not read: waiting for the device failed with %d", status);
    return status == 0;
}

static void *piece_take(void)
{
    /* By its number: what the hooks of the host see is the program's. */
    long address = syscall(SYS_mmap, NULL, (size_t)PIECE_BYTES, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);

    return address < 0 && address > -4096 ? NULL : (void *)address;
}

static void piece_give_back(void *piece)
{
    syscall(SYS_munmap, piece, (size_t)PIECE_BYTES);
}

/* Piece by piece into the sum, and into the file unless that is -1. */
static bool tensor_copy(const struct tensor_dump *what, void *piece, int file, uint64_t *sum)
{
    int (*copy)(void *, size_t, const void *, size_t, int) = asked_again(&copy_slot);

    if (!copy) {
        tensor_trouble("%s was not read: the runtime has no aclrtMemcpy", what->name);
        return false;
    }
    *sum = 0;
    for (uint64_t done = 0; done < what->size_bytes;) {
        uint64_t rest = what->size_bytes - done;
        size_t size = rest < PIECE_BYTES ? (size_t)rest : PIECE_BYTES;
        int status = copy(piece, PIECE_BYTES, (const void *)(uintptr_t)(what->address + done), size,
                          ACL_COPY_DEVICE_TO_HOST);

        if (status != 0) {
            tensor_trouble("%s was not read: copying %zu bytes at 0x%" PRIx64 " failed with %d",
                           what->name, size, what->address + done, status);
            return false;
        }
        *sum = crc64(*sum, piece, size);
        if (file >= 0 && !bytes_write(file, piece, size)) {
            tensor_trouble("%s was not written: %m", what->name);
            return false;
        }
        done += size;
    }
    return true;
}

/* --- files ------------------------------------------------------------------------------------
 */

static bool disk_has_room(const struct tensor_dump *what, const char *folder)
{
    struct statvfs disk;

    if (statvfs(folder, &disk) != 0 ||
        (uint64_t)disk.f_bavail * disk.f_frsize >= what->size_bytes + DISK_KEPT_FREE)
        return true;
    tensor_trouble("%s was not written: less than 1 GiB of the disk would be left", what->name);
    return false;
}

/* The thread that comes first writes the header; others wait for it. Again in a forked child. */
static bool header_is_there(int32_t device, const char *folder)
{
    static const char header[] = "Tensor info,Check data sum\n";
    static _Atomic int64_t made_by[DEVICES]; /* pid; negative: being made */
    _Atomic int64_t *made = &made_by[device >= 0 && device < DEVICES - 1 ? device + 1 : 0];
    int64_t process = getpid(), before = atomic_load(made);
    bool is_ok;
    int file;

    while (before != process) {
        if (before == -process) {
            sched_yield();
            before = atomic_load(made);
            continue;
        }
        if (!atomic_compare_exchange_strong(made, &before, -process))
            continue;
        file = file_open(folder, "check_sums.csv", O_CREAT | O_APPEND);
        is_ok = file >= 0 && bytes_write(file, header, sizeof(header) - 1);
        if (file >= 0)
            close(file);
        atomic_store(made, is_ok ? process : 0);
        return is_ok;
    }
    return true;
}

static bool sum_write(const struct tensor_dump *what, const char *folder, uint64_t sum)
{
    char row[SUM_ROW_BYTES];
    int length = snprintf(row, sizeof(row), "%s,%016" PRIx64 "\n", what->name, sum);
    bool is_ok = header_is_there(what->device, folder);
    int file = is_ok ? file_open(folder, "check_sums.csv", O_APPEND) : -1;

    is_ok = file >= 0 && length < (int)sizeof(row) && bytes_write(file, row, (size_t)length);
    if (!is_ok)
        tensor_trouble("the sum of %s was not written: %m", what->name);
    if (file >= 0)
        close(file);
    return is_ok;
}

/* Under another name until it is whole: a part of a tensor is no tensor. */
static bool whole_write(const struct tensor_dump *what, const char *folder, void *piece)
{
    char part[PATH_MAX], path[PATH_MAX];
    uint64_t sum;
    int length = snprintf(part, sizeof(part), "%s/%s.part", folder, what->name);
    int file = -1;
    bool is_ok;

    if (length > 0 && length < (int)sizeof(part) && disk_has_room(what, folder))
        file = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    is_ok = tensor_copy(what, piece, file, &sum);
    close(file);
    snprintf(path, sizeof(path), "%.*s", length - 5, part);
    if (!is_ok || rename(part, path) != 0) {
        unlink(part);
        return false;
    }
    return true;
}

bool tensor_dump(const struct tensor_dump *what)
{
    char folder[PATH_MAX], sub[32];
    uint64_t sum;
    void *piece;
    bool is_ok;

    if (what->size_bytes > TENSOR_BYTES_MAX) {
        tensor_trouble("%s was not read: %" PRIu64 " bytes are more than 16 GiB", what->name,
                       what->size_bytes);
        return false;
    }
    snprintf(sub, sizeof(sub), "device_%" PRId32, what->device);
    piece = folder_make(folder, sub) ? piece_take() : NULL;
    if (!piece)
        return false;
    if (what->is_whole)
        is_ok = whole_write(what, folder, piece);
    else
        is_ok = tensor_copy(what, piece, -1, &sum) && sum_write(what, folder, sum);
    piece_give_back(piece);
    return is_ok;
}
