# SPDX-License-Identifier: Apache-2.0
"""What only Python knows of PyTorch: run inside a recorded program by the recorder, when PyTorch is ready.

Weights, gradients and the optimizer's state are known by identity: after each step of any optimizer their blocks get
owners. So do weights and buffers of models that no optimizer trains, whenever the recorder asks to look for them. If layers are wanted, hooks of all modules tell which one runs, and all of
these say which module they are of. If accesses are recorded, a mode of the dispatcher tells which operator reads and writes which tensor; it tells of
the operators as well then, under the names that Python has for them.

WANTS_ACCESSES, WANTS_WEIGHTS and WANTS_LAYERS are set by the recorder before this runs; `state` is what it reads afterwards: 0 PyTorch is still being
imported, 1 owners, 2 accesses too. Nothing here may disturb the program: an error ends the telling, not the program.
"""

import atexit
import ctypes
import sys
import threading
import weakref

_TEXT = ctypes.CFUNCTYPE(None, ctypes.c_char_p)


class _Functions(ctypes.Structure):
    """struct mt_tracer_functions; only those used here have their types."""

    _fields_ = [("size_bytes", ctypes.c_size_t), ("others", ctypes.c_void_p * 10),
                ("tag_block", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)),
                ("note", ctypes.PYFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64)),
                ("operator_begin", _TEXT), ("operator_end", _TEXT),
                ("tensor_access", ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int,
                                                   ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p))]


def _tracer():
    getter = ctypes.CDLL(None).mt_tracer_functions
    getter.restype = ctypes.POINTER(_Functions)
    return getter().contents


# --- layers ---------------------------------------------------------------------------------------

class _Open(threading.local):
    """Of this thread, innermost last: modules that run, with their paths."""

    def __init__(self):
        self.stack = []


# What a module that only wraps another calls it: DistributedDataParallel and DataParallel, FullyShardedDataParallel,
# checkpoint_wrapper, torch.compile, Lightning's strategies.
_WRAPPED = "module", "_fsdp_wrapped_module", "_checkpoint_wrapped_module", "_orig_mod", "_forward_module"


def _wrapped(module):
    """What this module is there for, where it only wraps; else None."""
    parts = module._modules
    return next((part for name, part in parts.items() if name in _WRAPPED), None) if len(parts) == 1 else None


class _Layers:
    """Hooks of all modules: the path of the one that runs, "Gpt.blocks.17.mlp", as named_modules() has it below the
    class of the outermost module that was called. Wrappers have the path of what they wrap: a model keeps its
    layers' names on one device and on many."""

    def __init__(self, torch, note):
        from torch.nn.modules import module as modules

        self._is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
        self._note = note
        self._open = _Open()
        self._known = {}  # by id of a module, or of a parameter or buffer of one: a weak reference and the path
        modules.register_module_forward_pre_hook(self._on_enter)
        modules.register_module_forward_hook(self._on_leave, always_call=True)

    def of(self, thing):
        """Of a weight, or a module: the path, or None before its model ran."""
        reference, path = self._known.get(id(thing), (None, None))
        return path if reference is not None and reference() is thing else None

    def _name(self, thing, path):
        self._known[id(thing)] = weakref.ref(thing), path.encode()

    def _name_all(self, root, path):
        """Weights that several modules share are of the first."""
        named, modules = {id(None)}, {}
        for name, module in root.named_modules():
            outer, _, own = name.rpartition(".")
            whole = path
            if module is not root:
                parent, whole = modules[outer]
                whole = whole if _wrapped(parent) is module else "%s.%s" % (whole, own)
            modules[name] = module, whole
            self._name(module, whole)
            for tensor in [*module._parameters.values(), *module._buffers.values()]:
                if id(tensor) not in named:
                    named.add(id(tensor))
                    self._name(tensor, whole)

    def _path_of(self, module, outer):
        path = self.of(module)
        if path is None:
            inner = module
            for _ in _WRAPPED:  # as deep as wrappers are nested
                inner = inner if _wrapped(inner) is None else _wrapped(inner)
            name = type(inner).__name__
            self._name_all(module, "%s.%s" % (outer.decode(), name) if outer else name)
            path = self.of(module)
        return path

    def _on_enter(self, module, arguments):
        """What a hook returns would take the place of the arguments."""
        if self._is_compiling():
            return
        try:
            stack = self._open.stack
            path = self._path_of(module, stack[-1][1] if stack else None)
            stack.append((module, path))
            self._note(b"nn module begin", path, 0, 0)
        except Exception:  # of a kind that cannot be referred to
            pass

    def _on_leave(self, module, arguments, result):
        """It is the innermost, or was not entered."""
        if self._is_compiling():
            return
        stack = self._open.stack
        if stack and stack[-1][0] is module:
            self._note(b"nn module end", stack.pop()[1], 0, 0)


# --- owners ---------------------------------------------------------------------------------------

