"""Run with compared_python preloaded: makes and drops code objects in every way there is, and
compares its own frames with those of sys._getframe.

    python_torture.py LIBRARY FRAMES EVERY [lose]

Prints one line of JSON. EVERY: how many allocations one of is looked at. lose: half way, somebody else takes the slot of the deaths.
"""
import asyncio
import ctypes
import functools
import gc
import json
import marshal
import os
import random
import sys
import sysconfig
import threading
import types
import weakref

LIBRARY = ctypes.PyDLL(sys.argv[1])
LIBRARY.compared_text.restype = ctypes.c_void_p
LIBRARY.compared_text.argtypes = [ctypes.c_uint64]
WANTED = int(sys.argv[2])
TYPE_BYTES_BEFORE_DEALLOC = 4 * 8  # after what each object has
HANDED_MOST = 20
texts, compared, wrong = {}, [0], []
handed = []  # functions that another thread calls last


def text(number):
    if number not in texts:
        at = LIBRARY.compared_text(number)
        size = int.from_bytes(ctypes.string_at(at, 2), "little")
        texts[number] = ctypes.string_at(at + 2, size).decode()
    return texts[number]


def check():
    """All frames, but the line of this one."""
    read = (ctypes.c_uint64 * 3 * 600)()
    count = LIBRARY.compared_read(read, 600)
    frame, at = sys._getframe(), 0
    while frame is not None and at < abs(count):
        code = frame.f_code
        known = (getattr(code, "co_qualname", code.co_name), code.co_filename)
        if (text(read[at][0]), text(read[at][1])) != known or (
                at and read[at][2] != frame.f_lineno):
            wrong.append([text(read[at][0]), read[at][2], known, frame.f_lineno])
        frame, at = frame.f_back, at + 1
    if count > 0 and (frame is not None or at != count):
        wrong.append(["another number of frames", count])
    compared[0] += at


def make(number):
    """Functions that no others are like, but for their addresses: those come again."""
    lines = "\n" * (number % 7)
    name = f"f{number % 1000:03d}"
    source = f"""{lines}def {name}(check, x):
  kept = [x]
  for turn in range(2):
    kept.append(dict(turn=turn))
  check()
  return kept
def {name}_steps(check, x):
  yield {name}(check, x)
  check()
  yield {name}(check, x + 1)
"""
    code = compile(source, f"file{number % 97}.py", "exec")
    if number % 3 == 0:
        code = marshal.loads(marshal.dumps(code))
    space = {}
    exec(code, space)
    return space[name], space[name + "_steps"]


def recurse(function, depth):
    return recurse(function, depth - 1) if depth else function(check, depth)


async def await_deep(function, depth):
    await asyncio.sleep(0)
    function(check, depth)
    if depth:
        await await_deep(function, depth - 1)


async def gather(numbers):
    await asyncio.gather(*[await_deep(make(number)[0], number % 4) for number in numbers])


class Dropped:
    def __init__(self, function):
        self.function = function

    def __del__(self):
        self.function(check, 3)


def replace_own_code(function, other):
    """A code that dies as its function returns: what refers to it weakly is told, and looks."""
    space = {"other": other, "check": check, "weakref": weakref}
    exec("""def loses():
  kept.append(weakref.ref(loses.__code__, lambda _: check()))
  loses.__code__ = other.__code__
  return [1] * 5
kept = []
""", space)
    space["loses"]()
    function.__code__ = other.__code__
    function(check, 1)


def raise_and_look(function):
    try:
        function(check)
    except TypeError as error:
        check()
        del error


def enter_both_ways():
    """One instruction calls what runs in the loop of its caller, or through C in its own."""
    def enter():
        return few * 9  # allocates once, and nothing else does until it is called again

    few = "few"

    return [call() for call in (enter, functools.partial(enter)) * 4]


class Worker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.steps = []

    def round(self, turn):
        number = self.random.randrange(10 ** 6)
        function, steps = make(number)
        function(check, turn)
        recurse(function, self.random.randrange(30))
        sorted(range(3), key=eval("lambda v: (check(), -v)[1]", {"check": check}))
        types.FunctionType(compile("[check() for z in (1, 2)]", f"loop{number % 13}", "exec"),
                           {"check": check})()
        begun = steps(check, turn)
        next(begun)
        self.steps.append(begun)
        if len(self.steps) > 5:
            recurse(lambda *_: next(self.steps.pop(self.random.randrange(5)), None),
                    self.random.randrange(9))
        replace_own_code(function, make(number + 1)[0])
        raise_and_look(make(number + 2)[0])
        enter_both_ways()
        handed.append(make(number + 3)[0])
        if len(handed) > HANDED_MOST:
            handed.pop(0)(check, turn)
        if turn % 5 == 0:
            Dropped(function)
        if turn % 50 == 0:
            asyncio.run(gather([number + i for i in range(5)]))
        if turn % 100 == 0:
            gc.collect()

    def run(self, wanted):
        turn = 0
        while compared[0] < wanted:
            self.round(turn)
            turn += 1


def run_interpreters():
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    source = """
for i in range(50):
    space = {}
    exec(compile(f"def f{i}(x): return dict(a=[x] * 5)", f"sub{i % 7}.py", "exec"), space)
    space[f"f{i}"](3)
"""
    for _ in range(4):
        one = interpreters.create()
        interpreters.run_string(one, source)
        interpreters.destroy(one)


def run_greenlets():
    import greenlet
    LIBRARY.compared_look_for_switch()

    def switch(depth):
        if depth:
            return switch(depth - 1)
        check()
        return greenlet.getcurrent().parent.switch()

    alive = []
    for i in range(300):
        function = make(i)[0]
        alive.append(greenlet.greenlet(lambda f=function: [f(check, 1), switch(i % 5),
                                                           f(check, 2)]))
        for one in random.sample(alive, min(4, len(alive))):
            if not one.dead:
                one.switch()
        alive = [one for one in alive if not one.dead][-8:]


def run_child():
    child = os.fork()
    if child == 0:
        wanted = compared[0] + 2000
        Worker(7).run(wanted)
        os._exit(1 if wrong or counts()[2] else 0)
    return os.waitpid(child, 0)[1] == 0


def counts():
    numbers = (ctypes.c_uint64 * 7)()
    LIBRARY.compared_counts(numbers)
    return list(numbers)


def run_threads(wanted):
    threads = [threading.Thread(target=Worker(seed).run, args=(wanted,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    Worker(9).run(wanted)
    for thread in threads:
        thread.join()


def main():
    sys.setrecursionlimit(3000)
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        LIBRARY.compared_watch_objects()
    LIBRARY.compared_start(int(sys.argv[3]), object.__basicsize__ + TYPE_BYTES_BEFORE_DEALLOC)
    run_threads(WANTED // 2)
    if "lose" in sys.argv:
        LIBRARY.compared_lose()
    greenlets = True
    try:
        run_greenlets()
    except ImportError:
        greenlets = False
    is_child_right = run_child()
    run_interpreters()
    recurse(make(1)[0], 1200)
    run_threads(WANTED)
    stacks, frames, differ, resumed, dying, deaths, named = counts()
    print(json.dumps({"compared": compared[0], "wrong": len(wrong), "first": wrong[:3],
                      "stacks": stacks, "frames": frames, "differ": differ, "resumed": resumed,
                      "dying": dying, "deaths": deaths, "named": named, "child": is_child_right,
                      "greenlets": greenlets}))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
