# SPDX-License-Identifier: Apache-2.0
"""A profile that is made up, with names that a stranger could choose to do harm."""

import os

START_US = 1783000000000000
EVIL = ['<img src=x onerror=document.title=1>', '</script><script>document.title=2</script>',
        '=1+1', '"quoted", and a comma', '<!--', "';alert(1)//"]
WORDS = ["aten::mm", "aten::add", "npu::npu_swiglu", *EVIL]


def stream_of(i):
    """The stream of block i, by birth."""
    return "7" if i % 3 == 1 else "2"


def write_profile(folder):
    """An operator_memory.csv of 900 blocks whose lives follow from their number."""
    rows = ["Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),"
            "Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),"
            "Allocation Total Active(MB),Release Total Allocated(MB),Release Total Reserved(MB),"
            "Release Total Active(MB),Stream Ptr,Device Type"]
    for i in range(900):
        name = WORDS[i * 7 % len(WORDS)].replace('"', '""')
        born = START_US + i * 50
        life = 40 + i * 131 % 4000
        is_released = i % 97 != 0
        freed = "%d.000,%d.000,%d,%d" % (born + life, born + life, life, life) if is_released else ",,,"
        totals = "1,64,1" if is_released else ",,"
        rows.append('"%s",%d.0,%d.000,%s,1,64,1,%s,%s,NPU:0'
                    % (name, 4 + i * 37 % 600, born, freed, totals, stream_of(i)))
    path = os.path.join(folder, "operator_memory.csv")
    with open(path, "w") as file:
        file.write("\n".join(rows) + "\n")
    return path
