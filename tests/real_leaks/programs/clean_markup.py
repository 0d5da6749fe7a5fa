"""Documents are read, searched and written."""
from lxml import etree

from loop import turns

for turn in turns(60):
    root = etree.fromstring("<list>%s</list>" % "".join("<item n='%d'>%d</item>" % (n, turn) for n in range(30)))
    for item in root.xpath("//item[@n > 10]"):
        item.text = item.get("n")
    etree.tostring(root)
