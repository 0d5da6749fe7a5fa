"""What the documents of the profilers of Ascend wish: each feature and each file, and what leaktide makes of it.

Numbers are those of the recordings (ascend-profiler-files.md of the folder's reference) and of programs that are run here.
"""
import json
import os
import subprocess

import graded_devices as devices
import graded_recordings as recordings
import run
from graded import Row, faults_of_answer

MEGATRON, ALEXNET = recordings.MEGATRON, recordings.ALEXNET
OTHER_RANK = ALEXNET.replace("rank0", "rank1")
DATABASE = "ascend/db-202501/level0/rank0_ascend_pt"
OLDER = "ascend/text-202410/level0/rank0_ascend_pt"
UNIT = "ascend/unit/test_rank_1"
MINDSPORE = "made-up/mindspore26"
RAW = "the raw files"


def unequal(what, said, right):
    if said != right:
        yield "%s: %s, not %s" % (what, said, right)


def highest_of_counter(kit, path, counter):
    return [row["highest_bytes"] for row in kit.ask_tables("report", kit.recording(path))["samples"] if row["counter"] == counter]


def records(kit):
    return [fault for name in ("torch_npu 2.13", "torch 2.14 on CUDA") for fault in devices.story_of_run(kit, name)]


def chosen_steps(kit):
    """The documents' schedule: skip 2, wait 1, warm up 1, record 2."""
    path = devices.recorded_window(kit)
    rows = kit.ask_tables("steps", "--top=0", "--skip-first=2", "--wait=1", "--warmup=1", "--active=2", "--repeat=1", path)["steps"]
    yield from unequal("steps", sorted({row["step"] for row in rows}), [5, 6])


def environment_alone(kit):
    program, environment = devices.steps_program(kit)
    run_folder = os.path.join(kit.scratch, "alone")
    library = os.path.join(os.path.dirname(os.path.dirname(kit.leaktide)), "lib", "leaktide", "libascend_kernel_hook.so")
    options = json.dumps({"output_path": run_folder, "start_step": 10, "active": 8, "device": "npu"})
    subprocess.run([program], env={**environment, "LEAKTIDE_OPTIONS": options, "LD_PRELOAD": library}, check=True,
                   timeout=run.LIMIT_SECONDS, capture_output=True)
    yield from devices.faults_of_window(kit, run_folder)


def record_csv(kit):
    yield from unequal("peak", highest_of_counter(kit, ALEXNET, "PTA allocated"), [1245688832])
    yield from unequal("reserved", highest_of_counter(kit, ALEXNET, "PTA reserved"), [1522532352])


def operator_csv(kit):
    rows = kit.ask_tables("report", kit.recording(ALEXNET))["peaks"]
    yield from unequal("replay", [row["peak_bytes"] for row in rows if row["ledger"] == "pta device 0"], [510196224])


def modules_csv(kit):
    parts = {row["part"]: row["highest_bytes"] for row in kit.ask_tables("modules", kit.recording(MEGATRON))["process_account"]}
    for part, size in (("process", 12504285184), ("module HCCL", 1302016000), ("module SLOG", 166359040), ("unattributed", 99004416)):
        yield from unequal(part, parts.get(part), size)


def static_csv(kit):
    rows = kit.ask_tables("report", kit.recording(UNIT))["peaks"]
    peaks = {row["ledger"].split(",")[0]: round(row["peak_bytes"] / (1 << 20), 2) for row in rows}
    yield from unequal("graph 1", peaks.get("static graph 1"), 8.3)
    yield from unequal("graph 0", peaks.get("static graph 0"), 5.37)


def databases(kit):
    peaks = [highest_of_counter(kit, path, "PTA allocated") for path in (ALEXNET, DATABASE)]
    yield from unequal("counters of text and database", peaks[1], peaks[0])


def step_marks(kit):
    rows = kit.ask_tables("steps", kit.recording(DATABASE))["steps"]
    yield from unequal("steps", {row["step"] for row in rows}, {50})


def ranks_of_files(kit):
    rows = kit.ask_tables("info", kit.recording("ascend/text-202501/level0"))["processes"]
    yield from unequal("ranks", sorted(row["rank"] for row in rows), [0, 1])


