/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "bus_errors.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static struct sigaction before;
static volatile sig_atomic_t has_come;

/* What is not of a file, or cannot be helped, ends us when the instruction is repeated. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *page = (void *)((uintptr_t)info->si_addr / page_bytes * page_bytes);

    (void)context;
    if (info->si_code == BUS_ADRERR && mmap(page, page_bytes, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page)
        has_come = 1;
    else
        signal(number, SIG_DFL);
}

void bus_errors_survive(void)
{
    struct sigaction survive = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};

    sigaction(SIGBUS, &survive, &before);
}

void bus_errors_as_before(void)
{
    sigaction(SIGBUS, &before, NULL);
}

bool bus_errors_came(void)
{
    return has_come;
}
