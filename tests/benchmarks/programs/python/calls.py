# SPDX-License-Identifier: Apache-2.0
"""calls.py N: calls of functions, and no objects."""
import sys


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


print(fib(int(sys.argv[1])))
