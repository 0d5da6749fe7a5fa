/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Things that programs do and that a guest in the process might disturb: "guest WAY [ARGUMENT]".
 * Each prints what it sees; with and without the recorder that must be the same.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK_BYTES = 12347, MANY = 400000, CONNECTIONS = 200, NOBODY = 65534, FEW = 5000 };

static void *volatile block_kept;

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
/* What the loader said last is the program's to read, however often we ask the loader too. */
static int loader_errors(const char *unused)
{
    const char *said;
    void *library;

    (void)unused;
    dlerror();
    for (int i = 0; i < 3; i++) {
        library = dlopen("libm.so.6", RTLD_NOW);
        dlsym(library, "no_such_function");
        said = dlerror();
        printf("%s\n", said ? said : "nothing");
        dlclose(library);
        said = dlerror();
        printf("%s\n", said ? said : "nothing");
        dlopen("no_such_library.so", RTLD_NOW);
        allocate(10);
        said = dlerror();
        printf("%s\n", said ? said : "nothing");
        dlsym(RTLD_DEFAULT, "no_such_function");
        dlsym(RTLD_DEFAULT, "printf");
        said = dlerror();
        printf("%s\n", said ? said : "nothing");
    }
    return 0;
}

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

static int few_and_sizes(const char *unused)
{
    char line[256];
    FILE *status;

    few(unused);
    status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof(line), status))
        if (strncmp(line, "VmSize:", 7) == 0 || strncmp(line, "VmData:", 7) == 0)
            printf("%ld\n", strtol(line + 7, NULL, 10));
    return 0;
}

