"""Whose tests are run, where they come from, and how what they say is read.

One row a suite. Recipes and commands are texts for bash, with these variables:

    SOURCE     the sources, built by the recipe       HERE   this folder
    WORK       an empty folder of each run, also HOME and TMPDIR
    PYTHON     the interpreter of this row, or the one that runs us

"stage" runs before each run, without leaktide: what the tests want to find in WORK. A suite that
refuses to run as root is run as another user then, and sees only WORK, HERE and the system.
"""

import os
import subprocess
import sys
from dataclasses import dataclass

import readers

# What is built from source is built so, not installed: servers that a package installs start.


@dataclass(frozen=True)
class Source:
    package: str
    recipe: str


REDIS = Source("redis", "make -j$JOBS MALLOC=libc OPTIMIZATION=-O1 CFLAGS=-w")
NGINX = Source("nginx", """
    ./configure --prefix="$PWD/installed" --without-http_rewrite_module --without-http_gzip_module \
        --with-threads
    make -j$JOBS install""")
OPENSSH = Source("openssh", """
    ./configure --prefix="$PWD/installed" --with-privsep-user=nobody \
        --with-privsep-path="$PWD/empty" --without-zlib
    mkdir -p empty
    make -j$JOBS
    make -j$JOBS regress-binaries""")
POSTGRES = Source("postgresql-15", """
    ./configure --prefix=/pg --without-readline --without-zlib CFLAGS=-O1
    make -j$JOBS -s
    make -s install DESTDIR="$PWD/installed"
    make -j$JOBS -s -C src/test/regress""")
TCL = Source("tcl8.6", "cd unix && ./configure && make -j$JOBS all tcltest")
SQLITE = Source("sqlite3", """
    ./configure --with-tcl="$(echo /usr/lib/tcl8.*)"
    make -j$JOBS testfixture""")
JQ = Source("jq", "true")
JEMALLOC = Source("jemalloc", """
    ./autogen.sh
    make -j$JOBS build_lib
    make -j$JOBS tests_unit tests_integration tests_stress""")
MIMALLOC = Source("mimalloc", """
    cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug
    cmake --build build -j$JOBS""")
COREUTILS = Source("coreutils", """
    FORCE_UNSAFE_CONFIGURE=1 ./configure --disable-nls CFLAGS=-O1
    make -j$JOBS""")


@dataclass(frozen=True)
class Suite:
    name: str
    command: str
    reader: object
    needs: tuple = ()  # programs that must be installed
    source: Source = None
    stage: str = ""
    python: str = sys.executable
    limit_s: int = 300  # natively
    as_user: bool = False  # not as root
    is_short: bool = False


CPYTHON_MODULES = (
    # module, short, arguments: virtual machines have such sockets, and often nobody who answers
    ("test_fork1", True, ""),
    ("test_posix", True, ""),
    ("test_resource", True, ""),
    ("test_mmap", True, ""),
    ("test_faulthandler", False, ""),
    ("test_os", False, ""),
    ("test_ctypes", False, ""),
    ("test_signal", False, ""),
    ("test_subprocess", False, ""),
    ("test_threading", False, ""),
    ("test_socket", False, "-i '*VSOCK*'"),
    ("test_asyncio", False, ""),
    ("test_multiprocessing_fork", False, ""),
    ("test_multiprocessing_spawn", False, ""),
)

# Since 3.12, an interpreter tells when a process with threads forks; so both kinds are of interest.
PYTHONS = ("python3", "python3.11", "python3.12", "python3.13", "python3.14")


