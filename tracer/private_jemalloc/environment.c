/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the private jemalloc may know of its surroundings: nothing but the kernel.
 *
 * MALLOC_CONF and /etc/malloc.conf belong to the traced program. The private copy asks for them
 * under these renamed names and finds neither. The definitions are weak, so a user of the
 * library may answer for itself. Its memory comes straight from the kernel: the name mmap would
 * lead to our own hook, which may be what is asking for memory.
 *
 * The program's address space may be short, and jemalloc trusts that some things never fail: where
 * its own start fails, all threads but one wait for it for ever; where an arena for a new thread
 * cannot be made, it is used nevertheless. So there is one arena, no cache for threads, and the
 * block that the start needs is part of this library: if we could be loaded, the start succeeds.
 *
 * Its profiles are off, and nobody can switch them on. What they alone would need of libm and
 * libgcc_s is answered with nothing, so that no process has to load these two for us.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { FIRST_BLOCK_BYTES = 1 << 21 }; /* as large as its alignment; of jemalloc 5 */

extern const char *mt_je_malloc_conf;
const char *mt_je_malloc_conf =
    "narenas:1,tcache:false,oversize_threshold:0,retain:false,background_thread:false";

char *mt_je_secure_getenv(const char *name);
ssize_t mt_je_readlink(const char *path, char *buffer, size_t size_bytes);
void *mt_je_mmap(void *address, size_t size_bytes, int protection, int flags, int descriptor,
                 off_t offset_bytes);
void mt_je_has_mapped(const void *memory, size_t size_bytes);
void mt_je_will_unmap(const void *memory, size_t size_bytes);
int mt_je_munmap(void *address, size_t size_bytes);
double mt_je_exp(double x);
double mt_je_log(double x);
double mt_je_round(double x);
int mt_je__Unwind_Backtrace(void *step, void *data);
uintptr_t mt_je__Unwind_GetIP(void *context);

__attribute__((weak)) char *mt_je_secure_getenv(const char *name)
{
    (void)name;
    return NULL;
}

__attribute__((weak)) ssize_t mt_je_readlink(const char *path, char *buffer, size_t size_bytes)
{
    (void)path;
    (void)buffer;
    (void)size_bytes;
    errno = ENOENT;
    return -1;
}

/* For who keeps a list of what is ours. */
__attribute__((weak)) void mt_je_has_mapped(const void *memory, size_t size_bytes)
{
    (void)memory;
    (void)size_bytes;
}

__attribute__((weak)) void mt_je_will_unmap(const void *memory, size_t size_bytes)
{
    (void)memory;
    (void)size_bytes;
}

/* Aligned here, as loaders before glibc 2.35 do not. */
static void *first_block(void)
{
    static char memory[2 * FIRST_BLOCK_BYTES];
    static atomic_flag is_given = ATOMIC_FLAG_INIT;
    uintptr_t address = (uintptr_t)memory + FIRST_BLOCK_BYTES - 1;

    if (atomic_flag_test_and_set(&is_given))
        return NULL;
    return (void *)(address - address % FIRST_BLOCK_BYTES);
}

void *mt_je_mmap(void *address, size_t size_bytes, int protection, int flags, int descriptor,
                 off_t offset_bytes)
{
    void *first = NULL, *mapped;

    if (!address && size_bytes == FIRST_BLOCK_BYTES && protection == (PROT_READ | PROT_WRITE))
        first = first_block();
    if (first)
        return first;
    mapped =
        (void *)syscall(SYS_mmap, address, size_bytes, protection, flags, descriptor, offset_bytes);
    if (mapped != MAP_FAILED)
        mt_je_has_mapped(mapped, size_bytes);
    return mapped;
}

int mt_je_munmap(void *address, size_t size_bytes)
{
    mt_je_will_unmap(address, size_bytes);
    return (int)syscall(SYS_munmap, address, size_bytes);
}

/* --- of profiles alone ------------------------------------------------------------------ */

double mt_je_exp(double x)
{
    return x;
}

double mt_je_log(double x)
{
    return x;
}

double mt_je_round(double x)
{
    return x;
}

int mt_je__Unwind_Backtrace(void *step, void *data)
{
    enum { END_OF_STACK = 5 }; /* _URC_END_OF_STACK */

    (void)step;
    (void)data;
    return END_OF_STACK;
}

uintptr_t mt_je__Unwind_GetIP(void *context)
{
    (void)context;
    return 0;
}