/* Twice of what the program has may be locked; and what comes after that is locked, too. */
static int locks_all(const char *unused)
{
    struct rlimit limit = {8 << 20, 8 << 20};
    const char *how = "as much as there is";
    char *later;

    (void)unused;
    if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
        return 77;
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        how = strerror(errno);
    later = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("%s, later: %d, too much: %d\n", how, later != MAP_FAILED && mlock(later, 4096) == 0,
           mmap(NULL, 64 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
    munlockall();
    limit.rlim_cur = 4096;
    setrlimit(RLIMIT_MEMLOCK, &limit);
    printf("%d, %d\n", mlockall(MCL_CURRENT), errno);
    allocate(FEW);
    return 0;
}

static int busy_for(const char *seconds)
{
    time_t end = time(NULL) + atoi(seconds);

    while (time(NULL) < end)
        allocate(FEW);
    return 0;
}

/* --- forks --------------------------------------------------------------------------------- */

static void allocate_few(void)
{
    allocate(FEW);
}

/* Before the constructors of all libraries, so the first handlers of a child are these. */
static void handle_forks_first(int argc, char **argv, char **environment)
{
    (void)environment;
    if (argc > 1 && strcmp(argv[1], "handled_fork") == 0)
        pthread_atfork(allocate_few, allocate_few, allocate_few);
}
__attribute__((section(".preinit_array"),
               used)) static void (*const at_start)(int, char **, char **) = handle_forks_first;

/* Handlers before and after those of any library, in both processes: seven times a few. */
static int handled_fork(const char *unused)
{
    (void)unused;
    pthread_atfork(allocate_few, allocate_few, allocate_few);
    fork_and_allocate();
    return 0;
}

/* Says by a byte that it goes on, or waits for one. */
struct gate {
    int ends[2];
};

static void gate_wait(struct gate *gate)
{
    char byte;

    (void)!read(gate->ends[0], &byte, 1);
}

static void gate_open(struct gate *gate, size_t for_how_many)
{
    for (size_t i = 0; i < for_how_many; i++)
        (void)!write(gate->ends[1], "", 1);
}

/* Its child, which has not had an event yet, is left behind; what it recorded itself is over. */
static void parent_of_late_child(struct gate *begin, struct gate *end)
{
    pid_t parent = fork();

    if (parent == 0) {
        allocate(FEW);
        if (fork() == 0) {
            gate_wait(begin);
            for (int i = 0; i < FEW; i++)
                block_kept = malloc(100);
            gate_open(end, 1);
        }
        _exit(0);
    }
    waitpid(parent, NULL, 0);
}

typedef bool control_function(const char *line, char *answer, size_t answer_bytes);

/* Takes a place, in which the recording is paused. */
static void child_that_pauses(control_function *control, struct gate *end)
{
    char answer[256];

    if (fork() != 0)
        return;
    allocate(1);
    if (control)
        control("stop", answer, sizeof(answer));
    gate_wait(end);
    _exit(0);
}

enum { PAUSERS = 8 };

/* A child records for the first time when its parent's place has long been given to others. */
static int late_child(const char *unused)
{
    control_function *control = (control_function *)dlsym(RTLD_DEFAULT, "mt_control");
    struct gate begin, end, pausers;

    (void)unused;
    if (pipe(begin.ends) != 0 || pipe(end.ends) != 0 || pipe(pausers.ends) != 0)
        return 77;
    parent_of_late_child(&begin, &end);
    usleep(100000);
    for (int i = 0; i < PAUSERS; i++)
        child_that_pauses(control, &pausers);
    usleep(100000);
    gate_open(&begin, 1);
    gate_wait(&end);
    gate_open(&pausers, PAUSERS);
    while (wait(NULL) > 0)
        continue;
    return 0;
}

/* A child that says stop before it has an event of its own means itself. */
static int child_stops_itself(const char *unused)
{
    control_function *control = (control_function *)dlsym(RTLD_DEFAULT, "mt_control");
    char answer[256];

    (void)unused;
    allocate(1);
    if (fork() == 0) {
        if (control)
            control("stop", answer, sizeof(answer));
        allocate(FEW);
        _exit(0);
    }
    wait(NULL);
    allocate(FEW);
    return 0;
}

/* Waits for a line before its child records, and for another one before it ends. */
static int fork_when_told(const char *unused)
{
    char line[16];

    (void)unused;
    puts("ready");
    fflush(stdout);
    if (read(0, line, sizeof(line)) > 0)
        fork_and_allocate();
    puts("done");
    fflush(stdout);
    return read(0, line, sizeof(line)) > 0 ? 0 : 1;
}

/* Has recorded something, and records nothing more. */
static int waits_while_others_write(const char *unused)
{
    char line[16];

    (void)unused;
    allocate(FEW);
    (void)!write(1, "ready\n", 6);
    _exit(read(0, line, sizeof(line)) > 0 ? 0 : 1);
}

/* Leaves a child that begins to record about when this process, and so the run, is over. */
static int born_late(const char *delay_us)
{
    if (fork() == 0) {
        usleep((useconds_t)atoi(delay_us));
        allocate(FEW);
    }
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

/* --- exec ---------------------------------------------------------------------------------- */

/* What the loader and a program that prints a line need; nothing that only a recorder would do. */
#define FILTER_OF_EXEC(otherwise)                                                                  \
    {                                                                                              \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), ALLOW(__NR_execve), \
            ALLOW(__NR_read), ALLOW(__NR_write), ALLOW(__NR_mmap), ALLOW(__NR_munmap),             \
            ALLOW(__NR_mprotect), ALLOW(__NR_brk), ALLOW(__NR_openat), ALLOW(__NR_newfstatat),     \
            ALLOW(__NR_fstat), ALLOW(__NR_close), ALLOW(__NR_pread64), ALLOW(__NR_lseek),          \
            ALLOW(__NR_faccessat), ALLOW(__NR_set_tid_address), ALLOW(__NR_set_robust_list),       \
            ALLOW(__NR_rseq), ALLOW(__NR_prlimit64), ALLOW(__NR_getrandom),                        \
            ALLOW(__NR_rt_sigaction), ALLOW(__NR_rt_sigprocmask), ALLOW(__NR_futex),               \
            ALLOW(__NR_madvise), ALLOW(__NR_exit), ALLOW(__NR_exit_group),                         \
            ALLOW_OF_PROCESSOR BPF_STMT(BPF_RET | BPF_K, (otherwise)),                             \
    }
#if defined(__x86_64__)
#define ALLOW_OF_PROCESSOR ALLOW(__NR_arch_prctl), ALLOW(__NR_access),
#else
#define ALLOW_OF_PROCESSOR
#endif
static const struct sock_filter kill_filter[] = FILTER_OF_EXEC(SECCOMP_RET_KILL_PROCESS);
static const struct sock_filter errno_filter[] = FILTER_OF_EXEC(SECCOMP_RET_ERRNO | EPERM);

static int become_few(void)
{
    execl("/proc/self/exe", "guest", "few", NULL);
    return 1;
}

static int confined_exec(const char *unused)
{
    const struct sock_fprog program = {sizeof(kill_filter) / sizeof(kill_filter[0]),
                                       (struct sock_filter *)kill_filter};

    (void)unused;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0 ? 77 : become_few();
}

/* By an own entry into the kernel: nobody sees it. Each call that is not allowed fails from here
 * on. */
static int unseen_filter_exec(const char *unused)
{
    const struct sock_fprog program = {sizeof(errno_filter) / sizeof(errno_filter[0]),
                                       (struct sock_filter *)errno_filter};
    long result = -1;

    (void)unused;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
#if defined(__x86_64__)
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_seccomp), "D"(SECCOMP_SET_MODE_FILTER), "S"(0), "d"(&program)
                     : "rcx", "r11", "memory");
#endif
    return result != 0 ? 77 : become_few();
}

