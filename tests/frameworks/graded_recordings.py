"""Recordings of other people: what was found wrong with each kind, and what is right.

Expected values were computed from the raw files (README.md of the folder that holds them), never by leaktide.
"""
import gzip
import json
import os
import re
import shutil

from graded import Row, faults_of_answer

SOURCE = "found-3/README.md"
ALEXNET = "ascend/text-202501/level0/rank0_ascend_pt"
MEGATRON = "ascend/st-level2/rank_0_ascend_pt"
BERT = "found-3/kineto/h100_gaunernst_bert-small-uncased__1016001.json.gz"
QWEN = "found-3/kineto/h100_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"
NO_POOL = "found-3/kineto/mi300_ddp_resnet18_no_pool_train_resnet18.json.gz"
DERIVED = "found-3/kineto/derived_%s_leak_%s.json.gz"
VERL = "found-3/snapshot/verl_mem.pickle"
DOCUBOX = "found-3/snapshot/docubox_dump_snapshot.pickle"
CUT_PROFILE = "found-3/ascend/operator_memory_rank1_trimmed.csv"
PEAKS = {ALEXNET: 1245688832, MEGATRON: 10782243840}  # "Total Allocated" of PTA, the highest
LEAK_BYTES = 8607232                                  # in each iteration of the derived traces
RAISED_BYTES = 512 << 20
LEAK_POLICY = "[leak]\n"
PEAK_POLICY = '[device."*"]\npeak_live = "1 GiB"\n'
GROWTH_POLICY = '[baseline]\nfile = "leaktide.base"\n[device."npu:*".pool.pta]\npeak_live = { rel = "+2%" }\n'


def gate_cases(kit, policy, *paths):
    path = kit.file("leaktide.toml", policy)
    answer = kit.ask("gate", "--format=json", "--policy", path, *paths)
    return answer.status, json.loads(answer.text)["cases"]


def value_of(cases, key):
    values = [case["value"] for case in cases if case["key"] == key]
    return values[0] if len(values) == 1 else values


# --- G1 ---

def counted_peak(kit):
    for path, peak in PEAKS.items():
        for kind, value in (("gate", counted_by_gate(kit, path)), ("report", counted_by_report(kit, path))):
            if value != peak:
                yield "%s of %s: %s, not %d" % (kind, path.split("/")[1], value, peak)


def counted_by_gate(kit, path):
    return max(case["value"] or 0 for case in gate_cases(kit, PEAK_POLICY, kit.recording(path))[1]
               if case["key"].endswith("/pta/peak_live"))


def counted_by_report(kit, path):
    rows = kit.ask_tables("report", kit.recording(path))["samples"]
    return max(row["highest_bytes"] for row in rows if row["counter"] == "PTA allocated")


def raised(kit, path):
    """The profile, with larger weights: each total of PTA is higher by RAISED_BYTES."""
    into = os.path.join(kit.scratch, "raised", os.path.basename(path))
    shutil.copytree(kit.recording(path), into, copy_function=shutil.copyfile)
    for folder, _, names in os.walk(into):
        os.chmod(folder, 0o755)
        for name in names:
            if name in ("operator_memory.csv", "memory_record.csv"):
                raise_totals(os.path.join(folder, name))
    return into


def raise_totals(path):
    with open(path, newline="") as file:
        lines = file.read().split("\n")
    header = lines[0].rstrip("\r").split(",")
    totals = [index for index, name in enumerate(header) if name.startswith(("Allocation Total", "Release Total", "Total "))]
    for number, line in enumerate(lines[1:], 1):
        cells = line.split(",")
        if len(cells) < len(header) or not is_of_pta(header, cells):
            continue
        for index in totals:
            if re.fullmatch(r"[\d.]+", cells[index].strip()):
                cells[index] = repr(float(cells[index]) + (RAISED_BYTES >> 20))
        lines[number] = ",".join(cells)
    with open(path, "w", newline="") as file:
        file.write("\n".join(lines))


def is_of_pta(header, cells):
    if "Component" in header:
        return cells[header.index("Component")].startswith("PTA")
    return not cells[0].startswith("cann::")