def has_own_tests(python):
    """What is different about this interpreter, or None if its tests are not installed."""
    asked = ("import sys, test.test_os; "
             "print('%d.%d' % sys.version_info[:2], sys.version_info >= (3, 12), sys.executable)")
    try:
        done = subprocess.run([python, "-B", "-c", asked], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                              universal_newlines=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.split(None, 2) if done.returncode == 0 else None


def pythons(named):
    """(version, path) of the interpreters to test: those named, else one of each kind."""
    found = {}
    for python in named or PYTHONS:
        about = has_own_tests(python)
        if about:
            version, kind, path = about
            found.setdefault(version if named else kind, (version, path.strip()))
    return sorted(found.values())


def cpython(version, path, is_first):
    test = 'exec "$PYTHON" -B -m test --timeout 600 --junit-xml "$WORK/results.xml" %s %s'
    for module, is_short, arguments in CPYTHON_MODULES:
        yield Suite(f"python{version} {module}", test % (arguments, module), readers.junit, python=path,
                    is_short=is_short and is_first, limit_s=600)


OPENSSH_TESTS = """connect proxy-connect connect-privsep connect-uri exit-status exit-status-signal
    envpass transfer banner stderr-data stderr-after-eof broken-pipe yes-head agent keyscan scp sftp
    sftp-cmds sftp-batch reconfigure multiplex reexec brokenkeys localcommand keytype"""

REDIS_TESTS = """printver auth protocol keyspace scan info type/string type/incr type/list type/set
    type/zset type/hash type/stream sort expire other dump multi quit aofrw
    introspection limits obuf-limits bitops scripting pubsub slowlog memefficiency lazyfree
    shutdown networking querybuf"""
REDIS_INTEGRATION = "replication-2 rdb aof logging redis-cli redis-benchmark convert-ziplist-hash-on-load"

TCL_TESTS = """append autoMkindex basic binary chan chanio clock cmdAH cmdIL cmdMZ compile concat
    encoding event exec execute expr fCmd fileName fileSystem for io ioCmd ioTrans interp lsort
    list lrange load main namespace oo parse pid process reg regexp rename scan socket string
    stringObj subst thread timer trace unixFCmd unixFile unixInit unixNotfy unload utf vwait
    winPipe zlib"""

SQLITE_TESTS = """select1 select2 select5 insert insert2 update delete trans trans2 index join join2
    malloc malloc5 mallocK memsubsys1 lock lock2 wal wal2 walmode thread001 thread1 thread2
    vacuum vacuum2 backup fts3aa journal1 pager1 temptable trigger1 fkey1
    with1 window1 json101 mmap1 shared shared2 savepoint"""

COREUTILS_TESTS = "misc/ tail-2/ split/ cat/ tee/ head/ cp/ mv/ rm/ sort/ install/ ln/ dd/ df/ du/ ls/"

STAGE_POSTGRES = """
    cp -a "$SOURCE/installed/pg" "$WORK/pg"
    mkdir -p "$WORK/regress"
    cp -a "$SOURCE"/src/test/regress/{sql,expected,data,parallel_schedule,resultmap,*.so,pg_regress} \
        "$WORK/regress/"
    printf '%s\\n' 'test: test_setup' >"$WORK/regress/schedule"
    grep '^test:' "$SOURCE/src/test/regress/parallel_schedule" | sed 1d | head -12 \
        >>"$WORK/regress/schedule"
"""

OTHERS = (
    Suite("servers after closefrom", 'exec "$PYTHON" -B "$HERE/scenarios/closefrom_server.py"',
          readers.tap, is_short=True, limit_s=60),
    Suite("programs", 'exec bash "$HERE/scenarios/programs.sh"', readers.tap, limit_s=240,
          is_short=False),
    Suite("jq", 'cd "$SOURCE/tests"; jq -L modules --run-tests jq.test; '
          'jq -L modules --run-tests base64.test', readers.jq, needs=("jq",), source=JQ,
          is_short=False),
    Suite("jq's scripts", 'cd "$SOURCE/tests"; mkdir -p "$WORK/bin"; '
          'export NO_VALGRIND=1; cp -a . "$WORK/tests"; ln -s "$(command -v jq)" "$WORK/jq"; cd "$WORK/tests"; '
          'for t in shtest base64test utf8test; do '
          'if bash ./$t >/dev/null; then echo "ok 1 - $t"; else echo "not ok 1 - $t"; fi; done',
          readers.tap, needs=("jq",), source=JQ),
    Suite("redis", 'cp -a "$SOURCE" "$WORK/redis"; cd "$WORK/redis"; exec ./runtest '
          "--clients 4 --timeout 120 " +
          " ".join(f"--single unit/{test}" for test in REDIS_TESTS.split()) + " " +
          " ".join(f"--single integration/{test}" for test in REDIS_INTEGRATION.split()),
          readers.redis, needs=("tclsh",), source=REDIS, limit_s=900),
    Suite("redis under load", 'exec bash "$HERE/scenarios/redis_load.sh" "$SOURCE/src"',
          readers.tap, source=REDIS, limit_s=120),
    Suite("nginx under load", 'exec "$PYTHON" -B "$HERE/scenarios/nginx_load.py" '
          '"$SOURCE/installed/sbin/nginx"', readers.tap, source=NGINX, limit_s=120),
    Suite("sshd's banners", 'exec "$PYTHON" -B "$HERE/scenarios/sshd_banners.py" "$SOURCE"',
          readers.tap, source=OPENSSH, limit_s=120),
    Suite("openssh", 'cd "$SOURCE"; exec make t-exec SKIP_UNIT=1 LTESTS="%s" OBJ="$WORK"'
          % " ".join(OPENSSH_TESTS.split()), readers.openssh, source=OPENSSH, limit_s=900),
    Suite("postgres", 'cd "$WORK/regress"; exec ./pg_regress --temp-instance="$WORK/instance" '
          '--bindir="$WORK/pg/bin" --inputdir=. --outputdir="$WORK/regress" --dlpath=. '
          '--max-connections=8 --schedule=schedule', readers.pg_regress, source=POSTGRES,
          stage=STAGE_POSTGRES, as_user=True, limit_s=300),
    Suite("postgres under load", 'exec bash "$HERE/scenarios/postgres_load.sh" "$WORK/pg/bin"',
          readers.tap, source=POSTGRES, stage=STAGE_POSTGRES, as_user=True, limit_s=180),
    Suite("chromium", 'exec bash "$HERE/scenarios/browser.sh" chromium', readers.tap,
          needs=("chromium",), as_user=True, limit_s=120),
    Suite("firefox", 'exec bash "$HERE/scenarios/browser.sh" firefox', readers.tap,
          needs=("firefox",), as_user=True, limit_s=120),
    Suite("tcl", 'cd "$SOURCE/unix"; LD_LIBRARY_PATH=. TCL_LIBRARY=../library '
          'exec ./tcltest ../tests/all.tcl -verbose "pass skip error" -tmpdir "$WORK" -singleproc 0 '
          '-file "%s"' % " ".join(f"{test}.test" for test in TCL_TESTS.split()), readers.tcltest,
          source=TCL, limit_s=600),
    Suite("sqlite", 'cd "$WORK"; for t in %s; do "$SOURCE/testfixture" "$SOURCE/test/$t.test"; done'
          % " ".join(SQLITE_TESTS.split()), readers.sqlite, needs=("tclsh",), source=SQLITE,
          limit_s=900),
    Suite("jemalloc", 'cd "$SOURCE"; for t in test/unit/*[a-z0-9_] test/integration/*[a-z0-9_]; do '
          'case "$t" in *.*) continue ;; esac; echo "=== $t ==="; '
          'bash test/test.sh "$t" 2>&1; done', readers.jemalloc, needs=("autoconf",),
          source=JEMALLOC, limit_s=600),
    Suite("mimalloc", 'cd "$SOURCE/build"; ./mimalloc-test-api 2>&1; ./mimalloc-test-api-fill 2>&1; '
          './mimalloc-test-stress 4 50 5 >/dev/null 2>&1 && '
          'echo "test: stress...  ok." || echo "test: stress...  failed."',
          readers.mimalloc, needs=("cmake",), source=MIMALLOC),
    Suite("coreutils", 'cp -a "$SOURCE" "$WORK/coreutils"; cd "$WORK/coreutils"; make -k check '
          'SUBDIRS=. RUN_EXPENSIVE_TESTS=no TESTS="$(cd "$SOURCE" && '
          'find %s -name "*.sh" -o -name "*.pl" | sort | tr "\\n" " ")" VERBOSE=no'
          % " ".join("tests/" + folder for folder in COREUTILS_TESTS.split()),
          readers.automake, source=COREUTILS, limit_s=900),
)


# Said in the table, so that nobody looks for them in vain.
LEFT_OUT = (
    ("lua", "its source package has no tests; its interpreter is one of the programs"),
    ("glibc", "its tests of malloc need a build of the whole C library, and then load that one"),
)


def all_suites(named_pythons=()):
    interpreters = pythons(named_pythons)
    suites = list(OTHERS)
    for version, path in interpreters:
        suites += cpython(version, path, (version, path) == interpreters[0])
    return suites