enum { SMALL_STACK_BYTES = 8192, PAINTED_BYTES = 65536, PAINT = 0xa5 };

static const char *exec_name;

static void exec_in_handler(int signal)
{
    char *arguments[] = {(char *)exec_name, NULL};

    (void)signal;
    execvp(exec_name, arguments);
}

/* Above a page that nobody may touch. */
static char *on_own_stack(size_t size_bytes)
{
    char *pages =
        mmap(NULL, size_bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const stack_t stack = {.ss_sp = pages + 4096, .ss_size = size_bytes};
    struct sigaction action = {.sa_handler = exec_in_handler, .sa_flags = SA_ONSTACK};

    mprotect(pages, 4096, PROT_NONE);
    memset(pages + 4096, PAINT, size_bytes);
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    return pages + 4096;
}

/* A handler that starts a program, on a stack as small as SIGSTKSZ was. */
static int exec_on_small_stack(const char *unused)
{
    (void)unused;
    exec_name = "true";
    on_own_stack(SMALL_STACK_BYTES);
    return 1;
}

/* How much of a stack is used to find out that this program cannot be started. */
static int exec_depth(const char *name)
{
    const unsigned char *stack;
    size_t left = 0;

    exec_name = name;
    exec_in_handler(0); /* what is looked up once is not measured */
    stack = (const unsigned char *)on_own_stack(PAINTED_BYTES);
    while (left < PAINTED_BYTES && stack[left] == PAINT)
        left++;
    printf("%zu\n", PAINTED_BYTES - left);
    return 0;
}

static const struct way {
    const char *name;
    int (*go)(const char *argument);
} ways[] = {
    {"exit_of_first_thread", exit_of_first_thread},
    {"lowest_descriptor", lowest_descriptor},
    {"loader_errors", loader_errors},
    {"first_descriptor", first_descriptor},
    {"who_is_here", who_is_here},
    {"closing_server", closing_server},
    {"no_files", no_files},
    {"own_users", own_users},
    {"fork_of_nobody", fork_of_nobody},
    {"fork_in_a_cage", fork_in_a_cage},
    {"program_of_nobody", program_of_nobody},
    {"few", few},
    {"busy_for", busy_for},
    {"few_and_sizes", few_and_sizes},
    {"locks_all", locks_all},
    {"handled_fork", handled_fork},
    {"late_child", late_child},
    {"child_stops_itself", child_stops_itself},
    {"fork_when_told", fork_when_told},
    {"born_late", born_late},
    {"waits_while_others_write", waits_while_others_write},
    {"confined", confined},
    {"confined_by_number", confined_by_number},
    {"asks_for_filters", asks_for_filters},
    {"strictly_confined", strictly_confined},
    {"confined_exec", confined_exec},
    {"unseen_filter_exec", unseen_filter_exec},
    {"exec_on_small_stack", exec_on_small_stack},
    {"exec_depth", exec_depth},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
        if (strcmp(argv[1], ways[i].name) == 0)
            return ways[i].go(argc > 2 ? argv[2] : NULL);
    fprintf(stderr, "guest: no such way\n");
    return 2;
}
