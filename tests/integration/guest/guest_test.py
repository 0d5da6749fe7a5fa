"""A recorder that nobody notices: programs do and print the same with it as without it.

    guest_test.py LEAKTIDE PROGRAMS [unittest arguments]
"""

import json
import os
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
import unittest

LEAKTIDE, PROGRAMS = sys.argv[1:3]
GUEST = os.path.join(PROGRAMS, "guest")
POKE = os.path.join(PROGRAMS, "poke_rings")
BLOCKS = 5000  # of each `few` in guest.c
HEADER_RSS_BYTES = 2232  # of a trace: docs/trace-format.md
OPTIONS = (["--device=cpu"], ["--device=cpu", "--call-stack=c"],
           ["--device=cpu", "--call-stack=python,c"], [])

is_root = os.geteuid() == 0


class GuestTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.runs = 0

    def plain(self, command, **how):
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, timeout=120, **how)

    def traced(self, command, options, **how):
        self.runs += 1
        self.run_folder = os.path.join(self.folder, "run%d" % self.runs)
        return self.plain([LEAKTIDE, "run", "-q", *options, "-o", self.run_folder, "--", *command],
                          **how)

    def info(self):
        shown = subprocess.run([LEAKTIDE, "info", "--format=json", self.run_folder],
                               stdout=subprocess.PIPE, universal_newlines=True, check=True)
        return json.loads(shown.stdout)

    def allocs(self):
        """Of all processes of the last run."""
        events, = [table["rows"] for table in self.info()["tables"] if table["name"] == "events"]
        return sum(row["event_count"] for row in events if row["event"] == "alloc")

    def the_same(self, *arguments, command=None, **how):
        command = command or [GUEST, *arguments]
        plain = self.plain(command, **how)
        if plain.returncode == 77:
            self.skipTest("not to be done here: " + " ".join(arguments))
        for options in OPTIONS:
            with self.subTest(options=options):
                traced = self.traced(command, options, **how)
                status = plain.returncode if plain.returncode >= 0 else 128 - plain.returncode
                self.assertEqual((traced.returncode, traced.stdout, traced.stderr),
                                 (status, plain.stdout, plain.stderr))

    def test_the_last_thread_ends_the_process(self):
        self.the_same("exit_of_first_thread")

    def test_the_lowest_descriptor_is_the_programs(self):
        self.the_same("lowest_descriptor")

    def test_what_the_loader_said_is_the_programs(self):
        self.the_same("loader_errors")

    def test_a_closed_standard_input_stays_free(self):
        self.the_same(command=["sh", "-c", '"%s" first_descriptor <&-' % GUEST])

    def test_standard_descriptors_may_be_closed(self):
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            with self.subTest(closed=closed):
                folder = os.path.join(self.folder, "closed%d" % len(os.listdir(self.folder)))
                done = self.plain(["sh", "-c", '"$0" run -q --no-report --device=cpu -o "$1" -- '
                                   'sh -c "\\"$2\\" few; \\"$2\\" few; exit 3" ' + closed, LEAKTIDE, folder, GUEST])
                self.assertEqual(done.returncode, 3)
                self.run_folder = folder
                self.assertGreaterEqual(self.allocs(), 2 * BLOCKS)
                self.assertIn("complete", self.info()["verdict"][0])
                self.assertEqual([n for n in os.listdir(folder) if not n.endswith(".mtt")], [])

    def test_nobody_else_is_there(self):
        self.the_same("who_is_here")

    def test_a_server_that_closes_all_descriptors_loses_no_connection(self):
        self.the_same("closing_server")

    def test_a_program_may_lower_its_limit_of_files(self):
        self.the_same("no_files")
        self.the_same(command=["bash", "-c", "ulimit -f 0; exit 5"])

    def test_a_program_may_have_users_of_its_own(self):
        self.the_same("own_users")
        if shutil.which("unshare"):
            self.the_same(command=["unshare", "-U", "true"])

    @unittest.skipUnless(is_root, "only root may become somebody else")
    def test_a_program_may_lock_what_it_has(self):
        self.the_same("locks_all")
        self.recorded("locks_all")

    def limited(self, letter, kib, *arguments):
        return ["sh", "-c", 'ulimit -%s %d; shift; exec "$0" "$@"' % (letter, kib), GUEST, "-", *arguments]

    def test_below_a_limit_of_memory_a_program_does_what_it_does(self):
        """Recorded, or not recorded with one sentence: never ended by the loader."""
        for letter in "vd":
            for kib in (4000, 8000, 12000, 16000, 20000, 21000, 24000, 32000, 48000, 64000, 100000):
                with self.subTest(letter=letter, kib=kib):
                    self.the_same(command=self.limited(letter, kib, "few"))
        done = self.plain([LEAKTIDE, "run", "--no-report", "--device=cpu", "-o",
                           os.path.join(self.folder, "said"), "--", *self.limited("v", 20000, "few")])
        self.assertIn("not recorded, with what they started in turn: 1 (below a limit of memory", done.stderr)
        done = self.plain(["sh", "-c", 'ulimit -v 20000; exec "$0" "$@"', LEAKTIDE, "run", "--device=cpu", "-o",
                           os.path.join(self.folder, "none"), "--", GUEST, "few"])
        self.assertIn("nothing was recorded: the recorder would take more than half of the memory", done.stderr)

    def sizes(self, *how):
        """(addresses, data) in KiB that a program of no size has at its end."""
        script = 'ulimit -v 54000; ulimit -d 29000; exec "$0" few_and_sizes'
        done = self.plain([*how, "sh", "-c", script, GUEST])
        return [int(number) for number in done.stdout.split()]

    def test_what_the_recorder_takes_is_what_is_said(self):
        """MT_TRACER_ADDRESS_BYTES and MT_TRACER_DATA_BYTES of preload.h."""
        plain = self.sizes()
        for options in OPTIONS:
            traced = self.sizes(LEAKTIDE, "run", "-q", *options, "-o", os.path.join(
                self.folder, "sizes%d" % len(os.listdir(self.folder))), "--")
            taken = [after - before for after, before in zip(traced, plain)]
            print("the recorder takes, KiB of addresses and of data:", *taken)
            with self.subTest(options=options):
                self.assertLess(taken[0], 26 << 10)
                self.assertLess(taken[1], 14 << 10)
        self.assertGreater(taken[1], 10 << 10)

    def test_a_program_with_an_auditor_runs(self):
        source, auditor = (os.path.join(self.folder, name) for name in ("a.c", "a.so"))
        with open(source, "w") as out:
            out.write("unsigned la_version(unsigned version) { return version; }\n")
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", auditor, source], check=True)
        self.the_same(command=["env", "LD_AUDIT=" + auditor, GUEST, "few"])
        self.the_same(command=[GUEST, "few"], env=dict(os.environ, LD_AUDIT=auditor))
        done = self.plain([LEAKTIDE, "run", "--no-report", "--device=cpu", "-o",
                           os.path.join(self.folder, "said"), "--", "env", "LD_AUDIT=" + auditor, GUEST, "few"])
        self.assertIn("not recorded, with what they started in turn: 1 (with LD_AUDIT", done.stderr)

    def test_a_filter_of_system_calls_is_obeyed(self):
        self.the_same("confined")
        self.the_same("confined_by_number")

    def test_what_a_confined_program_allocates_is_recorded(self):
        self.traced([GUEST, "confined"], ["--device=cpu"])
        self.assertGreaterEqual(self.allocs(), 400000)

    def test_strict_confinement_ends_the_recording(self):
        self.the_same("strictly_confined")

    def test_a_confined_program_hands_on_no_recorder(self):
        self.the_same("confined_exec")
        done = self.plain([LEAKTIDE, "run", "--no-report", "--device=cpu", "-o",
                           os.path.join(self.folder, "said"), "--", GUEST, "confined_exec"])
        if done.returncode != 77:
            self.assertIn("not recorded, with what they started in turn: 1 (started by a process that "
                          "had told the kernel which system calls it may make)", done.stderr)

    def test_who_gets_no_answer_of_the_kernel_is_nobody(self):
        """A filter that nobody saw: getpid() fails in the program that is started then."""
        self.the_same("unseen_filter_exec")
        end = time.monotonic() + 20
        while os.path.exists(os.path.join(self.run_folder, "run.rings")) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(os.listdir(self.run_folder), [n for n in os.listdir(self.run_folder)
                                                       if n.endswith(".mtt") and "4294967295" not in n])

    def test_a_handler_on_a_small_stack_may_start_a_program(self):
        self.the_same("exec_on_small_stack")

    def test_exec_takes_little_more_stack_than_the_c_library(self):
        few = {"PATH": os.environ["PATH"]}
        for loader in ("ld-linux", "ld-musl"):
            command = [GUEST, "exec_depth", os.path.join(PROGRAMS, "of_" + loader)]
            plain = int(self.plain(command, env=few).stdout)
            for options in OPTIONS:
                with self.subTest(loader=loader, options=options):
                    traced = int(self.traced(command, options, env=few).stdout)
                    self.assertLessEqual(traced - plain, 1024)

    def with_other_loader(self, program, name):
        """The program, started by the usual loader under another name."""
        link = os.path.join(tempfile.mkdtemp(prefix="x", dir="/tmp"), name)
        self.addCleanup(shutil.rmtree, os.path.dirname(link))
        with open(program, "rb") as read:
            image = read.read()
        begin = image.index(b"/lib")
        end = image.index(b"\0", begin)
        os.symlink(image[begin:end].decode(), link)
        if end - begin < len(link):
            self.skipTest("no room for the name of a loader")
        copy = os.path.join(self.folder, os.path.basename(program))
        with open(copy, "wb") as out:
            out.write(image[:begin] + link.encode().ljust(end - begin, b"\0") + image[end:])
        os.chmod(copy, 0o755)
        return copy

    def test_what_cannot_hold_the_recorder_is_left_alone(self):
        other = self.with_other_loader(shutil.which("printenv"), "ld-musl")
        shell = '%s LD_PRELOAD; "%s" few; exit 4' % (other, GUEST)
        for options in OPTIONS:
            with self.subTest(options=options):
                done = self.traced([other, "LD_PRELOAD"], options)
                self.assertEqual(done.stdout.strip(), "")
                done = self.traced(["sh", "-c", shell], options)
                self.assertEqual((done.returncode, done.stdout.strip()), (4, ""))
        self.assertGreaterEqual(self.allocs() + BLOCKS * (OPTIONS[-1] == []), BLOCKS)
        done = self.plain([LEAKTIDE, "run", "--no-report", "--device=cpu", "-o",
                           os.path.join(self.folder, "said"), "--", "sh", "-c", shell])
        self.assertIn("not recorded, with what they started in turn: 1 (another C library than glibc",
                      done.stderr)
        done = self.plain([LEAKTIDE, "run", "--no-report", "--device=cpu", "-o",
                           os.path.join(self.folder, "none"), "--", other, "LD_PRELOAD"])
        self.assertIn("has another C library than glibc", done.stderr)

    @unittest.skipUnless(shutil.which("musl-gcc"), "no musl")
    def test_programs_of_musl_run(self):
        source, program = (os.path.join(self.folder, name) for name in ("m.c", "m"))
        with open(source, "w") as out:
            out.write("int main(void) { return 7; }")
        subprocess.run(["musl-gcc", "-o", program, source], check=True)
        self.the_same(command=[program])
        self.the_same(command=["sh", "-c", program])

    def much(self, command):
        """(resident bytes, as a large program says itself, what the command says of it meanwhile)"""
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              universal_newlines=True) as program:
            process, kib = program.stdout.readline().split()
            said = self.plain([LEAKTIDE, "ctl", process, "snapshot"])
            time.sleep(0.5)
            program.stdin.write("on\n")
            program.stdin.flush()
            self.assertEqual(program.wait(timeout=60), 0)
        return int(kib) * 1024, said

    def rows_with(self, key, *question):
        shown = self.plain([LEAKTIDE, *question, "--format=json", self.run_folder])
        return next(table["rows"] for table in json.loads(shown.stdout)["tables"]
                    if table["rows"] and key in table["rows"][0])

    def test_memory_of_the_recorder_is_not_the_programs(self):
        """Its tables of stacks alone are as large as half of this program, which imports and parses much."""
        script = os.path.join(self.folder, "much.py")
        with open(script, "w") as out:
            out.write("import ast, asyncio, ctypes, decimal, http.server, inspect, json, multiprocessing, "
                      "os, pydoc, time, typing, unittest, xml.dom.minidom\n"
                      "for module in inspect, pydoc, typing, asyncio.base_events:\n"
                      "    ast.parse(open(module.__file__).read())\n"
                      "size = [l for l in open('/proc/self/status') if l.startswith('VmRSS')][0]\n"
                      "print(os.getpid(), size.split()[1], flush=True)\n"
                      "input()\n"
                      "os._exit(0)\n")
        native, _ = self.much([sys.executable, script])
        self.run_folder = os.path.join(self.folder, "own")
        recorded, said = self.much([LEAKTIDE, "run", "-q", "--device=cpu", "--call-stack=python,c", "-o",
                                    self.run_folder, "--", sys.executable, script])
        self.assertEqual(said.returncode, 0, said.stderr)
        figures, = self.rows_with("recorder_bytes", "account")
        print("resident: natively %d, recorded %d, of it the program's %d" %
              (native, recorded, figures["resident_bytes"]))
        self.assertGreater(recorded, 1.2 * native)
        self.assertLess(abs(figures["resident_bytes"] - native), 0.08 * native)
        self.assertLess(abs(figures["resident_bytes"] + figures["recorder_bytes"] - recorded),
                        0.03 * recorded)
        trace, = [name for name in os.listdir(self.run_folder) if name.endswith(".mtt")]
        with open(os.path.join(self.run_folder, trace), "rb") as read:
            sampled, = struct.unpack("Q", read.read(HEADER_RSS_BYTES + 8)[HEADER_RSS_BYTES:])
        self.assertLess(abs(sampled - native), 0.08 * native)

    def recorded(self, *arguments, times=1):
        done = self.traced([GUEST, *arguments], ["--device=cpu"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(self.allocs(), times * BLOCKS)
        self.assertLess(self.allocs(), times * BLOCKS + 500)

    def test_a_question_about_filters_ends_nothing(self):
        self.recorded("asks_for_filters")

    def test_handlers_of_forks_are_recorded_in_both_processes(self):
        self.the_same("handled_fork")
        self.recorded("handled_fork", times=7)

    def test_a_late_child_has_no_part_in_who_has_its_parents_place(self):
        self.the_same("late_child")
        self.recorded("late_child", times=2)

    def test_a_child_that_says_stop_first_of_all_stops_itself(self):
        self.recorded("child_stops_itself")

    def test_a_process_born_while_the_run_ends_is_recorded(self):
        for delay_us in range(0, 40000, 2000):
            with self.subTest(delay_us=delay_us):
                self.traced([GUEST, "born_late", str(delay_us)], ["--device=cpu"])
                end = time.monotonic() + 20
                while self.allocs() < BLOCKS and time.monotonic() < end:
                    time.sleep(0.01)
                self.assertGreaterEqual(self.allocs(), BLOCKS)

    def begun(self, *arguments, options=()):
        """A program that waits for a line, and its run."""
        self.run_folder = os.path.join(self.folder, "begun")
        program = subprocess.Popen([LEAKTIDE, "run", "-q", "--device=cpu", "--ring-size=64k", *options,
                                    "-o", self.run_folder, "--", GUEST, *arguments],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   universal_newlines=True)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.stdin.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        self.assertEqual(program.stdout.readline(), "ready\n")
        return program

    def poke(self, way):
        subprocess.run([POKE, os.path.join(self.run_folder, "run.rings"), way], check=True,
                       timeout=60)

    def child_of(self, launcher, name):
        with open("/proc/%d/task/%d/children" % (launcher.pid, launcher.pid)) as listed:
            for child in listed.read().split():
                with open("/proc/%s/comm" % child) as own:
                    if own.read() == name + "\n":
                        return int(child)
        raise AssertionError("no child is called " + name)

    def consumer_of(self, launcher):
        return self.child_of(launcher, "leaktide-drain")

    def say(self, program):
        program.stdin.write("on\n")
        program.stdin.flush()

    def fork_without_a_place(self, program, way):
        self.poke(way)
        began = time.monotonic()
        self.say(program)
        self.assertEqual(program.stdout.readline(), "done\n")
        took = time.monotonic() - began
        self.poke("give")
        return took

    def no_place_was_needed(self, program):
        self.say(program)
        self.assertEqual(program.wait(timeout=60), 0)
        self.assertGreaterEqual(self.allocs(), BLOCKS)
        self.assertLess(self.allocs(), BLOCKS + 500)

    def test_a_child_without_a_place_is_alone(self):
        program = self.begun("fork_when_told")
        self.fork_without_a_place(program, "take")
        self.no_place_was_needed(program)

    def test_a_child_waits_no_longer_than_it_may_for_the_place_that_nobody_makes(self):
        os.environ["LEAKTIDE_STOPPED_SECONDS"] = "1"
        self.addCleanup(os.environ.pop, "LEAKTIDE_STOPPED_SECONDS")
        program = self.begun("fork_when_told")
        consumer = self.consumer_of(program)
        os.kill(consumer, signal.SIGSTOP)
        took = self.fork_without_a_place(program, "take_few")
        os.kill(consumer, signal.SIGCONT)
        self.assertGreater(took, 0.9)
        self.assertLess(took, 20)
        self.no_place_was_needed(program)

    def status_of(self, program):
        """What a consumer says of it, a new one perhaps."""
        for _ in range(200):
            done = self.plain([LEAKTIDE, "ctl", str(self.child_of(program, "guest")), "status"])
            if done.returncode == 0:
                return done.stdout
            time.sleep(0.05)
        raise AssertionError(done.stderr)

    def test_another_consumer_does_not_obey_a_control_file_again(self):
        path = os.path.join(self.folder, "control.json")
        with open(path, "w") as out:
            out.write('{"profile_memory": false}')
        program = self.begun("fork_when_told", options=["--control-file=" + path])
        while "paused" not in self.status_of(program):
            time.sleep(0.05)
        self.plain([LEAKTIDE, "ctl", str(self.child_of(program, "guest")), "start"])
        self.assertIn("ok recording", self.status_of(program))
        os.kill(self.consumer_of(program), signal.SIGKILL)
        time.sleep(0.5)
        self.assertIn("ok recording", self.status_of(program))

    def test_hostile_words_stop_neither_consumer_nor_reader(self):
        program = self.begun("waits_while_others_write")
        consumer = self.consumer_of(program)
        hostile = subprocess.Popen([POKE, os.path.join(self.run_folder, "run.rings"), "hostile"])
        while hostile.poll() is None:
            for word in ("status", "step", "snapshot"):
                self.plain([LEAKTIDE, "ctl", str(self.child_of(program, "guest")), word])
            self.plain([LEAKTIDE, "info", self.run_folder])
        self.assertEqual(hostile.returncode, 0)
        shown = self.plain([LEAKTIDE, "info", self.run_folder])
        self.assertIn(shown.returncode, (0, 3), shown.stderr)
        self.assertEqual(self.consumer_of(program), consumer)
        self.say(program)
        self.assertEqual(program.wait(timeout=60), 0)
        shown = self.plain([LEAKTIDE, "info", self.run_folder])
        self.assertIn(shown.returncode, (0, 3), shown.stderr)

    def busy_for(self, seconds):
        """A program that allocates for so long, once it is recorded."""
        self.run_folder = os.path.join(self.folder, "busy")
        program = subprocess.Popen([LEAKTIDE, "run", "-q", "--no-report", "--device=cpu", "-o",
                                    self.run_folder, "--", GUEST, "busy_for", str(seconds)])
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        while not [n for n in self.entries(self.run_folder) if n.endswith(".mtt")]:
            time.sleep(0.01)
        return program

    def entries(self, folder):
        return os.listdir(folder) if os.path.isdir(folder) else []

    def test_who_says_that_all_is_over_ends_nobody(self):
        """Any process of a run may write so; others have the file mapped, and go on."""
        program = self.busy_for(5)
        self.poke("end_run")
        self.assertEqual(program.wait(timeout=60), 0)
        self.assertLess(os.stat(os.path.join(self.run_folder, "run.rings")).st_size, 1 << 20)
        self.assertEqual(self.plain([LEAKTIDE, "info", self.run_folder]).returncode, 3)

    def test_launcher_and_consumer_survive_a_file_that_is_cut(self):
        program = self.busy_for(5)
        os.truncate(os.path.join(self.run_folder, "run.rings"), 0)
        # The program's own status: it lives if its ring had got room again before it wrote there.
        self.assertIn(program.wait(timeout=30), (0, 128 + signal.SIGBUS))
        self.assertEqual(self.entries(self.run_folder)[0][-4:], ".mtt")

    def in_memory(self):
        os.environ["LEAKTIDE_RINGS"] = "memory"
        self.addCleanup(os.environ.pop, "LEAKTIDE_RINGS")

    def test_rings_in_memory_are_found_by_all_processes(self):
        self.in_memory()
        self.the_same("no_files")
        self.the_same("closing_server")
        shell = '"%s" few; "%s" few; exit 3' % (GUEST, GUEST)
        self.assertEqual(self.traced(["sh", "-c", shell], ["--device=cpu"]).returncode, 3)
        self.assertGreaterEqual(self.allocs(), 2 * BLOCKS)
        self.assertIn("complete", self.info()["verdict"][0])
        self.assertEqual([n for n in os.listdir(self.run_folder) if not n.endswith(".mtt")], [])
        self.recorded("handled_fork", times=7)

    def test_rings_in_memory_cannot_be_cut(self):
        """By a process of the run that asks for them, as it may."""
        self.in_memory()
        script = os.path.join(self.folder, "cut.py")
        with open(script, "w") as out:
            out.write("import array, os, re, socket\n"
                      "run = re.search('run-id=([0-9a-f]+)', os.environ['LEAKTIDE_OPTIONS']).group(1)\n"
                      "s = socket.socket(socket.AF_UNIX)\n"
                      "s.connect('\\0leaktide-run-%d' % (int(run, 16) & 0xffffffff))\n"
                      "s.send(b'rings %s\\n' % run.encode())\n"
                      "_, told, _, _ = s.recvmsg(1, 64)\n"
                      "rings = array.array('i', told[0][2])[0]\n"
                      "assert os.fstat(rings).st_size > 1 << 20\n"
                      "try:\n    os.ftruncate(rings, 0)\n"
                      "except PermissionError:\n    print('refused')\n")
        done = self.traced([sys.executable, script], ["--device=cpu"])
        self.assertEqual((done.returncode, done.stdout), (0, "refused\n"), done.stderr)

    @unittest.skipUnless(is_root, "only root may mount a disk")
    def test_a_full_disk_that_copies_on_write_ends_nobody(self):
        """btrfs: a store into a page that has its room already needs other room."""
        image, disk = (os.path.join(self.folder, name) for name in ("image", "disk"))
        with open(image, "wb") as out:
            out.truncate(160 << 20)
        os.mkdir(disk)
        make = shutil.which("mkfs.btrfs", path=os.environ["PATH"] + ":/sbin:/usr/sbin")
        if not make or self.plain([make, "-q", image]).returncode or \
                self.plain(["mount", "-o", "loop", image, disk]).returncode:
            self.skipTest("no btrfs here")
        self.addCleanup(self.plain, ["umount", "-l", disk])
        self.folder = disk
        program = self.busy_for(6)
        for size in (1 << 16, 1 << 12):
            try:
                with open(os.path.join(disk, "fill%d" % size), "wb", buffering=0) as out:
                    while out.write(b"x" * size) == size:
                        pass
            except OSError:
                pass
            os.sync()
        self.assertEqual(program.wait(timeout=60), 0)
        shown = self.plain([LEAKTIDE, "info", self.run_folder])
        self.assertRegex(shown.stdout, "INCOMPLETE: [0-9,]+ of [0-9,]+ events")
        self.assertEqual(shown.returncode, 3)

    @unittest.skipUnless(is_root, "only root may become somebody else")
    def test_strangers_take_no_seat_at_the_socket(self):
        program = self.begun("waits_while_others_write")
        guest = self.child_of(program, "guest")
        with open("/proc/net/unix") as listed:
            name, = {line.split("@")[1].strip() for line in listed if "@leaktide-run-" in line
                     and line.split("@")[1].strip() == "leaktide-run-%d" % self.run_number()}
        crowd = ("import os, socket, time\n"
                 "os.setuid(65534)\n"
                 "calls = []\n"
                 "for name in ('%s', 'leaktide-%d'):\n"
                 "    for _ in range(60):\n"
                 "        s = socket.socket(socket.AF_UNIX)\n"
                 "        s.setblocking(False)\n"
                 "        s.connect_ex('\\0' + name)\n"
                 "        calls.append(s)\n"
                 "print('ready', flush=True)\n"
                 "time.sleep(60)\n" % (name, guest))
        strangers = subprocess.Popen([sys.executable, "-c", crowd], stdout=subprocess.PIPE)
        self.addCleanup(strangers.wait)
        self.addCleanup(strangers.stdout.close)
        self.addCleanup(strangers.kill)
        self.assertEqual(strangers.stdout.readline(), b"ready\n")
        began = time.monotonic()
        done = self.plain([LEAKTIDE, "ctl", str(guest), "status"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(time.monotonic() - began, 5)
        self.say(program)

    def run_number(self):
        """The lower half of it, as the rings say."""
        with open(os.path.join(self.run_folder, "run.rings"), "rb") as rings:
            return struct.unpack("<I", rings.read(20)[16:])[0]

    def test_a_program_can_be_spoken_to_after_exec(self):
        folder = os.path.join(self.folder, "spoken")
        program = subprocess.Popen([LEAKTIDE, "run", "-q", "--device=cpu", "-o", folder, "--", "bash",
                                    "-c", "echo $$; read line; exec cat"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, universal_newlines=True)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.kill)
        process = program.stdout.readline().strip()
        program.stdin.write("go on\nafter exec\n")
        program.stdin.flush()
        self.assertEqual(program.stdout.readline(), "after exec\n")
        time.sleep(0.2)
        done = self.plain([LEAKTIDE, "ctl", process, "status"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("ok recording", done.stdout)
        program.stdin.close()
        self.assertEqual(program.wait(timeout=30), 0)

    @unittest.skipUnless(is_root, "only root may become somebody else")
    def test_children_after_setuid_are_recorded(self):
        self.recorded("fork_of_nobody")

    @unittest.skipUnless(is_root, "only root may change the root folder")
    def test_children_in_a_cage_without_descriptors_are_recorded(self):
        cage = os.path.join(self.folder, "cage")
        os.mkdir(cage)
        self.recorded("fork_in_a_cage", cage)

    @unittest.skipUnless(is_root, "only root may become somebody else")
    def test_programs_that_may_not_open_the_folder_are_recorded(self):
        place = os.path.join(self.folder, "bin")
        os.chmod(self.folder, 0o755)
        os.mkdir(place, 0o755)
        program = shutil.copy(GUEST, place)
        library = self.tracer_for_everybody(place)
        os.environ["LEAKTIDE_TRACER"] = library
        self.addCleanup(os.environ.pop, "LEAKTIDE_TRACER")
        self.recorded("program_of_nobody", program)

    def tracer_for_everybody(self, place):
        found = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(LEAKTIDE))),
                             "lib", "leaktide", "libascend_kernel_hook.so")
        copied = shutil.copy(found, place)
        os.chmod(copied, 0o755)
        return copied

    def test_folders_are_the_users_alone(self):
        before = os.umask(0)
        try:
            self.traced(["true"], ["--device=cpu"])
        finally:
            os.umask(before)
        self.assertEqual(stat.S_IMODE(os.stat(self.run_folder).st_mode), 0o700)
        for name in os.listdir(self.run_folder):
            mode = os.stat(os.path.join(self.run_folder, name)).st_mode
            self.assertEqual(stat.S_IMODE(mode), 0o600, name)

    def test_what_no_trace_could_be_made_for_is_said_for_good(self):
        """While the folder has another name, the consumer can make no trace in it."""
        folder = os.path.join(self.folder, "moved")
        away = folder + ".away"
        done = self.plain([LEAKTIDE, "run", "-q", "--device=cpu", "-o", folder, "--", "sh", "-c",
                           'mv "$1" "$2"; "$0" few; sleep 0.2; mv "$2" "$1"', GUEST, folder, away])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for question in ("info", "report", "leaks"):
            with self.subTest(question=question):
                shown = self.plain([LEAKTIDE, question, folder])
                self.assertRegex(shown.stdout, r"[0-9,]{5,} +events lost")
                self.assertNotIn("processes; complete", shown.stdout)
        policy = os.path.join(self.folder, "policy.toml")
        with open(policy, "w") as out:
            out.write('[device."*"]\npeak_live = "1 GiB"\n')
        judged = self.plain([LEAKTIDE, "gate", "--policy", policy, folder])
        self.assertEqual(judged.returncode, 3, judged.stdout + judged.stderr)

    def refused(self, folder, word):
        done = self.plain([LEAKTIDE, "run", "--device=cpu", "-o", folder, "--", "true"])
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(word, done.stderr)

    def test_folders_of_others_and_links_are_refused(self):
        link = os.path.join(self.folder, "link")
        inside = os.path.join(self.folder, "inside")
        os.mkdir(inside)
        os.symlink(inside, link)
        self.refused(link, "is a link")
        os.chmod(inside, 0o777)
        self.refused(inside, "other users")
        if is_root:
            os.chmod(inside, 0o700)
            os.chown(inside, 65534, 65534)
            self.refused(inside, "another user")

    @unittest.skipUnless(is_root, "only root may become somebody else")
    def test_who_answers_for_a_process_is_looked_at(self):
        program = ("import os,socket,sys\n"
                   "s = socket.socket(socket.AF_UNIX)\n"
                   "s.bind('\\0leaktide-%d' % os.getppid())\n"
                   "os.setuid(65534)\n"
                   "s.listen(1)\n"
                   "print('ready', flush=True)\n"
                   "c = s.accept()[0]\n"
                   "c.recv(100)\n"
                   "c.send(b'ok all is well\\n')\n")
        # The credentials of a listening socket are those of who said listen().
        squatter = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
        self.addCleanup(squatter.wait)
        self.addCleanup(squatter.stdout.close)
        self.addCleanup(squatter.kill)
        self.assertEqual(squatter.stdout.readline(), b"ready\n")
        done = self.plain([LEAKTIDE, "ctl", str(os.getpid()), "status"])
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("somebody else answers", done.stderr)
        self.assertNotIn("all is well", done.stdout)

    def test_python_forks_without_a_warning(self):
        python = shutil.which("python3.12") or shutil.which("python3.13") or sys.executable
        self.the_same(command=[python, "-W", "always", "-c",
                               "import os\npid = os.fork()\n"
                               "if not pid: os._exit(0)\nos.waitpid(pid, 0)"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:], verbosity=1)
