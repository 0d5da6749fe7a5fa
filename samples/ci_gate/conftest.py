# SPDX-License-Identifier: Apache-2.0
"""PYTHONPATH=<prefix>/share/leaktide/python pytest"""

pytest_plugins = ["pytest_leaktide"]
