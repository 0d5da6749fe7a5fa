/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of CPython by which the functions of a stripped one are found, linked without symbols.
 * FAKE_IS_UNCLEAR: two functions look like the one that flushes files, and two like the bounded
 * cache.
 */
#include <stddef.h>

#define APART __attribute__((noinline, noclone, used))

volatile int fake_work;

void Py_EndInterpreter(void *state);
int Py_FinalizeEx(void);
long PyGC_Collect(void);
void PyErr_SetString(void *type, const char *text);

/* Bodies differ, so that the linker cannot make one of two. */
#define FUNCTION(name, ...)                                                                        \
    static APART void name(void)                                                                   \
    {                                                                                              \
        fake_work += __LINE__;                                                                     \
        __VA_ARGS__;                                                                               \
        fake_work *= 3;                                                                            \
    }

FUNCTION(wait_for_threads, fake_work--)
FUNCTION(flush_std_files, fake_work /= 7)
FUNCTION(other_pair, fake_work /= 5)
FUNCTION(finalize_modules, fake_work |= 64)
FUNCTION(fini_evaluation, fake_work ^= 32)
FUNCTION(gc_collect, fake_work &= 16)
FUNCTION(unbounded, fake_work += 2)
FUNCTION(uncached, fake_work += 1)
#ifdef FAKE_IS_UNCLEAR
FUNCTION(bounded, fake_work += 3)
#else
FUNCTION(
    bounded, for (int i = 0; i < fake_work; i++) {
        fake_work += i * fake_work;
        fake_work ^= fake_work << 3;
        fake_work -= fake_work / 9;
        fake_work += fake_work % 77;
        fake_work ^= fake_work >> 5;
    })
#endif

long PyGC_Collect(void)
{
    return fake_work;
}

void PyErr_SetString(void *type, const char *text)
{
    fake_work += type != NULL && text != NULL;
}

void Py_EndInterpreter(void *state)
{
    fake_work += state != NULL;
    wait_for_threads();
    finalize_modules();
    fake_work++;
}

int Py_FinalizeEx(void)
{
    wait_for_threads();
#ifdef FAKE_IS_UNCLEAR
    other_pair();
#endif
    flush_std_files();
    PyGC_Collect();
    finalize_modules();
    fini_evaluation();
    flush_std_files();
#ifdef FAKE_IS_UNCLEAR
    other_pair();
#endif
    return fake_work;
}

static APART void *lru_cache_new(void *type, void *arguments, void *names)
{
    void (*volatile wrapper)(void) = bounded;

    if (!names)
        wrapper = unbounded;
    else if (!arguments)
        wrapper = uncached;
    wrapper();
    return type;
}

struct method {
    const char *name;
    void (*function)(void);
    int flags;
    const char *documentation;
};

struct slot {
    int number;
    const void *function;
};

struct spec {
    const char *name;
    int basic_size, item_size;
    unsigned flags;
    const struct slot *slots;
};

struct method fake_methods[] = {{"collect", gc_collect, 1, NULL}, {NULL, NULL, 0, NULL}};
static struct slot slots[] = {{50, uncached}, {65, lru_cache_new}, {0, NULL}};
struct spec fake_spec = {"functools._lru_cache_wrapper", 128, 0, 0, slots};
/* Where they are, for the test. */
const void *const fake_flush_std_files = flush_std_files, *const fake_modules = finalize_modules,
                  *const fake_collect = gc_collect, *const fake_bounded = bounded;
