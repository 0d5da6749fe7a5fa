# SPDX-License-Identifier: Apache-2.0
"""What only Python knows of PyTorch: run inside a recorded program by the recorder, when PyTorch is ready.

Weights, gradients and the optimizer's state are known by identity: after each step of any optimizer their blocks get
owners. If accesses are recorded, a mode of the dispatcher tells which operator reads and writes which tensor; it tells of
the operators as well then, under the names that Python has for them.

WANTS_ACCESSES is set by the recorder before this runs; `state` is what it reads afterwards: 0 PyTorch is still being
imported, 1 owners, 2 accesses too. Nothing here may disturb the program: an error ends the telling, not the program.
"""

import atexit
import ctypes
import sys

_TEXT = ctypes.CFUNCTYPE(None, ctypes.c_char_p)


class _Functions(ctypes.Structure):
    """struct mt_tracer_functions; only those used here have their types."""

    _fields_ = [("size_bytes", ctypes.c_size_t), ("others", ctypes.c_void_p * 10),
                ("tag_block", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)),
                ("note", ctypes.c_void_p), ("operator_begin", _TEXT), ("operator_end", _TEXT),
                ("tensor_access", ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int,
                                                   ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p))]


def _tracer():
    getter = ctypes.CDLL(None).mt_tracer_functions
    getter.restype = ctypes.POINTER(_Functions)
    return getter().contents


# --- owners ---------------------------------------------------------------------------------------

class _Owners:
    """A post-step hook of all optimizers."""

    def __init__(self, torch, tracer):
        self._is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
        self._tensor = torch.Tensor
        self._tag_block = tracer.tag_block
        self._known = {}  # address of a weight or of state: its owner; those of gradients change with each step

    def _tag(self, tensor, owner):
        tensor = getattr(tensor, "_local_tensor", tensor)  # of a DTensor
        if isinstance(tensor, self._tensor) and not tensor.is_sparse:
            self._tag_block(tensor.data_ptr(), owner)

    def _tag_once(self, tensor, owner):
        tensor = getattr(tensor, "_local_tensor", tensor)
        if not isinstance(tensor, self._tensor) or tensor.is_sparse:
            return
        address = tensor.data_ptr()
        if self._known.get(address) != owner:
            self._known[address] = owner
            self._tag_block(address, owner)

    def _look(self, optimizer):
        state = optimizer.state
        for group in optimizer.param_groups:
            for weight in group["params"]:
                self._tag_once(weight, b"model@weight")
                if weight.grad is not None:
                    self._tag(weight.grad, b"model@gradient")
                if weight in state:
                    for value in state[weight].values():
                        self._tag_once(value, b"model@optimizer_state")

    def __call__(self, optimizer, arguments, named):
        if not self._is_compiling():
            try:
                self._look(optimizer)
            except Exception:  # of the program's own tensors: theirs to notice
                pass


# --- accesses -------------------------------------------------------------------------------------

_READ, _WRITE, _OUTPUT = 1, 2, 4
_POOLS = {"npu": b"pta", "cpu": b"torch_cpu"}


class _Uses:
    """How an operator uses its arguments and results, from its schema."""

    def __init__(self, function):
        schema = function._schema
        name = schema.name.split("::")[-1]
        self.name = ("%s.%s" % (function.__module__, function.__name__)).encode()
        is_factory = name.startswith("new_") or name.endswith("_like")
        self.arguments = [(argument.name, self._of_argument(argument, is_factory)) for argument in schema.arguments]
        self.results = [self._of_result(result, is_factory, name) for result in schema.returns]

    @staticmethod
    def _of_argument(argument, is_factory):
        alias = argument.alias_info
        if alias is not None and alias.is_write:
            return _WRITE
        return 0 if is_factory or alias is not None else _READ  # a view looks at nothing

    @staticmethod
    def _of_result(result, is_factory, name):
        if is_factory:
            return 0 if "empty_like" in name else _WRITE | _OUTPUT
        alias = result.alias_info
        return _WRITE | _OUTPUT if alias is None or alias.is_write else 0


def _accesses(torch, tracer):
    """The mode, entered. Only in this thread, and those of autograd."""
    from torch.utils._python_dispatch import TorchDispatchMode

    begin, end, access = tracer.operator_begin, tracer.operator_end, tracer.tensor_access
    uses_of = {}
    size = torch.Size

    def tell(uses, value, flags):
        if isinstance(value, (list, tuple)) and type(value) is not size:
            for one in value:
                tell(uses, one, flags)
        elif isinstance(value, torch.Tensor) and type(value).__name__ not in ("FakeTensor", "FunctionalTensor"):
            access(_POOLS.get(value.device.type, b"torch"), value.data_ptr(), value.numel() * value.element_size(), flags,
                   uses.name, str(value.dtype).encode(), str(value.shape).encode())

    def quietly(what):
        def inside(*arguments):
            try:
                what(*arguments)
            except Exception:  # a tensor of a kind that is not known: the operator goes on
                pass

        return inside

    @quietly
    def tell_arguments(uses, arguments, named):
        for index, (name, flags) in enumerate(uses.arguments):
            if flags:
                tell(uses, arguments[index] if index < len(arguments) else named.get(name), flags)

    @quietly
    def tell_results(uses, results):
        if len(uses.results) == 1:
            results = (results,)
        for value, flags in zip(results or (), uses.results):
            if flags:
                tell(uses, value, flags)

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), named=None):
            named = named or {}
            uses = uses_of.get(function)
            if uses is None:
                uses = uses_of[function] = _Uses(function)
            begin(uses.name)
            try:
                tell_arguments(uses, arguments, named)
                results = function(*arguments, **named)
                tell_results(uses, results)
            finally:
                end(uses.name)
            return results

    mode = Mode()
    mode.__enter__()
    atexit.register(mode.__exit__, None, None, None)


# --- when it is ready -----------------------------------------------------------------------------

def _is_ready():
    torch = sys.modules.get("torch")
    return torch is not None and not getattr(torch.__spec__, "_initializing", False)


def _begin(state):
    import torch

    tracer = _tracer()
    if state < 1:
        from torch.optim.optimizer import register_optimizer_step_post_hook

        register_optimizer_step_post_hook(_Owners(torch, tracer))
    if WANTS_ACCESSES:  # noqa: F821
        _accesses(torch, tracer)
        return 2
    return 1


state = globals().get("state", 0)
if _is_ready():
    state = _begin(state)
