"""Checkpoints of tensors on the device, into memory, each let go. The `_save` that torch_npu had until 2.13.0 left what it
saved in a cycle of references, until Python's collector came: WITHOUT_DEL=1 takes the line that mends it out again.
"""
import inspect
import io
import os
import re

import torch
import torch_npu
from torch_npu.utils import serialization

if os.environ.get("WITHOUT_DEL") == "1":
    source, count = re.subn(r"\n *del persistent_id\b", "", inspect.getsource(serialization._npu_save))
    assert count == 1
    exec(compile(source, serialization.__file__, "exec"), vars(serialization))
    torch.serialization._save = serialization._npu_save

TENSORS, TENSOR_BYTES = 4, 1 << 20


def state():
    return {str(number): torch.empty(TENSOR_BYTES, dtype=torch.uint8, device="npu") for number in range(TENSORS)}


torch_npu.npu.set_device(0)
for _ in range(60):
    torch.save(state(), io.BytesIO())
