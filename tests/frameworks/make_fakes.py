"""Makes the vendors' libraries that a wheel asks for and that are not there.

For each library that a consumer (an ELF file) needs and that cannot be found, one with that soname is made. It has
every function that the consumer imports, under the right symbol version; each does nothing and returns 0. Functions
that must do something are in `fakes/` and take the place of the empty ones. Names that a consumer looks up by dlsym are
found among its strings. Needs binutils and a C compiler, x86-64 only.
"""

import glob
import os
import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fakes")
FLAGS = ["-O1", "-g", "-std=gnu11", "-fPIC"]


@dataclass
class Vendor:
    """consumers: patterns below the folder of packages. cores: sources of a soname. prefixes: where an import
    without a version belongs. strings: where a name that is only looked up belongs. folders: what else is looked for."""
    consumers: list
    providers: list
    cores: dict
    needs: dict = field(default_factory=dict)
    prefixes: dict = field(default_factory=dict)
    strings: dict = field(default_factory=dict)
    folders: tuple = ()


CUDA = Vendor(
    consumers=["torch/lib/libtorch_cuda.so", "torch/lib/libc10_cuda.so", "torch/lib/libtorch_python.so",
               "torch/lib/libtorch_cpu.so", "torch/lib/libtorch_nvshmem.so", "torch/lib/libtorch_cuda_linalg.so",
               "torch/lib/libtorch_global_deps.so"],
    providers=["torch/lib"],
    cores={"libcudart.so.13": ["cudart.c", "books.c"], "libcuda.so.1": ["cuda_driver.c", "books.c"],
           "libnvidia-ml.so.1": ["nvml.c"], "libcublas.so.13": ["cublas.c"], "libcudnn.so.9": ["cudnn.c"]},
    prefixes={"libnccl.so.2": "nccl", "libcusparseLt.so.0": "cusparseLt", "libcufile.so.0": "cuFile|cufile",
              "libnvshmem_host.so.3": "nvshmem", "libcurand.so.10": "curand", "libcuda.so.1": "cu[A-Z]",
              "libcusparse.so.12": "cusparse"},
    strings={"libnvidia-ml.so.1": r"nvml[A-Z]\w+",
             "libcuda.so.1": r"cu(?:Mem|Ctx|Device|Stream|Func|Launch|Module|Library|Kernel|Get|Occupancy|Link|Tensor|"
                             r"Event|Pointer|Multicast|GreenCtx|Graph)\w+"})

CANN = Vendor(
    consumers=["torch_npu/lib/libtorch_npu.so", "torch_npu/_C.*.so", "torch_npu/lib/libtensorpipe.so"],
    providers=["torch/lib", "torch_npu/lib"],
    cores={"libascend_hal.so": ["cann_hal.c", "books.c"], "libruntime.so": ["cann_rt.c"],
           "libascendcl.so": ["cann_acl.c", "books.c"], "libopapi.so": ["cann_opapi.c"],
           "libms_tools_ext.so": ["cann_mstx.c"]},
    needs={"libruntime.so": ["libascend_hal.so"], "libascendcl.so": ["libruntime.so", "libascend_hal.so"],
           "libacl_op_compiler.so": ["libascendcl.so"]},
    prefixes={"libhccl.so": "[Hh]ccl", "libge_runner.so": "_ZNK?2ge|_ZTIN2ge|_ZTVN2ge|ge[A-Z]",
              "libruntime.so": "rt[A-Z]", "libacl_op_compiler.so": "aclop|aclSetCompile|aclGenGraph",
              "libacl_tdt_channel.so": "acltdt", "libascendcl.so": "acl|Msprof"},
    strings={"libopapi.so": r"aclnn[A-Z]\w+", "libascendcl.so": r"[Aa]cl(?:rt|mdl|prof|sys)[A-Z]\w+",
             "libhccl.so": r"Hccl[A-Z]\w+"},
    folders=("runtime", "compiler", "opp"))


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", path))


def defined(path):
    return {line.split()[-1].split("@")[0] for line in output_of("nm", "-D", "--defined-only", path).splitlines()}


def imports(path):
    """Name and version of what must be there; weak ones may be absent."""
    for line in output_of("nm", "-D", "--undefined-only", path).splitlines():
        words = line.split()
        if words and words[-2] not in ("w", "v"):
            name, _, version = words[-1].partition("@")
            yield name, version.lstrip("@")


def library_of_versions(path):
    libraries, now = {}, None
    for line in output_of("readelf", "-VW", path).splitlines():
        found = re.search(r"File: (\S+)", line)
        now = found.group(1) if found else now
        found = re.search(r"Name: (\S+)\s+Flags", line)
        if found and now:
            libraries[found.group(1)] = now
    return libraries