def planted_growth(kit):
    original, policy = kit.recording(ALEXNET), kit.file("leaktide.toml", GROWTH_POLICY)
    larger = raised(kit, ALEXNET)
    blessed = kit.ask("bless", "--policy", policy, original)
    if blessed.status:
        yield "bless: " + blessed.errors
    yield from faults_of_answer(kit.ask("gate", "--policy", policy, original), 0, "passed")
    yield from faults_of_answer(kit.ask("gate", "--policy", policy, larger), 1, "+512 MiB")
    yield from faults_of_answer(kit.ask("diff", original, larger), 0, "+512 MiB")


def fragments_of_gate(kit):
    """One share in both."""
    path = kit.recording(ALEXNET)
    cases = gate_cases(kit, '[device."npu:*".pool.pta]\nfrag = "99%"\n', path)[1]
    shares = {case["value"] for case in cases if case["key"].endswith("/pta/frag")}
    rows = [row for row in kit.ask_tables("frag", path)["fragmentation"] if row["ledger"].startswith("pta")]
    wanted = {round(10000 * (row["reserved_bytes"] - row["allocated_bytes"]) / row["reserved_bytes"]) for row in rows}
    if not shares & {share + off for share in wanted for off in (-1, 0, 1)}:
        yield "gate: %s, frag: %s hundredths of a percent" % (sorted(shares), sorted(wanted))


# --- G2, G3, G4 ---

def steps_once(kit):
    answers = [kit.ask("leaks", kit.recording(DERIVED % ("8steps", marks))) for marks in ("plain", "gpu_annotations")]
    rate = "%.2f MiB per step" % (LEAK_BYTES / (1 << 20))
    for answer in answers:
        yield from faults_of_answer(answer, 1, rate, never=("of 14 steps",))
    if answers[0].lines[0] != answers[1].lines[0]:
        yield "with the GPU's copies: %s, without: %s" % (answers[1].lines[0], answers[0].lines[0])


def one_step(kit):
    steps = [row for row in kit.ask_tables("steps", kit.recording(BERT)).get("steps", [])]
    numbers = {row["step"] for row in steps}
    if len(numbers) > 1:
        yield "%d steps, not 1" % len(numbers)


def few_steps(kit):
    for steps, marks in (("1steps", "plain"), ("3steps", "plain"), ("3steps", "gpu_annotations")):
        path = kit.recording(DERIVED % (steps, marks))
        yield from faults_of_answer(kit.ask("leaks", path), 4, never=("No leak",))
        yield from faults_of_answer(kit.gate(LEAK_POLICY, path), 4, never=("Memory gate passed",))


def few_steps_together(kit):
    paths = [kit.recording(path) for path in (BERT, QWEN)]
    for chosen in (paths[:1], paths[1:], paths):
        yield from faults_of_answer(kit.ask("leaks", *chosen), 4, never=("No leak",))
    yield from faults_of_answer(kit.ask("diff", *paths), kit.ask("diff", *paths).status, never=("none before, and none now",))


