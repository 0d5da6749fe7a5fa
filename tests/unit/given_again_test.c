/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which stacks are of objects that CPython gives again. The names are those of CPython 3.10
 * to 3.13.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "given_again.h"

enum { FRAMES_MOST = 8 };

struct stack {
    const char *functions[FRAMES_MOST]; /* innermost first; the last is of Python, but for "main" */
};

static bool is_told(const struct stack *stack)
{
    struct symbol_frame frames[FRAMES_MOST];
    size_t count = 0;

    memset(frames, 0, sizeof(frames));
    for (; count < FRAMES_MOST && stack->functions[count]; count++) {
        frames[count].function = stack->functions[count];
        frames[count].is_allocator = strncmp(stack->functions[count], "_PyObject_", 10) == 0;
    }
    frames[count - 1].is_python = strcmp(frames[count - 1].function, "main") != 0;
    return is_given_again(frames, count);
}

static void objects_that_are_given_again(void **state)
{
    static const struct stack stacks[] = {
        {{"PyFloat_FromDouble", "binary_op1", "_PyEval_EvalFrameDefault", "train"}},
        {{"_PyObject_Malloc", "PyFloat_FromDouble", "_PyEval_EvalFrameDefault", "train"}},
        {{"float_mul", "binary_op1", "train"}},
        {{"gc_alloc", "_PyObject_GC_New", "PyList_New", "_PyEval_EvalFrameDefault", "train"}},
        {{"_PyObject_GC_Alloc", "_PyObject_GC_Malloc", "_PyObject_GC_New", "new_dict", "train"}},
        {{"gc_alloc", "_PyObject_GC_NewVar", "tuple_alloc", "PyTuple_New", "train"}},
        {{"new_keys_object", "insert_to_emptydict", "_PyEval_EvalFrameDefault", "train"}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
        assert_true(is_told(&stacks[i]));
}

static void objects_that_are_not(void **state)
{
    static const struct stack stacks[] = {
        {{"_PyObject_Calloc", "PyList_New", "train"}}, /* the table of a list */
        {{"list_resize", "app1", "list_append", "train"}},
        {{"new_keys_object", "dictresize", "insertdict", "train"}},
        {{"new_keys_object", "insertion_resize", "insertdict", "train"}},
        {{"gc_alloc", "_PyObject_GC_New", "PyFunction_NewWithQualName", "train"}},
        {{"_PyObject_Malloc", "PyUnicode_New", "PyUnicode_Concat", "train"}},
        {{"_PyType_AllocNoTrack", "PyType_GenericAlloc", "object_new", "train"}},
        {{"float_add", "compute", "main"}}, /* of a program without Python */
        {{"train"}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
        assert_false(is_told(&stacks[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_that_are_given_again),
        cmocka_unit_test(objects_that_are_not),
    };

    return cmocka_run_group_tests_name("given again", tests, NULL, NULL);
}