class Wanted:
    """soname -> name -> version, of all consumers."""

    def __init__(self, vendor, folders):
        self.vendor = vendor
        self.names = defaultdict(dict, {soname: {} for soname in vendor.cores})
        self.there = set(re.findall(r"^\s*(\S+) \(", output_of("/sbin/ldconfig", "-p"), re.M))
        self.provided = set()
        for pattern in vendor.providers:
            for folder in folders:
                for path in glob.glob(os.path.join(folder, pattern, "*.so*")):
                    self.there.add(os.path.basename(path))
                    self.provided |= defined(path)
        for pattern in vendor.consumers:
            for folder in folders:
                for path in glob.glob(os.path.join(folder, pattern)):
                    self.add(path)

    def add(self, path):
        for soname in needed(path):
            if soname not in self.there or soname in self.vendor.cores:
                self.names.setdefault(soname, {})
        libraries = library_of_versions(path)
        for name, version in imports(path):
            soname = libraries.get(version) if version else self.by_prefix(name)
            if soname and (soname in self.names or soname not in self.there):
                self.names[soname].setdefault(name, version)
        self.add_strings(path)

    def by_prefix(self, name):
        if name in self.provided:
            return None
        return next((soname for soname, pattern in self.vendor.prefixes.items() if re.match(pattern, name)), None)

    def add_strings(self, path):
        text = output_of("strings", "-n", "4", path) if self.vendor.strings else ""
        for soname, pattern in self.vendor.strings.items():
            for name in re.findall(r"(?:^|\W)(%s)$" % pattern, text, re.M):  # linkers share the ends of strings
                if name[0].isupper() and soname != "libhccl.so":
                    name = name[0].lower() + name[1:]
                if not any(name in names for names in self.names.values()):
                    self.names[soname].setdefault(name, "")


def compile_core(soname, sources, base):
    objects = []
    for source in sources:
        made = "%s.%s.o" % (base, source)
        subprocess.run(["cc", *FLAGS, '-DFAKE_BOOKS_NAME="%s"' % soname, "-c", os.path.join(HERE, source), "-o", made],
                       check=True)
        objects.append(made)
    return objects


def write_stubs(path, names, own):
    with open(path, "w") as file:
        file.write(".text\n")
        for name in sorted(set(names) - own):
            if re.match(r"_ZT[VIST]", name):
                file.write('.data\n.globl "%s"\n.type "%s",@object\n.size "%s",512\n"%s": .zero 512\n.text\n' %
                           (name, name, name, name))
            else:
                file.write('.globl "%s"\n.type "%s",@function\n"%s": xorl %%eax,%%eax\nret\n' % (name, name, name))
        file.write('.section .note.GNU-stack,"",@progbits\n')


def write_versions(path, names, own):
    """False when no name has a version. What is by hand and was not asked for gets the first one."""
    by_version = defaultdict(list)
    for name, version in sorted(names.items()):
        by_version[version].append(name)
    loose = sorted(own - set(names)) + by_version.pop("", [])
    with open(path, "w") as file:
        for i, (version, list_of) in enumerate(by_version.items()):
            file.write("%s { global: %s };\n" % (version, " ".join("%s;" % n for n in list_of + (loose if not i else []))))
    return bool(by_version)


def make_library(vendor, soname, names, out):
    base = os.path.join(out, soname + ".gen")
    objects = compile_core(soname, vendor.cores.get(soname, []), base)
    own = {line.split()[-1] for made in objects
           for line in output_of("nm", "--defined-only", "-g", made).splitlines() if len(line.split()) == 3}
    write_stubs(base + ".s", names, own)
    flags = ["-Wl,--version-script=" + base + ".map"] if write_versions(base + ".map", names, own) else []
    subprocess.run(["cc", "-shared", "-o", os.path.join(out, soname), base + ".s", *objects, "-Wl,-soname," + soname,
                    "-Wl,--no-as-needed", *flags, "-L" + out, *["-l:" + name for name in vendor.needs.get(soname, [])],
                    "-lpthread", "-ldl"], check=True, stderr=subprocess.DEVNULL)


def make(vendor, folders, out):
    """All libraries that what is installed in folders asks for, below the folder out, in lib64."""
    libraries = os.path.join(out, "lib64")
    for name in ("lib64", *vendor.folders):
        os.makedirs(os.path.join(out, name), exist_ok=True)
    wanted = Wanted(vendor, folders).names
    for soname in list(vendor.cores) + [name for name in wanted if name not in vendor.cores]:
        make_library(vendor, soname, wanted[soname], libraries)