def timeline(kit):
    for kind in ("perfetto", "chrome"):
        path = os.path.join(kit.scratch, kind)
        answer = kit.ask("export", "--to=" + kind, "-o", path, kit.recording(ALEXNET))
        yield from unequal(kind, (answer.status, os.path.exists(path) and os.path.getsize(path) > 10000), (0, True))
    with open(path) as file:
        events = json.load(file)
    names = {event.get("name", "") for event in (events["traceEvents"] if isinstance(events, dict) else events)}
    if not any("pta" in name for name in names):
        yield "no counter of the pool"


def operators_of_profile(kit):
    rows = kit.ask_tables("report", kit.recording(MEGATRON))["peaks"]
    yield from unequal("peak operator", [row["site"] for row in rows if row["ledger"] == "pta device 0"],
                       ["operator npu::npu_fusion_attention_grad"])


def components(kit):
    rows = kit.ask_tables("modules", kit.recording(MEGATRON))["components"]
    yield from unequal("of 100 MiB and more", [(row["component"], row["peak_bytes"]) for row in rows if row["kind"] == "module"],
                       [("APP", 10875830272), ("HCCL", 1302016000), ("SLOG", 166359040)])


def peak_region(kit):
    facts = json.loads(kit.ask("blocks", "--format=json", "--from=0.30s", "--to=0.32s", kit.recording(MEGATRON)).text)["facts"]
    yield from unequal("blocks", facts["block_count"], 667)


def two_cards(kit):
    for path, words in ((OTHER_RANK, "NO CHANGE of the peak"), (OLDER, "PEAK: -92.0 MiB of pta device 0")):
        answer = kit.ask("diff", kit.recording(ALEXNET), kit.recording(path))
        yield from unequal(os.path.dirname(path), answer.lines[0][:len(words)], words)


def cluster(kit):
    yield from faults_of_answer(kit.ask("ranks", kit.recording("ascend/text-202501/level0")), 0,
                                "2 ranks, and none differs from the others.")


def releases(kit):
    answer = kit.ask("diff", kit.recording(OLDER), kit.recording(ALEXNET))
    yield from faults_of_answer(answer, 0, "+92.0 MiB of pta device 0", "aten::_foreach_add")


def advisor(kit):
    answer = kit.ask("advice", kit.recording(MEGATRON))
    yield from faults_of_answer(answer, 0, "HCCL_BUFFSIZE", "torch.utils.checkpoint")


def between_steps(kit):
    path, stats = devices.gpt(kit, "npu", "", True)
    rows = kit.ask_tables("diff", "--steps=5,15", path)["ledger_changes"]
    grown, = [row["peak_bytes"] - row["base_peak_bytes"] for row in rows if row["ledger"] == "pta device 0"]
    if abs(grown / stats["kept_per_turn"] / 10 - 1) > devices.pairs.RATE_OFF_MOST:
        yield "the peak grew by %d B, a turn keeps %d" % (grown, stats["kept_per_turn"])


def mindspore_profile(kit):
    yield from faults_of_answer(kit.ask("report", kit.recording(MINDSPORE)), 0, "PEAK: 117 MiB of mindspore device 0",
                                "they do not belong together")


def activations(kit):
    rows = kit.ask_tables("breakdown", kit.recording(MEGATRON))["categories"]
    share = {row["category"]: row["share_percent"] for row in rows if row["ledger"] == "pta device 0"}
    if share.get("activations", 0) < 50 or share.get("unknown", 0) > 5:
        yield "%s percent" % share


def helps(kit):
    for words in (["--help"], ["-h"], ["--version"], ["completion", "bash"]):
        yield from unequal(" ".join(words), (kit.ask(*words).status, bool(kit.ask(*words).text)), (0, True))


