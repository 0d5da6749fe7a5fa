/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide doctor: what this machine has, what would be recorded on it, and what is missing.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <gnu/libc-version.h>

#include "commands.h"
#include "folder_remove.h"
#include "machine.h"
#include "outlet.h"
#include "probe.h"
#include "text_builder.h"

enum { PYTHON_SECONDS = 20, RECORDING_SECONDS = 20, TEXT_BYTES = 4096 };

static const struct option_spec options[] = {
    {0, 0, NULL, NULL, NULL},
};

static void say_machine(struct outlet *out)
{
    struct utsname system;
    struct sysinfo memory;

    uname(&system);
    sysinfo(&memory);
    outlet_sentence(out, "leaktide %s; ", mt_version());
    outlet_sentence(out, "%s %s on %s, glibc %s, %ld processors, ", system.sysname, system.release,
                    system.machine, gnu_get_libc_version(), sysconf(_SC_NPROCESSORS_ONLN));
    outlet_amount(out, text_add_size, (uint64_t)memory.totalram * memory.mem_unit);
    outlet_sentence(out, " of memory\n");
}

static void say_accelerators(struct outlet *out)
{
    size_t count;
    const struct machine_device *devices = machine_devices(&count);

    outlet_sentence(out, "\nAccelerators\n");
    for (size_t i = 0; i < count; i++) {
        size_t found = machine_device_count(&devices[i]);

        if (found)
            outlet_sentence(out, "  %zu of %s (%s): recorded by --device=%s\n", found,
                            devices[i].name, devices[i].nodes, devices[i].word);
    }
    if (!machine_has_accelerator())
        outlet_sentence(out, "  none; the host heap is recorded unless --device says otherwise\n");
}

/* What programs load; a name with a version is that of the runtime, one without is for building. */
static const char *const libraries[] = {
    "libascend_hal.so", "libascendcl.so",    "libcuda.so.1",   "libcudart.so.13",
    "libcudart.so.12",  "libcudart.so.11.0", "libOpenCL.so.1",
};

static void say_libraries(struct outlet *out)
{
    char path[PATH_MAX];
    bool is_any = false;

    outlet_sentence(out, "\nDevice libraries that the loader finds\n");
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
        if (probe_library(libraries[i], path, sizeof(path))) {
            outlet_sentence(out, "  %s: %s\n", libraries[i], path);
            is_any = true;
        }
    if (!is_any)
        outlet_sentence(out, "  none; a program may bring its own, as wheels of PyTorch do\n");
}

/* python_packages.py */
extern const char python_packages[];

static void say_python(struct outlet *out)
{
    const char *const arguments[] = {"python3", "-c", python_packages, NULL};
    char text[TEXT_BYTES], *line = text;
    unsigned major = 0, minor = 0;
    int read;

    outlet_sentence(out, "\nPython\n");
    if (probe_program(arguments, PYTHON_SECONDS, text, sizeof(text)) != 0 || !*text) {
        outlet_sentence(out, "  no python3 in PATH\n");
        return;
    }
    read = sscanf(text, "cpython %u.%u", &major, &minor);
    while (line && *line)
        outlet_sentence(out, "  %s\n", strsep(&line, "\n"));
    if (read != 2)
        outlet_sentence(out, "  lines of Python are recorded for CPython only\n");
    else if (major != 3 || minor < 8)
        outlet_sentence(out, "  lines of Python are recorded from CPython 3.8 on\n");
}

/* A short program under the recorder, as any other would be. */
static int say_trial(struct outlet *out)
{
    const char *below = getenv("TMPDIR");
    char folder[PATH_MAX / 2], self[PATH_MAX], path[PATH_MAX], said[TEXT_BYTES];
    const char *const record[] = {self, "run", "-q", "--device=cpu", "-o", path, "--",
                                  "ls", "/",   NULL};
    const char *const look[] = {self, "info", path, NULL};
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    bool is_recorded;

    below = below && *below ? below : "/tmp";
    snprintf(folder, sizeof(folder), "%s/leaktide-doctor-XXXXXX", below);
    outlet_sentence(out, "\nA trial\n");
    if (length <= 0 || !mkdtemp(folder)) {
        outlet_sentence(out, "  not made: no /proc, or no room in %s\n", below);
        return EXIT_INPUT;
    }
    self[length] = 0;
    snprintf(path, sizeof(path), "%s/trial.leaktide", folder);
    is_recorded = probe_program(record, RECORDING_SECONDS, said, sizeof(said)) == 0 &&
                  probe_program(look, RECORDING_SECONDS, said, sizeof(said)) == 0;
    if (is_recorded)
        outlet_sentence(out, "  ls was recorded, and the recording is complete\n");
    else
        outlet_sentence(out, "  ls was not recorded; leaktide run -o FOLDER --device=cpu -- ls / "
                             "says why\n");
    folder_remove(folder);
    return is_recorded ? EXIT_FINE : EXIT_INPUT;
}

static int doctor(const struct command *command, const struct options *given)
{
    struct outlet *out;
    int status;

    if (given->operand_count)
        return complain(EXIT_USAGE, "%s takes no operands", command->name);
    out = outlet_create(FOR_TERMINAL, stdout);
    say_machine(out);
    say_accelerators(out);
    say_libraries(out);
    say_python(out);
    status = say_trial(out);
    if (!outlet_destroy(out))
        return complain(EXIT_INPUT, "standard output: it cannot be written");
    return status;
}

const struct command command_doctor = {
    .name = "doctor",
    .operands = "",
    .meaning = "what this machine has, and what would be recorded on it",
    .options = options,
    .run = doctor,
    .remark = "The exit status is 0 when a trial was recorded, else 3.",
};
