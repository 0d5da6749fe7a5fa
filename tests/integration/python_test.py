"""leaktide.py with a tracer and without.

Run as python_test.py FOLDER-OF-LEAKTIDE.PY PRELOAD-LIBRARY [EVENT-DUMP].
"""

import sys
import textwrap
import unittest

import traced

MODULE_FOLDER = sys.argv[1]
TRACER = traced.Tracer(*sys.argv[2:])


def run(script, preload=True):
    """What the script printed, and the events but for samples."""
    done = TRACER.run([sys.executable, "-c", "import leaktide\n" + textwrap.dedent(script)],
                      preload=preload,
                      variables={"PYTHONPATH": MODULE_FOLDER, "PYTHONDONTWRITEBYTECODE": "1"})
    if done.status:
        raise AssertionError(done.errors)
    return done.output, [event for event in done.events if event["event"] != "sample"]


def short(events):
    return [(e["event"], e["text"] or e["address"]) for e in events]


EVERYTHING = """
    with leaktide.step():
        with leaktide.range("forward"), leaktide.tag("model@weight"):
            pass
    for batch in leaktide.steps([1, 2]):
        leaktide.mark("seen")
    leaktide.pool_reserved("arena", 0, 1 << 40)
    leaktide.pool_alloc("arena", 0, 0x7f0000001000, 1 << 33)
    leaktide.pool_free("arena", 0x7f0000001000)
    leaktide.pool_alloc("arena", 0, None, 64)

    @leaktide.range("work")
    def work(a, b=2):
        "adds"
        return a + b
    print(work(1), work.__name__, work.__doc__, leaktide.is_traced())
"""


class Module(unittest.TestCase):
    def test_says_everything_to_the_tracer(self):
        output, events = run(EVERYTHING)
        self.assertEqual(output, "3 work adds True\n")
        self.assertEqual(short(events), [
            ("step_begin", 1), ("range_begin", "forward"), ("tag_begin", "model@weight"),
            ("tag_end", 0), ("range_end", 1), ("step_end", 1),
            ("step_begin", 2), ("mark", "seen"), ("step_end", 2),
            ("step_begin", 3), ("mark", "seen"), ("step_end", 3),
            ("pool_reserved", "arena"), ("alloc", "arena"), ("free", "arena"),
            ("alloc_failed", "arena"), ("range_begin", "work"), ("range_end", 2)])
        by_kind = {e["event"]: e for e in events}
        self.assertEqual(by_kind["pool_reserved"]["size_bytes"], 1 << 40)
        self.assertEqual((by_kind["alloc"]["address"], by_kind["alloc"]["size_bytes"],
                          by_kind["alloc"]["device"]), (0x7f0000001000, 1 << 33, 0))

    def test_a_step_that_is_not_entered_warns(self):
        output, events = run("""
            import warnings
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                leaktide.step()
                with leaktide.step():
                    pass
                leaktide.step()(print)("used")
                print([str(warning.message).split(":")[0] for warning in said])
        """)
        self.assertEqual(output, "used\n['leaktide.step() alone marks nothing']\n")
        self.assertEqual(short(events), [("step_begin", 1), ("step_end", 1), ("step_begin", 2), ("step_end", 2)])

    def test_without_a_tracer_does_nothing(self):
        output, _ = run(EVERYTHING, preload=False)
        self.assertEqual(output, "3 work adds False\n")

    def test_closes_what_an_exception_leaves(self):
        _, events = run("""
            try:
                with leaktide.step(), leaktide.range("r"), leaktide.tag("t"):
                    raise ValueError
            except ValueError:
                leaktide.mark("after")
        """)
        self.assertEqual([kind for kind, _ in short(events)],
                         ["step_begin", "range_begin", "tag_begin", "tag_end", "range_end",
                          "step_end", "mark"])

    def test_steps_ends_at_break_and_exception(self):
        _, events = run("""
            for item in leaktide.steps(iter([1, 2, 3])):
                break
            try:
                for item in leaktide.steps([1, 2, 3]):
                    raise KeyError
            except KeyError:
                pass
            leaktide.mark("after")
        """)
        self.assertEqual(short(events), [("step_begin", 1), ("step_end", 1), ("step_begin", 2),
                                         ("step_end", 2), ("mark", "after")])

    def test_steps_of_nothing_has_no_step(self):
        self.assertEqual(run("list(leaktide.steps([]))")[1], [])

    def test_decorators_may_be_used_again_and_inside_themselves(self):
        output, events = run("""
            @leaktide.step()
            @leaktide.tag("deep")
            def down(n):
                return n and down(n - 1) + 1
            print(down(2))
        """)
        self.assertEqual(output, "2\n")
        self.assertEqual([kind for kind, _ in short(events)].count("tag_begin"), 3)
        self.assertEqual([kind for kind, _ in short(events)].count("tag_end"), 3)

    def test_texts_may_be_anything(self):
        _, events = run(r"""
            leaktide.mark("gr\u00fcn")
            leaktide.mark(b"bytes")
            leaktide.mark("cut\0here")
            leaktide.mark("\ud800")
            leaktide.mark("")
        """)
        self.assertEqual([e["text"] for e in events], ["grün", "bytes", "cut", "?", ""])

    def test_threads_keep_their_ranges_apart(self):
        _, events = run("""
            import threading
            def work(index):
                for turn in __builtins__.range(200):
                    with leaktide.range("outer"), leaktide.range("inner"):
                        pass
            threads = [threading.Thread(target=work, args=(i,)) for i in __builtins__.range(4)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
        """)
        begun = [e["address"] for e in events if e["event"] == "range_begin"]
        ended = [e["address"] for e in events if e["event"] == "range_end"]
        self.assertEqual(len(begun), 1600)
        self.assertEqual(sorted(begun), sorted(ended))

    def test_star_import_leaves_builtins_alone(self):
        output, _ = run("""
            from leaktide import *
            print(list(range(2)), step)
        """, preload=False)
        self.assertTrue(output.startswith("[0, 1]"))

    def test_every_public_function_is_documented(self):
        output, _ = run("""
            import inspect
            for name, member in vars(leaktide).items():
                if (inspect.isfunction(member) and member.__module__ == "leaktide"
                        and not name.startswith("_") and not member.__doc__):
                    print(name)
        """, preload=False)
        self.assertEqual(output, "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
