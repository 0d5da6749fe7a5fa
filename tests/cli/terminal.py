"""Commands on a terminal of a chosen size."""

import fcntl
import os
import pty
import re
import struct
import termios

# What of our environment would change what is shown.
OURS = re.compile("NO_COLOR|CLICOLOR|FORCE_HYPERLINK|LEAKTIDE_|PAGER|LESS$|TERM|VTE_|KITTY_|WT_|KONSOLE_|DOMTERM")
SEQUENCE = re.compile(r"\x1b\][^\x1b]*\x1b\\|\x1b\[[0-9;]*[A-Za-z]")


def plain(shown):
    """Without colours and links."""
    return SEQUENCE.sub("", shown)


def run(command, folder, columns=80, lines=50, **variables):
    """What the terminal gets of the command, and its exit status."""
    env = {name: value for name, value in os.environ.items() if not OURS.match(name)}
    env.update(dict({"TERM": "xterm-256color", "LEAKTIDE_PAGER": "cat"}, **variables))
    child, terminal = pty.fork()
    if child == 0:
        try:
            os.read(0, 1)  # until the terminal has its size
            os.chdir(folder)
            os.execve(command[0], command, env)
        finally:
            os._exit(99)
    settings = termios.tcgetattr(terminal)
    settings[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(terminal, termios.TCSANOW, settings)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    os.write(terminal, b"x")
    shown = b""
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(terminal)
    return shown.decode("utf-8").replace("\r\n", "\n"), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
