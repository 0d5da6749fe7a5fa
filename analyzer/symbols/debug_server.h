/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug data from the servers that DEBUGINFOD_URLS names, by build-id.
 *
 * elfutils' own client asks them, and keeps what it got in its cache; leaktide is not linked with
 * it. A server that does not answer is asked once. One thread at a time.
 */
#ifndef LEAKTIDE_DEBUG_SERVER_H
#define LEAKTIDE_DEBUG_SERVER_H

#include "elf_file.h"

struct debug_server;

enum debug_server_answer {
    DEBUG_SERVER_HAS_IT,
    DEBUG_SERVER_HAS_NONE,
    DEBUG_SERVER_SILENT,    /* no answer, or a wrong one; not asked again */
    DEBUG_SERVER_NO_CLIENT, /* servers are named, and the client is not installed */
};

/* NULL: no servers are named, or no memory. */
struct debug_server *debug_server_open(void);
void debug_server_close(struct debug_server *server);

/*
 * The file with the debug data of a build; waits for the download, as long as it goes on.
 * *path: for free(); NULL unless DEBUG_SERVER_HAS_IT.
 */
enum debug_server_answer debug_server_find(struct debug_server *server, struct build_id id,
                                           char **path);

#endif
