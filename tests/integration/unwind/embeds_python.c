/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that opens interpreters at run time.
 *
 *     embeds_python local|global|closing LIBRARY...
 *
 * In turn: opens the library, and in two lives of the interpreter runs functions of Python that ask
 * for 5,000,001 bytes. closing: then closes it; and all that once more.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIVES = 2 };

static const char program[] =
    "def embedded(): bytearray(5000000)\n" /* and a byte that ends it */
    "for i in range(50):\n"
    "  space = {}\n"
    "  exec(compile(f'def made_{i}(call): call()', f'made{i}.py', 'exec'), space)\n"
    "  space[f'made_{i}'](embedded)\n";

/* An interpreter looks for its modules where it is installed: HOME/lib/libpython3... */
static void set_home(const char *path)
{
    char home[4096];

    snprintf(home, sizeof(home), "%s", path);
    *strstr(home, "/lib/libpython") = 0;
    setenv("PYTHONHOME", home, 1);
}

static int run(const char *path, int flags, int is_closed)
{
    void *library = dlopen(path, RTLD_NOW | flags);
    void (*begin)(int);
    int (*run_text)(const char *), (*end)(void);

    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    set_home(path);
    begin = (void (*)(int))dlsym(library, "Py_InitializeEx");
    run_text = (int (*)(const char *))dlsym(library, "PyRun_SimpleString");
    end = (int (*)(void))dlsym(library, "Py_FinalizeEx");
    for (int life = 0; life < LIVES; life++) {
        begin(0);
        if (run_text(program) != 0)
            return 1;
        end();
    }
    return is_closed ? dlclose(library) : 0;
}

int main(int count, char **words)
{
    int flags = strcmp(words[1], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
    int is_closed = strcmp(words[1], "closing") == 0, result = 0;

    for (int turn = 0; turn < 1 + is_closed; turn++)
        for (int i = 2; i < count; i++)
            result |= run(words[i], flags, is_closed);
    return result;
}
