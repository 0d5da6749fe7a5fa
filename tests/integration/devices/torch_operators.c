/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators of a PyTorch that the program opens: "torch_operators [LIBC10] LIBTORCH". On two
 * threads, nested, of all kinds, one with a name that is too long.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_torch.h"

enum { FUNCTION = 0, BACKWARD = 1, SCRIPT = 2, USER = 7, LONG = 300 };

static bool (*run)(int, const char *, const char *, void (*)(void));
static bool is_right = true;

static void empty(void)
{
    is_right &= run(FUNCTION, "aten::empty", "", NULL);
}

static void add(void)
{
    is_right &= run(FUNCTION, "aten::add", "Tensor", empty);
    is_right &= run(SCRIPT, "forward", "", NULL);
}

static void backward(void)
{
    is_right &= run(BACKWARD, "AddBackward0", "", NULL);
}

static void *other_thread(void *unused)
{
    static const char engine[] = "autograd::engine::evaluate_function: AddBackward0";
    char name[LONG + 1];

    is_right &= run(FUNCTION, engine, "", backward);
    is_right &= run(FUNCTION, "PythonDispatchMode", "", NULL);
    memset(name, 'x', LONG);
    name[LONG] = 0;
    is_right &= run(FUNCTION, name, "out", NULL);
    return unused;
}

int main(int argc, char **argv)
{
    void *library = NULL;
    pthread_t thread;

    for (int i = 1; i < argc; i++)
        library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return EXIT_FAILURE;
    *(void **)&run = dlsym(library, "fake_torch_run");
    is_right &= run(USER, "Optimizer.step#SGD.step", "", add);
    pthread_create(&thread, NULL, other_thread, NULL);
    pthread_join(thread, NULL);
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
