/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client library of debuginfod, loaded where it is wanted.
 */
#include "debug_server.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "memory_failures.h"

enum {
    PATIENCE_S = 10, /* without a byte */
    /* The client counts its rounds, about one a second, until bytes come; those it counts too. */
    ROUNDS_MOST = 256,
};

struct debuginfod_client;
typedef int (*progress_function)(struct debuginfod_client *client, long done, long all);

struct debug_server {
    void *library; /* NULL: not installed */
    struct debuginfod_client *client;
    int (*find)(struct debuginfod_client *client, const unsigned char *build_id, int size_bytes,
                char **path);
    void (*end)(struct debuginfod_client *client);
    bool is_silent;
    long seen; /* of the download that goes on: rounds, or bytes */
    time_t seen_s;
};

/* The client hands it back to wait_on(), which gets nothing else of ours. */
static void *(*data_of)(struct debuginfod_client *client);

static time_t now_s(void)
{
    struct timespec now = {0};

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* Not 0 ends the download. */
static int wait_on(struct debuginfod_client *client, long done, long all)
{
    struct debug_server *server = data_of(client);

    (void)all;
    if (done - server->seen > ROUNDS_MOST) {
        server->seen = done;
        server->seen_s = now_s();
    }
    server->is_silent = now_s() - server->seen_s > PATIENCE_S;
    return server->is_silent;
}

/* False: the library has not what it should have. */
static bool client_begin(struct debug_server *server)
{
    struct debuginfod_client *(*begin)(void);
    void (*set_progress)(struct debuginfod_client *, progress_function);
    void (*set_data)(struct debuginfod_client *, void *);

    *(void **)&begin = dlsym(server->library, "debuginfod_begin");
    *(void **)&set_progress = dlsym(server->library, "debuginfod_set_progressfn");
    *(void **)&set_data = dlsym(server->library, "debuginfod_set_user_data");
    *(void **)&data_of = dlsym(server->library, "debuginfod_get_user_data");
    *(void **)&server->find = dlsym(server->library, "debuginfod_find_debuginfo");
    *(void **)&server->end = dlsym(server->library, "debuginfod_end");
    if (!begin || !set_progress || !set_data || !data_of || !server->find || !server->end)
        return false;
    server->client = begin();
    if (!server->client)
        return false;
    set_data(server->client, server);
    set_progress(server->client, wait_on);
    return true;
}

struct debug_server *debug_server_open(void)
{
    const char *servers = getenv("DEBUGINFOD_URLS");
    struct debug_server *server = servers && *servers ? calloc(1, sizeof(*server)) : NULL;

    if (!server)
        return NULL;
    errno = 0;
    server->library = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!server->library && errno == ENOMEM)
        memory_failure_note();
    server->is_silent = server->library && !client_begin(server);
    return server;
}

/* The library stays: what it is built on does not like to be unloaded. */
void debug_server_close(struct debug_server *server)
{
    if (server && server->client)
        server->end(server->client);
    free(server);
}

enum debug_server_answer debug_server_find(struct debug_server *server, struct build_id id,
                                           char **path)
{
    int descriptor;

    *path = NULL;
    if (!server->library)
        return DEBUG_SERVER_NO_CLIENT;
    if (server->is_silent)
        return DEBUG_SERVER_SILENT;
    server->seen = 0;
    server->seen_s = now_s();
    descriptor = server->find(server->client, id.bytes, (int)id.size_bytes, path);
    if (descriptor >= 0) {
        close(descriptor);
        return DEBUG_SERVER_HAS_IT;
    }
    *path = NULL;
    server->is_silent |= descriptor != -ENOENT; /* the client says this of what was ended, too */
    return server->is_silent ? DEBUG_SERVER_SILENT : DEBUG_SERVER_HAS_NONE;
}
