"""What the recorder runs inside a program with PyTorch, above a stand-in for PyTorch: weights of models get
owners, and say which module they are of.

Run as torch_models_test.py FOLDER-OF-LEAKTIDE_TORCH.
"""

import gc
import os
import sys
import types
import unittest

with open(os.path.join(sys.argv[1], "leaktide_torch.py")) as source:
    CODE = compile(source.read(), "leaktide_torch.py", "exec")


class Tensor:
    is_sparse = False

    def __init__(self, address):
        self.address = address

    def data_ptr(self):
        if self.address is None:
            raise RuntimeError("no storage")
        return self.address


class Module:
    def __init__(self, **parts):
        self._parameters, self._buffers, self._modules = {}, {}, {}
        for name, value in parts.items():
            self.register("module" if isinstance(value, Module) else "parameter", name, value)

    def register(self, what, name, value):
        for hook in HOOKS[what]:
            changed = hook(self, name, value)
            value = value if changed is None else changed
        getattr(self, "_%ss" % what)[name] = value


class KVCache(Module):
    pass


HOOKS = {"parameter": [], "buffer": [], "module": []}
CALL_HOOKS = {"pre": [], "post": []}


class Layer(Module):
    """One that can be called, as PyTorch does it."""

    def __init__(self, work=lambda: None, **parts):
        super().__init__(**parts)
        self.work = work

    def named_modules(self, prefix=""):
        yield prefix, self
        for name, part in self._modules.items():
            yield from part.named_modules(prefix + "." * bool(prefix) + name)

    def __call__(self):
        for hook in CALL_HOOKS["pre"]:
            assert hook(self, ()) is None
        try:
            return self.work()
        finally:
            for hook in CALL_HOOKS["post"]:
                assert hook(self, (), None) is None


class Net(Layer):
    pass


def stand_in():
    """Modules of that name, and what the code imports of them."""
    names = {name: types.ModuleType(name) for name in ("torch", "torch.nn", "torch.nn.modules", "torch.nn.modules.module",
                                                       "torch.optim", "torch.optim.optimizer")}
    for name, module in names.items():
        module.__spec__ = types.SimpleNamespace(_initializing=False)
        if "." in name:
            setattr(names[name.rsplit(".", 1)[0]], name.rsplit(".", 1)[1], module)
    names["torch"].Tensor = Tensor
    names["torch.optim.optimizer"].register_optimizer_step_post_hook = lambda hook: None
    names["torch.nn.modules.module"].register_module_forward_pre_hook = CALL_HOOKS["pre"].append
    names["torch.nn.modules.module"].register_module_forward_hook = (
        lambda hook, always_call: CALL_HOOKS["post"].append(hook))
    for what, hooks in HOOKS.items():
        setattr(names["torch.nn.modules.module"], "register_module_%s_registration_hook" % what, hooks.append)
    return names


