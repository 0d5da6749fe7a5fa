/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the private jemalloc may know of its surroundings: nothing.
 *
 * MALLOC_CONF and /etc/malloc.conf belong to the traced program. The private copy asks for them
 * under these renamed names and finds neither. The definitions are weak, so a user of the
 * library may answer for itself.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/types.h>

char *mt_je_secure_getenv(const char *name);
ssize_t mt_je_readlink(const char *path, char *buffer, size_t size_bytes);

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
