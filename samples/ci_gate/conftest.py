# SPDX-License-Identifier: Apache-2.0
"""PYTHONPATH=<prefix>/share/memtide/python pytest"""

pytest_plugins = ["pytest_memtide"]