def cut_profile(kit):
    whole = kit.recording(ALEXNET + "/ASCEND_PROFILER_OUTPUT/operator_memory.csv")
    with open(whole, newline="") as file:
        text = file.read()
    for share in (50, 90):
        path = kit.file("operator_memory.csv", text[:len(text) * share // 100])
        for partial in ([], ["--partial"]):
            answer = kit.ask("leaks", *partial, path)
            if answer.status in (0, 1) or "No leak:" in answer.text:
                yield "cut at %d %%: exit %d, %s" % (share, answer.status, (answer.text or answer.errors)[:120])


def device_without_memory(kit):
    path = kit.recording(NO_POOL)
    yield from faults_of_answer(kit.ask("leaks", path), 4, "20 kernels", never=("No leak",))
    yield from faults_of_answer(kit.gate(LEAK_POLICY, path), 4, never=("Memory gate passed",))


# --- G5, G6 ---

def with_device_type(kit, number):
    with gzip.open(kit.recording(QWEN), "rt") as file:
        text = file.read()
    text, count = re.subn(r'"Device Type": *1\b', '"Device Type": %d' % number, text)
    assert count, "no device of type 1"
    return kit.file("type%d.json" % number, text)


def own_variable(kit):
    """Types of devices of PyTorch: 1 CUDA, 6 HIP, 12 XPU, 13 MPS, 19 MTIA."""
    wanted = {1: "PYTORCH_CUDA_ALLOC_CONF"}
    for number in (1, 6, 12, 13, 19):
        text = kit.ask("advice", with_device_type(kit, number)).text
        if "NPU" in text:
            yield "type %d is told of NPU" % number
        if wanted.get(number, "") not in text:
            yield "type %d is not told of %s" % (number, wanted[number])
        if number != 1 and "CUDA_ALLOC_CONF" in text:
            yield "type %d is told of CUDA" % number


def stacks_of_trace(kit):
    path = kit.recording(BERT)
    rows = kit.ask_tables("blocks", "--top=0", path)["blocks"]
    largest = [row for row in rows if row["size_bytes"] == LEAK_BYTES]
    if not largest or not any("modeling_bert.py" in json.dumps(row) for row in largest):
        yield "the largest block (%d B) is not of modeling_bert.py" % LEAK_BYTES
    text = kit.ask("report", path).text
    if "has no call stacks" in text:
        yield "says that a trace has no call stacks"
    if re.search(r"PEAK: .*held by operator aten::empty\b", text):
        yield "the first holder is aten::empty"


# --- G7, G8 ---

def states(kit):
    for path, size in ((DOCUBOX, 90861056), (VERL, 25483614352)):
        answer = kit.ask("report", kit.recording(path))
        if "by how long blocks live" in answer.text:
            yield "%s: older blocks of a state have a probability" % os.path.basename(path)
        held = sum(row["held_bytes"] for row in kit.ask_tables("breakdown", kit.recording(path)).get("categories", []))
        if held != size:
            yield "%s: breakdown of %d B, not %d" % (os.path.basename(path), held, size)


def caches_of_library(kit):
    path = kit.recording(VERL)
    answer = kit.ask("report", path)
    first = "\n".join(answer.lines[:6])
    if "_allocate_kv_cache" not in first:
        yield "not named at once: _allocate_kv_cache"
    if "held by __init__ (vllm_rollout_spmd.py" in answer.text:
        yield "the line of the program hides it"
    rows = kit.ask_tables("breakdown", path)["categories"]
    cache = sum(row["held_bytes"] for row in rows if "cache" in row["category"])
    if round(cache / (1 << 30), 2) != 20.28:
        yield "KV cache: %.2f GiB, not 20.28" % (cache / (1 << 30))


ROWS = [
    Row("G1", "`peak_live` of an Ascend profile is the pool's own highest counter: 1,245,688,832 B and 10,782,243,840 B, in gate "
        "as in report", SOURCE, counted_peak),
    Row("G1", "512 MiB more in each total of PTA fail a gate of +2 %, and `diff` says +512 MiB", "raised by the script",
        planted_growth),
    Row("G1", "`frag` of a gate is the share that `leaktide frag` says", "both computed", fragments_of_gate),
    Row("G2", "8 iterations: 8.21 MiB per step with the GPU's copies of marks, as without", SOURCE, steps_once),
    Row("G2", "one `ProfilerStep#6`, once on the host and once on the GPU: 1 step", SOURCE, one_step),
    Row("G3", "1 and 3 leaking iterations: exit 4, no gate passes", SOURCE, few_steps),
    Row("G3", "two traces of one step, each alone and together: exit 4; `diff` does not call them free of leaks", SOURCE,
        few_steps_together),
    Row("G3", "operator_memory.csv, cut at 50 and 90 %: never \"No leak\"", "cut by the script", cut_profile),
    Row("G4", "kernels ran on a device, no memory of it was recorded: exit 4, with the kernels' number", SOURCE,
        device_without_memory),
    Row("G5", "advice names the variable of its vendor, for five types of devices", "types changed by the script", own_variable),
    Row("G6", "the Python functions of a trace are its stacks: 8,607,232 B at `modeling_bert.py`", SOURCE, stacks_of_trace),
    Row("G7", "older blocks of a state have no probability, and all bytes stand in the breakdown", SOURCE, states),
    Row("G8", "20.28 GiB of `_allocate_kv_cache` are named at once, and are a cache", SOURCE, caches_of_library),
]
