# SPDX-License-Identifier: Apache-2.0
"""A report in JSON as tests read it: `tables` is a dict, by name, or (name, ledger) where of one."""
import json


def load(text):
    report = json.loads(text)
    report["tables"] = {(table["name"], table["ledger"]) if table["ledger"] else table["name"]:
                        table["rows"] for table in report["tables"]}
    return report
