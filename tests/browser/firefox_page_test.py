# SPDX-License-Identifier: Apache-2.0
"""The HTML report in Firefox, from a file: the same numbers, drawn.

Run as firefox_page_test.py LEAKTIDE FIXTURE. Ends with 77, skipped, where there is no Firefox.
"""

import os
import subprocess
import sys
import tempfile

from firefox import Firefox, find_firefox

LEAKTIDE, FIXTURE = sys.argv[1:3]


def check(is_so, what):
    if not is_so:
        sys.exit("not so: " + what)


def main():
    with tempfile.TemporaryDirectory() as folder, Firefox() as firefox:
        page = os.path.join(folder, "report.html")
        # 3: the fixture says itself that rows are missing
        status = subprocess.run([LEAKTIDE, "report", "-f", "html", "-o", page, FIXTURE], timeout=60).returncode
        check(status in (0, 3), "leaktide writes the page")
        firefox.open(page, "#by=operator")
        check(firefox.evaluate("location.protocol") == "file:", "a page from a file")
        check(firefox.evaluate("document.querySelectorAll('.u-wrap canvas').length") == 1, "a picture is drawn")
        check("aten::mm" in firefox.evaluate("document.querySelector('#selection-table').textContent"),
              "the selection names its operator")
        check(firefox.evaluate("document.querySelectorAll('.error').length") == 0, "no error is said")


if not find_firefox():
    print("skipped: no Firefox here")
    sys.exit(77)
main()
