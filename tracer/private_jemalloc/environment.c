/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the private jemalloc may know of its surroundings: nothing but the kernel.
 *
 * MALLOC_CONF and /etc/malloc.conf belong to the traced program. The private copy asks for them
 * under these renamed names and finds neither. The definitions are weak, so a user of the
 * library may answer for itself. Its memory comes straight from the kernel: the name mmap would
 * lead to our own hook, which may be what is asking for memory.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

char *mt_je_secure_getenv(const char *name);
ssize_t mt_je_readlink(const char *path, char *buffer, size_t size_bytes);
void *mt_je_mmap(void *address, size_t size_bytes, int protection, int flags, int descriptor,
                 off_t offset_bytes);
int mt_je_munmap(void *address, size_t size_bytes);

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

void *mt_je_mmap(void *address, size_t size_bytes, int protection, int flags, int descriptor,
                 off_t offset_bytes)
{
    return (void *)syscall(SYS_mmap, address, size_bytes, protection, flags, descriptor,
                           offset_bytes);
}

int mt_je_munmap(void *address, size_t size_bytes)
{
    return (int)syscall(SYS_munmap, address, size_bytes);
}
