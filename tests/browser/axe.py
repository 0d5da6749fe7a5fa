# SPDX-License-Identifier: Apache-2.0
"""What axe-core finds of a page: violations(page) -> rows of rule, number of nodes, first node. MT_AXE names its axe.min.js
(npm's axe-core)."""

import os

IS_HERE = bool(os.environ.get("MT_AXE"))
ASK = "axe.run().then(found => found.violations.map(each => [each.id, each.nodes.length, each.nodes[0].html.slice(0, 200)]))"


def violations(page):
    with open(os.environ["MT_AXE"], encoding="utf-8") as file:
        page.evaluate(file.read() + "; true")
    return page.evaluate(ASK)
