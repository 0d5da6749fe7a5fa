/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command as msleaks or msmemscope.
 */
#include "compat_command.h"

#include "commands.h"
#include "compat_options.h"
#include "outlet.h"

static int say_version(const struct compat_generation *generation)
{
    outlet_print(stdout, "%s version %s-leaktide-%s\n", generation->program, generation->version,
                 LEAKTIDE_VERSION);
    return EXIT_FINE;
}

static int answer_request(const struct compat_request *request)
{
    if (request->wants_help) {
        compat_print_help(request->generation, stdout);
        return EXIT_FINE;
    }
    if (request->wants_version)
        return say_version(request->generation);
    if (request->attach_pid)
        return compat_control(request);
    return request->input_count ? compat_look(request) : compat_record(request);
}

int compat_command(const struct compat_generation *generation, int argc, char **argv)
{
    struct compat_request request;
    struct mt_error error;
    int status;

    if (compat_request_read(&request, generation, argc, argv, &error) != MT_OK) {
        outlet_print(stderr, "%s\n", error.message);
        return EXIT_USAGE;
    }
    outlet_print_lines(stderr, text_get(&request.notes));
    status = answer_request(&request);
    compat_request_release(&request);
    return status;
}