OUTSIDE = "outside: nothing of memory is in it"
ROWS = [
    Row("record a job", "no change of the job; blocks, bytes and peaks to the byte", "memory_stats()", records),
    Row("schedule(skip_first, wait, warmup, active, repeat)", "the documents' example chooses steps 5 and 6 of a recording", "its own words", chosen_steps),
    Row("schedule, rates", "a leak in such windows: 64.0 KiB per step", devices.SOURCE, devices.window_of_schedule),
    Row("`prof.step()`", "ends a step", devices.SOURCE, devices.profiler_steps),
    Row("light marks (mstx)", "CANN's own module is recorded; torch_npu's `npu.mstx` is silent without its profiler", "docs/marks.md",
        read="B"),
    Row("dynamic profiler: a JSON file", "a relative name; from the first step on; the job goes on", devices.SOURCE,
        devices.window_of_file),
    Row("by the environment alone", "the documents' JSON in LEAKTIDE_OPTIONS, the library preloaded", devices.SOURCE, environment_alone),
    Row("offline analysis", "any recording or parsed profile, at any time: all tables here", "", read="A"),
    Row("offline analysis of raw PROF_* data", "not read", "", read="no"),
    Row("memory_record.csv", "counters: 1187.98 and 1452 MB", RAW, record_csv),
    Row("operator_memory.csv", "replay: 486.56 MB", RAW, operator_csv),
    Row("npu_module_mem.csv", "modules; less than 1 % unexplained", RAW, modules_csv),
    Row("static_op_mem.csv", "two graphs: 8.30 and 5.37 MiB", RAW, static_csv),
    Row("ascend_pytorch_profiler.db", "the counters of the text profile", RAW, databases),
    Row("ascend_mindspore_profiler.db", "no real one is at hand: a renamed file was read, once", "", read="B"),
    Row("step_trace_time, kernel_details, trace_view", "step 50", RAW, step_marks),
    Row("profiler_info, profiler_metadata", "ranks 0 and 1", RAW, ranks_of_files),
    Row("dataset.csv, minddata_*, op_statistic, api_statistic, l2_cache, communication*", OUTSIDE, "", read="outside"),
    Row("Insight: timeline", "Perfetto and Chrome export, with the pool's counter (of memory only)", RAW, timeline),
    Row("Insight: operators, of a profile", "the peak operator", RAW, operators_of_profile),
    Row("Insight: operators, of an own recording", "the framework's operators", devices.SOURCE, devices.peak_operators),
    Row("Insight: memory, components", "three of 100 MiB and more", RAW, components),
    Row("Insight: memory, a region", "667 blocks between 0.30 and 0.32 s", RAW, peak_region),
    Row("Insight: two cards", "two ranks: no change; two releases: -92.0 MiB", RAW, two_cards),
    Row("Insight: summary, communication", OUTSIDE, "", read="outside"),
    Row("cluster_analyse", "2 ranks, none differs", RAW, cluster),
    Row("compare_tools: NPU and NPU", "+92.0 MiB, `_foreach_add` for `add`", RAW, releases),
    Row("compare_tools: GPU and NPU", "pools of one place", devices.SOURCE, devices.vendors),
    Row("advisor", "HCCL_BUFFSIZE, and recompute", RAW, advisor),
    Row("msleaks: within a step", "leaks, with marks on the whole run or in a window", devices.SOURCE, devices.window_of_control),
    Row("msleaks: between steps", "`diff --steps=5,15`: ten times what a turn keeps", devices.SOURCE, between_steps),
    Row("MindSpore profile folder", "117 MiB; files that do not belong together", RAW, mindspore_profile),
    Row("MindSpore live, host", "the leak at its line, the mended one free of leaks", devices.SOURCE,
        lambda kit: devices.loop_of_run(kit, "MindSpore 2.10.0")),
    Row("MindSpore live, Ascend", "its plugin does not start without a device", "", read="not run"),
    Row("PyTorch live", "a clean run: \"No leak\"; the leak at its line and rate", devices.SOURCE,
        lambda kit: [*devices.clean(kit, "npu", ""), *devices.rate(kit, "npu", ""), *devices.clean(kit, "cuda", ""),
                     *devices.rate(kit, "cuda", "")]),
    Row("one step of a profile", "more than half of the peak is activations, unknown at most 5 %", RAW, activations),
    Row("completion, -v, -h", "there", "", helps),
    Row("\"no system memory left\"", "`account`: tests integration.account*", "docs/process-account.md", read="A"),
    Row("iteration trace, FLOPs, slow links, data queues", "not a memory tool", "", read="outside"),
]
