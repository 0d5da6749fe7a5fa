/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terminals and pagers.
 */
#include "screen.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COLUMNS_USUAL = 80, LINES_USUAL = 24, LINES_OF_SHELL = 3, NO_SUCH_COMMAND = 127 };

static enum { COLOURS_AUTO, COLOURS_ALWAYS, COLOURS_NEVER } chosen;

enum mt_result screen_choose_colours(const char *word, struct mt_error *error)
{
    static const char *const words[] = {"auto", "always", "never"};

    for (size_t i = 0; word && i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(word, words[i]) != 0)
            continue;
        chosen = i;
        return MT_OK;
    }
    if (!word)
        return MT_OK;
    return mt_error_set(error, MT_USAGE, "--color=%s: auto, always or never is needed", word);
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);

    return value && *value;
}

static bool is_zero(const char *variable)
{
    const char *value = getenv(variable);

    return value && strcmp(value, "0") == 0;
}

static bool is_dumb(void)
{
    const char *kind = getenv("TERM");

    return !kind || !*kind || strcmp(kind, "dumb") == 0;
}

bool screen_is_terminal(int descriptor)
{
    return isatty(descriptor);
}

/* Source: no-color.org; bixense.com/clicolors. */
static bool has_colours(bool is_terminal)
{
    if (chosen != COLOURS_AUTO)
        return chosen == COLOURS_ALWAYS;
    if (is_set("NO_COLOR"))
        return false;
    if (is_set("CLICOLOR_FORCE") && !is_zero("CLICOLOR_FORCE"))
        return true;
    return is_terminal && !is_dumb() && !is_zero("CLICOLOR");
}

/* Terminals that do not know OSC 8 may print it. Source: the list of its authors, egmontkob. */
static bool has_links(bool is_terminal)
{
    static const struct {
        const char *variable;
        const char *part; /* of its value; NULL: any */
    } signs[] = {
        {"VTE_VERSION", NULL},
        {"KITTY_WINDOW_ID", NULL},
        {"WT_SESSION", NULL},
        {"KONSOLE_VERSION", NULL},
        {"DOMTERM", NULL},
        {"TERM_PROGRAM", "iTerm"},
        {"TERM_PROGRAM", "WezTerm"},
        {"TERM_PROGRAM", "vscode"},
        {"TERM_PROGRAM", "ghostty"},
        {"TERM_PROGRAM", "Hyper"},
        {"TERM", "kitty"},
        {"TERM", "alacritty"},
        {"TERM", "foot"},
    };

    if (is_set("FORCE_HYPERLINK"))
        return !is_zero("FORCE_HYPERLINK");
    for (size_t i = 0; is_terminal && has_colours(true) && i < sizeof(signs) / sizeof(signs[0]);
         i++)
        if (is_set(signs[i].variable) &&
            (!signs[i].part || strstr(getenv(signs[i].variable), signs[i].part)))
            return true;
    return false;
}

static struct winsize size_of(int descriptor)
{
    struct winsize size = {.ws_col = 0};

    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || !size.ws_col)
        size.ws_col = COLUMNS_USUAL;
    if (!size.ws_row)
        size.ws_row = LINES_USUAL;
    return size;
}

struct terminal_look screen_look(int descriptor)
{
    bool is_terminal = screen_is_terminal(descriptor);

    return (struct terminal_look){
        .columns = is_terminal ? size_of(descriptor).ws_col : 0,
        .has_colours = has_colours(is_terminal),
        .has_links = has_links(is_terminal),
    };
}

void screen_write_options(const struct options *options, bool is_file, struct mt_write_options *how)
{
    struct terminal_look look = screen_look(STDOUT_FILENO);
    bool is_terminal = !is_file && screen_is_terminal(STDOUT_FILENO);

    if (is_file && chosen != COLOURS_ALWAYS)
        return;
    if (is_terminal)
        how->columns = look.columns;
    if (is_terminal && !options->values[OPTION_VERBOSE] && !options->values[OPTION_TOP])
        how->lines = (size_t)size_of(STDOUT_FILENO).ws_row - LINES_OF_SHELL;
    how->flags |= look.has_colours ? MT_WRITE_COLOURS : 0;
    how->flags |= !is_file && look.has_links ? MT_WRITE_LINKS : 0;
    how->flags |= options->values[OPTION_WIDE] ? MT_WRITE_WIDE : 0;
}

/* --- a page -------------------------------------------------------------------------------------
 */

bool screen_page_begin(struct screen_page *page)
{
    page->out = open_memstream(&page->text, &page->size_bytes);
    return page->out != NULL;
}

static bool is_longer_than_screen(const struct screen_page *page)
{
    size_t lines = 0;

    for (const char *at = page->text; (at = strchr(at, '\n')); at++)
        lines++;
    return lines + 1 > size_of(STDOUT_FILENO).ws_row;
}

static void write_all(int descriptor, const struct screen_page *page)
{
    const char *at = page->text, *end = at + page->size_bytes;

    while (at < end) {
        ssize_t written = write(descriptor, at, (size_t)(end - at));

        if (written <= 0)
            return; /* who reads has seen enough */
        at += written;
    }
}

/* As git does. NULL: none is wanted. */
static const char *pager_command(void)
{
    static const char *const variables[] = {"LEAKTIDE_PAGER", "PAGER"};
    const char *command = "less";

    for (size_t i = sizeof(variables) / sizeof(variables[0]); i--;)
        command = getenv(variables[i]) ? getenv(variables[i]) : command;
    return *command && strcmp(command, "cat") != 0 && !is_dumb() ? command : NULL;
}

/* False: there is no such pager. */
static bool show_in_pager(const char *command, const struct screen_page *page)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old_pipe, old_interrupt;
    FILE *pager;
    int status;

    setenv("LESS", "FRX", 0);
    setenv("LV", "-c", 0);
    fflush(stdout);
    sigaction(SIGPIPE, &ignore, &old_pipe);
    sigaction(SIGINT, &ignore, &old_interrupt); /* it is the pager's */
    pager = popen(command, "w");
    if (pager)
        write_all(fileno(pager), page);
    status = pager ? pclose(pager) : -1;
    sigaction(SIGPIPE, &old_pipe, NULL);
    sigaction(SIGINT, &old_interrupt, NULL);
    return status != -1 && !(WIFEXITED(status) && WEXITSTATUS(status) == NO_SUCH_COMMAND);
}

void screen_page_end(struct screen_page *page, bool is_whole, bool may_page)
{
    const char *pager = pager_command();

    if (fclose(page->out) != 0 || !is_whole) {
        free(page->text);
        return;
    }
    if (!may_page || !pager || !is_longer_than_screen(page) || !show_in_pager(pager, page))
        write_all(STDOUT_FILENO, page);
    free(page->text);
}
