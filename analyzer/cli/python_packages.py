# Run by leaktide doctor: a line of the interpreter, then "name version" of what it has to do with.
import sys

print(sys.implementation.name, ".".join(map(str, sys.version_info[:3])), sys.executable)
try:
    from importlib import metadata
except ImportError:  # before Python 3.8
    sys.exit(0)
for name in ("torch", "torch_npu", "mindspore", "tensorflow", "jax", "onnxruntime", "pyopencl", "vllm", "deepspeed",
             "numpy", "pytest", "leaktide"):
    try:
        print(name, metadata.version(name))
    except metadata.PackageNotFoundError:
        pass