class _Owners:
    """A post-step hook of all optimizers."""

    def __init__(self, torch, tracer, layers):
        self._is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
        self._tensor = torch.Tensor
        self._tag_block = tracer.tag_block
        self._note = tracer.note
        self._layers = layers  # or None
        self._known = {}  # address of a weight or of state: its owner; those of gradients change with each step

    def layer_of(self, weight):
        return self._layers.of(weight) if self._layers else None

    def _tell(self, address, owner, layer):
        self._tag_block(address, owner)
        if layer:
            self._note(b"block nn module", layer, address, 0)

    def tag(self, tensor, owner, layer=None):
        tensor = getattr(tensor, "_local_tensor", tensor)  # of a DTensor
        if isinstance(tensor, self._tensor) and not tensor.is_sparse:
            self._tell(tensor.data_ptr(), owner, layer)

    def _tag_once(self, tensor, owner, layer):
        tensor = getattr(tensor, "_local_tensor", tensor)
        if not isinstance(tensor, self._tensor) or tensor.is_sparse:
            return
        address = tensor.data_ptr()
        if self._known.get(address) != (owner, layer):
            self._known[address] = owner, layer
            self._tell(address, owner, layer)

    def _look(self, optimizer):
        state = optimizer.state
        for group in optimizer.param_groups:
            for weight in group["params"]:
                layer = self.layer_of(weight)
                self._tag_once(weight, b"model@weight", layer)
                if weight.grad is not None:
                    self.tag(weight.grad, b"model@gradient", layer)
                if weight in state:
                    for value in state[weight].values():
                        self._tag_once(value, b"model@optimizer_state", layer)

    def __call__(self, optimizer, arguments, named):
        if not self._is_compiling():
            try:
                self._look(optimizer)
            except Exception:  # of the program's own tensors: theirs to notice
                pass


class _Models:
    """Modules, as they get parameters, buffers and parts; what they hold gets its owner when it is looked for, as it moves."""

    def __init__(self, torch, owners):
        from torch.nn.modules import module as modules

        self._owners = owners
        self._modules = {}  # by id: a weak reference
        self._told = {}  # id of a tensor: where it was, and of which layer
        for what in ("parameter", "buffer", "module"):  # since PyTorch 2.0
            getattr(modules, "register_module_%s_registration_hook" % what, lambda hook: None)(self._on_registration)
        atexit.register(self.look)

    def _on_registration(self, module, name, value):
        """What it returned would take the place of the value."""
        try:
            self._take(module)
        except Exception:  # of a kind that cannot be referred to
            pass

    def _take(self, module):
        """True for a new one."""
        key = id(module)
        is_new = key not in self._modules
        if is_new:
            self._modules[key] = weakref.ref(module, lambda gone: self._modules.pop(key, None))
        return is_new

    def _tell(self, tensor, owner):
        try:
            place = tensor.data_ptr(), self._owners.layer_of(tensor)
            if place[0] and self._told.get(id(tensor)) != place:
                self._told[id(tensor)] = place
                self._owners.tag(tensor, owner, place[1])
        except Exception:  # of a kind without memory, or gone
            pass

    def _tell_of(self, module):
        """The parts of it that were not met before: copies and what is unpickled are registered nowhere."""
        held = module.__dict__
        buffers = b"model@kv_cache" if "KVCache" in type(module).__name__ else b"model@buffer"
        for name, owner in (("_parameters", b"model@weight"), ("_buffers", buffers)):
            for tensor in list(held.get(name, {}).values()):
                if tensor is not None:
                    self._tell(tensor, owner)
        return [part for part in list(held.get("_modules", {}).values()) if part is not None and self._take(part)]

    def look(self):
        waiting = [reference() for reference in list(self._modules.values())]
        for module in waiting:  # it grows
            if module is not None:
                waiting += self._tell_of(module)


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


def _layers(torch, tracer):
    try:
        return _Layers(torch, tracer.note) if WANTS_LAYERS else None  # noqa: F821
    except (ImportError, AttributeError, TypeError):  # of a version that has no such hooks
        tracer.note(b"no layers", b"PyTorch", 0, 0)


def _begin(state):
    import torch

    tracer = _tracer()
    if state < 1:
        from torch.optim.optimizer import register_optimizer_step_post_hook

        owners = _Owners(torch, tracer, _layers(torch, tracer))
        register_optimizer_step_post_hook(owners)
        if WANTS_WEIGHTS:  # noqa: F821
            global look
            try:
                look = _Models(torch, owners).look
            except ImportError:  # of a version that has its modules elsewhere
                pass
    if WANTS_ACCESSES:  # noqa: F821
        _accesses(torch, tracer)
        return 2
    return 1


look = globals().get("look", lambda: None)  # there are no weights to look for
state = globals().get("state", 0)
if _is_ready():
    state = _begin(state)