class Models(unittest.TestCase):
    def begin(self, wants_weights=True, wants_layers=False):
        for hooks in [*HOOKS.values(), *CALL_HOOKS.values()]:
            hooks.clear()
        self.told, self.noted, names = [], [], stand_in()
        place = {"WANTS_ACCESSES": False, "WANTS_WEIGHTS": wants_weights, "WANTS_LAYERS": wants_layers}
        exec(CODE, place)  # nothing begins: there is no PyTorch
        self.assertEqual(place["state"], 0)
        sys.modules.update(names)
        self.addCleanup(lambda: [sys.modules.pop(name) for name in names])
        place["_tracer"] = lambda: types.SimpleNamespace(
            tag_block=lambda address, owner: self.told.append((address, owner)),
            note=lambda subject, text, first, second: self.noted.append((subject.decode(), text.decode(), first)))
        self.assertEqual(place["_begin"](0), 1)
        return place

    def look(self, place):
        self.told.clear()
        place["look"]()
        return sorted(self.told)

    def test_weights_and_buffers_have_owners_when_they_are_looked_for(self):
        place = self.begin()
        weight, part = Tensor(16), Module(bias=Tensor(32))
        model = Module(weight=weight, part=part)
        model.register("buffer", "mean", Tensor(48))
        self.assertIs(model._parameters["weight"], weight)  # a hook may change what is registered
        self.assertEqual(self.look(place), [(16, b"model@weight"), (32, b"model@weight"), (48, b"model@buffer")])
        self.assertEqual(self.look(place), [])

    def test_what_moved_is_told_again(self):
        place = self.begin()
        model = Module(weight=Tensor(16))
        self.look(place)
        model._parameters["weight"].address = 64
        self.assertEqual(self.look(place), [(64, b"model@weight")])

    def test_copies_that_are_part_of_a_model_are_found(self):
        place = self.begin()
        copy = Module()
        copy._parameters["weight"] = Tensor(80)  # as deepcopy and pickle do it
        model = Module(part=Module())
        model._modules["part"] = copy
        self.assertEqual(self.look(place), [(80, b"model@weight")])

    def test_a_cache_that_is_a_module_is_none_of_the_weights(self):
        place = self.begin()
        cache = KVCache()
        cache.register("buffer", "k", Tensor(96))
        self.assertEqual(self.look(place), [(96, b"model@kv_cache")])

    def test_tensors_without_memory_and_models_that_are_gone_are_passed_over(self):
        place = self.begin()
        model, gone = Module(fake=Tensor(None), meta=Tensor(0), weight=Tensor(16)), Module(weight=Tensor(32))
        model.register("parameter", "none", None)
        del gone
        gc.collect()
        self.assertEqual(self.look(place), [(16, b"model@weight")])

    def test_where_weights_are_not_wanted_nothing_is_looked_for(self):
        place = self.begin(wants_weights=False)
        Module(weight=Tensor(16))
        self.assertEqual(HOOKS["parameter"], [])
        self.assertEqual(self.look(place), [])

    def test_layers_are_not_looked_for_unasked(self):
        self.begin()
        self.assertEqual(CALL_HOOKS, {"pre": [], "post": []})

    def test_the_module_that_runs_is_known_by_its_path(self):
        self.begin(wants_layers=True)
        part = Layer()
        net = Net(part=Layer(inner=part))
        net.work = net._modules["part"].work = lambda: part() if self.noted.append("work") is None else None
        net()
        self.assertEqual(self.noted, [("nn module begin", "Net", 0), "work", ("nn module begin", "Net.part.inner", 0),
                                      ("nn module end", "Net.part.inner", 0), ("nn module end", "Net", 0)])

    def test_one_that_is_no_part_has_those_around_it_before_it(self):
        self.begin(wants_layers=True)
        Net(work=lambda: Layer()())()
        self.assertEqual([path for what, path, _ in self.noted], ["Net", "Net.Layer", "Net.Layer", "Net"])

    def test_wrappers_have_the_path_of_what_they_wrap(self):
        self.begin(wants_layers=True)
        block = Layer(mlp=Layer(), norm=Layer())
        sharded = Layer(work=lambda: block(), _fsdp_wrapped_module=block)
        net = Net(work=lambda: sharded(), blocks=Layer(first=sharded))
        block.work = block._modules["mlp"]
        Layer(work=lambda: net(), module=net)()
        self.assertEqual([path for what, path, _ in self.noted if what == "nn module begin"],
                         ["Net", "Net", "Net.blocks.first", "Net.blocks.first", "Net.blocks.first.mlp"])

    def test_a_part_called_module_beside_others_is_a_part(self):
        self.begin(wants_layers=True)
        part = Layer()
        Net(work=lambda: part(), module=part, head=Layer())()
        self.assertEqual([path for _, path, _ in self.noted], ["Net", "Net.module", "Net.module", "Net"])

    def test_a_number_that_is_used_again_is_another_module(self):
        self.begin(wants_layers=True)
        for model in Net, Layer:
            model()()
            gc.collect()
        self.assertEqual([path for what, path, _ in self.noted], ["Net", "Net", "Layer", "Layer"])

    def test_what_raises_ends(self):
        self.begin(wants_layers=True)
        def fail():
            raise KeyError
        net = Net(work=fail)
        with self.assertRaises(KeyError):
            net()
        net.work = lambda: None
        net()
        self.assertEqual([what for what, _, _ in self.noted], ["nn module begin", "nn module end"] * 2)

    def test_weights_say_which_module_they_are_of_once_it_ran(self):
        place = self.begin(wants_layers=True)
        weight = Tensor(16)
        net = Net(words=Layer(weight=weight), head=Layer(weight=weight))  # tied
        self.look(place)
        self.assertEqual(self.noted, [])
        net()
        self.noted.clear()
        self.assertEqual(self.look(place), [(16, b"model@weight")])
        self.assertEqual(self.noted, [("block nn module", "Net.words", 16)])
        self.assertEqual((self.look(place), len(self.noted)), ([], 1))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:], verbosity=1)
