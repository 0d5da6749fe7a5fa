/* SPDX-License-Identifier: Apache-2.0 */
/* Implements fake_python.h. */
#include "fake_python.h"

#include <stddef.h>

struct fake_python fake_python;

static int (*waiting)(void *argument);
static int object;

int Py_AddPendingCall(int (*call)(void *), void *argument);
void *PyImport_AddModule(const char *name);
void *PyModule_GetDict(void *module);
void *PyRun_StringFlags(const char *code, int start, void *globals, void *locals, void *flags);
void *PyDict_GetItemString(void *names, const char *name);
long PyLong_AsLong(void *number);
void PyErr_Clear(void);
void Py_DecRef(void *reference);

int Py_AddPendingCall(int (*call)(void *), void *argument)
{
    (void)argument;
    fake_python.ask_count++;
    if (fake_python.is_full)
        return -1;
    waiting = call;
    return 0;
}

bool fake_python_run(void)
{
    int (*call)(void *) = waiting;

    waiting = NULL;
    return call && call(NULL) == 0;
}

void *PyImport_AddModule(const char *name)
{
    return name ? &object : NULL;
}

void *PyModule_GetDict(void *module)
{
    return module;
}

void *PyRun_StringFlags(const char *code, int start, void *globals, void *locals, void *flags)
{
    (void)code, (void)start, (void)globals, (void)locals, (void)flags;
    if (fake_python.state < 0) {
        fake_python.error_count++;
        return NULL;
    }
    fake_python.object_count++;
    return &object;
}

void *PyDict_GetItemString(void *names, const char *name)
{
    return name ? names : NULL;
}

long PyLong_AsLong(void *number)
{
    (void)number;
    return fake_python.state;
}

void PyErr_Clear(void)
{
    fake_python.error_count = 0;
}

void Py_DecRef(void *reference)
{
    (void)reference;
    fake_python.object_count--;
}
