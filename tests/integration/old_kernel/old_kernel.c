/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program as a kernel 4.19 would answer it.
 *
 *   old_kernel PROGRAM ARGUMENT...
 *
 * A filter of the kernel answers ENOSYS to every call that 4.19 does not have, and EINVAL to what
 * is newer of the calls that it has: advice, flags, kinds. The program and all that it starts have
 * the filter and cannot take it away. New calls get new numbers at the end of the table, so one
 * number tells them apart: on both processors, rseq was the last one of 4.19. Exit status 77: this
 * kernel takes no filters.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { OWN_ARCHITECTURE = (int)AUDIT_ARCH_X86_64, NEWEST_CALL = 334 };
#else
enum { OWN_ARCHITECTURE = (int)AUDIT_ARCH_AARCH64, NEWEST_CALL = 293 };
#endif
_Static_assert(NEWEST_CALL == SYS_rseq, "the table of this processor");

enum {
    SKIPPED = 77,
    FIRST_NEW_ADVICE = 20,     /* MADV_COLD, 5.4 */
    DONT_UNMAP = 4,            /* of mremap, 5.7 */
    NEW_MEMFD_FLAGS = 8 | 16,  /* MFD_NOEXEC_SEAL, MFD_EXEC, 6.3 */
    WAIT_FOR_DESCRIPTOR = 3,   /* of waitid, 5.4 */
    NAME_MAPPINGS = 0x53564d41 /* of prctl, 5.17 */
};

#define DATA(field)   offsetof(struct seccomp_data, field)
#define LOAD(field)   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, DATA(field))
#define ANSWER(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
/* Of one call: EINVAL if its argument (the low half) compares so with a value. */
#define REFUSE(call, argument, compare, value)                                                     \
    LOAD(nr), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3), LOAD(args[argument]),               \
        BPF_JUMP(BPF_JMP | (compare) | BPF_K, value, 0, 1), ANSWER(EINVAL)

static struct sock_filter lines[] = {
    LOAD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)OWN_ARCHITECTURE, 1, 0),
    ANSWER(ENOSYS),
    LOAD(nr),
    BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, NEWEST_CALL, 0, 1),
    ANSWER(ENOSYS),
    REFUSE(SYS_madvise, 2, BPF_JGE, FIRST_NEW_ADVICE),
    REFUSE(SYS_mremap, 3, BPF_JSET, DONT_UNMAP),
    REFUSE(SYS_memfd_create, 1, BPF_JSET, NEW_MEMFD_FLAGS),
    REFUSE(SYS_waitid, 0, BPF_JEQ, WAIT_FOR_DESCRIPTOR),
    REFUSE(SYS_prctl, 0, BPF_JEQ, NAME_MAPPINGS),
    ALLOW,
};

enum { PIDFD_OPEN = 434 }; /* 5.3, on both processors */

static int filter_begin(void)
{
    struct sock_fprog program = {sizeof(lines) / sizeof(lines[0]), lines};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* A filter that lets a new call through would let every test pass. */
static int filter_works(void)
{
    long page = sysconf(_SC_PAGESIZE);
    void *mapped = mmap(NULL, (size_t)page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (mapped == MAP_FAILED || madvise(mapped, (size_t)page, MADV_NORMAL) != 0)
        return 0;
    if (madvise(mapped, (size_t)page, FIRST_NEW_ADVICE) == 0 || errno != EINVAL)
        return 0;
    return syscall(PIDFD_OPEN, getpid(), 0) == -1 && errno == ENOSYS;
}

int main(int count, char **words)
{
    if (count < 2) {
        fprintf(stderr, "usage: old_kernel PROGRAM ARGUMENT...\n");
        return 2;
    }
    if (filter_begin() != 0) {
        perror("skipped: no filter");
        return SKIPPED;
    }
    if (!filter_works()) {
        fprintf(stderr, "old_kernel: the filter lets new calls through\n");
        return 1;
    }
    execvp(words[1], words + 1);
    perror(words[1]);
    return 127;
}
