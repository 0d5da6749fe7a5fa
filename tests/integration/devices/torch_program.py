"""A program of a PyTorch that is made of paper: torch_program.py FOLDER-OF-FAKES [without-optimizers]

Its library has observers of operators; its package has optimizers, or another version's.
"""
import ctypes
import importlib.machinery
import os
import sys
import types

fakes = sys.argv[1]


def module(name, **contents):
    made = sys.modules[name] = types.ModuleType(name)
    made.__spec__ = importlib.machinery.ModuleSpec(name, None)
    made.__dict__.update(contents)
    return made


class Tensor:
    is_sparse = False
    grad = None

    def __init__(self, address):
        self.data_ptr = lambda: address


class Optimizer:
    def __init__(self, *weights):
        self.param_groups = [{"params": weights}]
        self.state = {weights[0]: {"step": 7, "momentum": Tensor(4096)}}


hooks = []
torch = module("torch", Tensor=Tensor, Size=tuple)
torch.__spec__._initializing = True
module("torch.optim")
optimizer_module = module("torch.optim.optimizer")
if "without-optimizers" not in sys.argv:
    optimizer_module.register_optimizer_step_post_hook = hooks.append

ctypes.CDLL(os.path.join(fakes, "libc10.so"))
library = ctypes.CDLL(os.path.join(fakes, "libtorch_cpu.so"))


def operators(count):
    for _ in range(count):
        library.fake_torch_run(0, b"aten::add", b"Tensor", None)


operators(3)
assert not hooks  # the import is not over
torch.__spec__._initializing = False
operators(100)
weight = Tensor(1024)
weight.grad = Tensor(2048)
optimizer = Optimizer(weight, Tensor(8192))
for hook in hooks:
    hook(optimizer, (), {})
    hook(optimizer, (), {})
    optimizer.param_groups = None  # of another shape than expected: the program goes on
    hook(optimizer, (), {})
operators(1)
print(len(hooks))
