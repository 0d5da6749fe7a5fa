/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Things that programs do and that a guest in the process might disturb: "guest WAY [ARGUMENT]".
 * Each prints what it sees; with and without the recorder that must be the same.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCK_BYTES = 12347, MANY = 400000, CONNECTIONS = 200, NOBODY = 65534, FEW = 5000 };

static void allocate(long count)
{
    for (long i = 0; i < count; i++) {
        void *volatile block = malloc(BLOCK_BYTES);

        free(block);
    }
}

/* --- threads and descriptors --------------------------------------------------------------- */

static void *say_done(void *unused)
{
    (void)unused;
    usleep(20000);
    puts("worker done");
    return NULL;
}

/* The last thread ends the process. */
static int exit_of_first_thread(const char *unused)
{
    pthread_t thread;

    (void)unused;
    pthread_create(&thread, NULL, say_done, NULL);
    pthread_exit(NULL);
}

/* New descriptors have the lowest free number, at any time. */
static int lowest_descriptor(const char *unused)
{
    int others = 0;

    (void)unused;
    for (int i = 0; i < 60000; i++) {
        close(0);
        others += open("/dev/null", O_RDONLY) != 0;
        if (i % 16 == 0)
            allocate(1);
    }
    printf("%d others\n", others);
    return 0;
}

static int first_descriptor(const char *unused)
{
    (void)unused;
    allocate(FEW);
    printf("%d %d\n", open("/dev/null", O_RDONLY), open("/dev/null", O_RDONLY));
    return 0;
}

static void say_line_of_status(const char *word)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];

    while (status && fgets(line, sizeof(line), status))
        if (strncmp(line, word, strlen(word)) == 0)
            fputs(line, stdout);
    if (status)
        fclose(status);
}

static int who_is_here(const char *unused)
{
    (void)unused;
    allocate(MANY);
    usleep(100000);
    say_line_of_status("Threads:");
    say_line_of_status("SigBlk:");
    say_line_of_status("SigIgn:");
    say_line_of_status("SigCgt:");
    for (int i = 0; i < 1024; i++)
        if (fcntl(i, F_GETFD) >= 0)
            printf("descriptor %d\n", i);
    printf("children: %d\n", waitpid(-1, NULL, WNOHANG | __WALL));
    return 0;
}

static void call(uint16_t port, int *greeted)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    char greeting[6] = "";

    if (connect(connection, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        recv(connection, greeting, 5, MSG_WAITALL) == 5)
        *greeted += strcmp(greeting, "hello") == 0;
    close(connection);
}

/* A server that closes what it does not know, and takes the numbers for its own. */
static int closing_server(const char *unused)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int listening, greeted = 0;

    (void)unused;
    allocate(FEW);
    usleep(50000);
    for (int i = 3; i < 1024; i++)
        close(i);
    listening = socket(AF_INET, SOCK_STREAM, 0);
    bind(listening, (struct sockaddr *)&address, length);
    listen(listening, 16);
    getsockname(listening, (struct sockaddr *)&address, &length);
    if (fork() == 0) {
        for (int i = 0; i < CONNECTIONS; i++)
            call(address.sin_port, &greeted);
        printf("%d greetings\n", greeted);
        exit(0);
    }
    for (int i = 0; i < CONNECTIONS; i++) {
        int connection = accept(listening, NULL, NULL);

        usleep(1000);
        send(connection, "hello", 5, MSG_NOSIGNAL);
        close(connection);
    }
    wait(NULL);
    return 0;
}

/* --- limits and rights --------------------------------------------------------------------- */

static int no_files(const char *unused)
{
    const struct rlimit limit = {0, 0};

    (void)unused;
    setrlimit(RLIMIT_FSIZE, &limit);
    allocate(MANY);
    return 7;
}

static int own_users(const char *unused)
{
    (void)unused;
    allocate(FEW);
    printf("%d\n", unshare(CLONE_NEWUSER) ? errno : 0);
    return 0;
}

static void fork_and_allocate(void)
{
    pid_t child = fork();

    if (child == 0) {
        allocate(FEW);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static int fork_of_nobody(const char *unused)
{
    (void)unused;
    if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
        return 77;
    fork_and_allocate();
    return 0;
}

static int fork_in_a_cage(const char *folder)
{
    if (chroot(folder) != 0 || chdir("/") != 0)
        return 77;
    for (int i = 3; i < 1024; i++)
        close(i);
    if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
        return 77;
    fork_and_allocate();
    return 0;
}

/* The folder of the run cannot be opened by name any more. */
static int program_of_nobody(const char *own_path)
{
    if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
        return 77;
    execl(own_path, own_path, "few", NULL);
    return 127;
}

static int few(const char *unused)
{
    (void)unused;
    allocate(FEW);
    return 0;
}

/* --- system calls -------------------------------------------------------------------------- */

#define ALLOW(number)                                                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),                                           \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Everything else ends the process. */
static const struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    ALLOW(__NR_read),
    ALLOW(__NR_write),
    ALLOW(__NR_mmap),
    ALLOW(__NR_munmap),
    ALLOW(__NR_mprotect),
    ALLOW(__NR_brk),
    ALLOW(__NR_exit),
    ALLOW(__NR_exit_group),
    ALLOW(__NR_newfstatat),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

static int confine(bool is_by_number)
{
    const struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]),
                                       (struct sock_filter *)filter};

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (is_by_number)
        return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int confined(const char *unused)
{
    (void)unused;
    allocate(FEW);
    if (confine(false) != 0)
        return 77;
    allocate(MANY);
    puts("still here");
    return 3;
}

static int confined_by_number(const char *unused)
{
    (void)unused;
    allocate(FEW);
    if (confine(true) != 0)
        return 77;
    allocate(MANY);
    puts("still here");
    return 3;
}

/* As libseccomp asks what the kernel knows: neither call confines anything. */
static int asks_for_filters(const char *unused)
{
    (void)unused;
    syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL);
    allocate(FEW);
    return 0;
}

static int strictly_confined(const char *unused)
{
    (void)unused;
    allocate(FEW);
    fflush(stdout);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
        return 77;
    allocate(FEW);
    (void)!write(1, "still here\n", 11);
    syscall(SYS_exit, 0);
    return 1;
}

static const struct way {
    const char *name;
    int (*go)(const char *argument);
} ways[] = {
    {"exit_of_first_thread", exit_of_first_thread},
    {"lowest_descriptor", lowest_descriptor},
    {"first_descriptor", first_descriptor},
    {"who_is_here", who_is_here},
    {"closing_server", closing_server},
    {"no_files", no_files},
    {"own_users", own_users},
    {"fork_of_nobody", fork_of_nobody},
    {"fork_in_a_cage", fork_in_a_cage},
    {"program_of_nobody", program_of_nobody},
    {"few", few},
    {"confined", confined},
    {"confined_by_number", confined_by_number},
    {"asks_for_filters", asks_for_filters},
    {"strictly_confined", strictly_confined},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
        if (strcmp(argv[1], ways[i].name) == 0)
            return ways[i].go(argc > 2 ? argv[2] : NULL);
    fprintf(stderr, "guest: no such way\n");
    return 2;
}
