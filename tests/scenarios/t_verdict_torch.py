# SPDX-License-Identifier: MIT
"""The verdict on operators and Python's lines: ten steps of a millisecond, made up
with one cause each."""

import json
import os

import harness
from harness import command, expect, expect_equal


FILES = []  # of this test, oldest first


def slices(name, start, dur, cat="cpu_op"):
    return {"ph": "X", "cat": cat, "name": name, "pid": 7, "tid": 7,
            "ts": start, "dur": dur, "args": {}}


def first(fill, ours=None):
    """The first finding on steps that `fill(start)` makes the content of."""
    events = []
    for number in range(10):
        start = 1000 + number * 1000
        events.append(slices(f"ProfilerStep#{number}", start, 1000, "user_annotation"))
        events += fill(start)
    return first_of(events, ours)


def first_of(events, ours=None):
    path = os.path.join(harness.folder(), "made_7.1.pt.trace.json")
    FILES.append(path)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "traceEvents": events}
                  | ({"traceprof": ours} if ours else {}), file)
    done = command("report", "--json", path)
    expect_equal(done.status, 0, done.stderr)
    findings = json.loads(done.stdout)[0]["findings"]
    return findings[0] if findings else None


def is_found(finding, rule, *words):
    expect(finding and finding["rule"] == rule, rule, finding)
    for word in words:
        expect(word in finding["figure"], word, finding)


def many(*names):
    return lambda start: [slices(name, start + 6 * number + 1, 4)
                          for number in range(150) for name in [names[number % len(names)]]]


def test_a_loop_over_small_tensors_is_named_by_its_operator():
    is_found(first(many("aten::mul")), "short-operators", "150 calls of aten::mul a step")


def test_a_loop_is_named_by_what_the_program_calls():
    """Not by what that calls in its turn, where most of the time goes."""
    def fill(start):
        return [one for number in range(150) for one in (
            slices("aten::mul_", start + 6 * number + 1, 5),
            slices("aten::to", start + 6 * number + 1.5, 4))]
    is_found(first(fill), "short-operators", "150 calls of aten::mul_ a step")


def test_an_operator_over_a_list_is_no_loop_of_pythons():
    """It calls one for each tensor, as short; it is what the rule advises."""
    def fill(start):
        return [slices("aten::_foreach_sqrt", start, 900)] + [
            slices("aten::sqrt", start + 6 * number + 1, 5) for number in range(145)]
    expect_equal(first(fill), None)


def compiled(name, start, took, times=1):
    """Beside the thread, as ranges are; times: on so many lanes at once."""
    return [slices(name, start, took, "user_annotation") | {"tid": 10000007 + lane}
            for lane in range(times)]


def test_a_function_that_is_compiled_again_and_again():
    """By each line and function, whatever of it JAX tells; what is compiled within
    another or beside it counts once."""
    def fill(start):
        line = "jax.jit: %s <lambda>, train.py(7)"
        return [*compiled(line % "trace", start, 100), *compiled(line % "lower", start + 100, 50),
                *compiled("jax.jit: trace inner, train.py(3)", start + 20, 60),
                *compiled("jax.jit: compile inner, train.py(3)", start + 150, 10),
                *compiled(line % "compile", start + 150, 250, 2),
                *compiled(f"jax.jit: compile f{start // 4000}, a.py(1)", start + 500, 90)]
    found = first(fill)
    is_found(found, "compiled-again", "<lambda>, train.py(7) is compiled 20 times",
             "and 1 more")
    # Two of 30 compilations are each function's first.
    expect_equal(round(found["saved_ns"] / 1000), round(10 * 400 * 28 / 30), found)
    found = first(lambda start: compiled(
        f"torch.compile: train.py(6): f [0/{start // 1000}]", start, 300))
    is_found(found, "compiled-again", "train.py(6): f is compiled 10 times, 300.0 us")
    expect("TORCH_LOGS=recompiles" in found["next"], found)


def with_slow_steps(*others):
    """Of 40 steps of 1 ms six that compile for 20 ms, more than they take else, and
    `others` that sleep for 9 ms: the rules that find something, and their figures."""
    events, start = [], 100000
    for number in range(40):
        more = 20000 if number in (3, 4, 11, 20, 26, 33) else 9000 if number in others else 0
        events.append(slices(f"ProfilerStep#{number}", start, 1000 + more, "user_annotation"))
        events.append(slices("aten::mm", start + 1, 900))
        if more == 20000:
            events += compiled("jax.jit: compile f, train.py(7)", start + 950, more)
        start += 1000 + more
    path = os.path.join(harness.folder(), "made_7.1.pt.trace.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "traceEvents": events}, file)
    (found,) = json.loads(command("report", "--json", path).stdout)
    return {one["rule"]: one["figure"] for one in found["findings"]}


def test_steps_that_are_slow_for_what_is_compiled_again_are_no_outliers():
    """The cause and its line come first, not that some steps are slow; others are."""
    found = with_slow_steps()
    expect("compiled 6 times" in found.get("compiled-again", ""), found)
    expect("outliers" not in found, found)
    found = with_slow_steps(15, 29, 31)
    expect("compiled 6 times" in found.get("compiled-again", ""), found)
    expect("3 of 40 steps are slow, step 15 takes" in found.get("outliers", ""), found)


def test_what_is_compiled_once_is_not_said():
    """Each step's own function or line, backward passes, which have no names, and
    those of versions that tell no function; and what takes next to nothing."""
    for name in ("jax.jit: compile f%d, train.py(7)", "jax.jit: compile f, train.py(%d)",
                 "jax.jit: compile, train.py(7)", "torch.compile: backward [0/%d]",
                 "torch.compile: train.py(%d): f [0/0]", "torch.compile", "jax.jit: compile"):
        expect_equal(first(lambda start: compiled(
            name % start if "%" in name else name, start, 300)), None, name)
    expect_equal(first(lambda start: compiled("jax.jit: compile f, a.py(7)", start, 50)),
                 None, "little")
    few = lambda start: compiled("jax.jit: compile f, a.py(7)", start,
                                 500 if start < 5000 else 0.1) if start < 5000 else []
    expect_equal(first(few), None, "four times")


def test_places_are_counted_from_the_recording_s_start():
    """Not from the first slice, which may come much later; and not from the first
    of a part of it."""
    events = [slices("PyTorch Profiler (0)", 100, 500000, "Trace")]
    for number in range(10):
        start = 200100 + number * 1000 + (20000 if number > 4 else 0)
        events.append(slices(f"ProfilerStep#{number}", start,
                             21000 if number == 4 else 1000, "user_annotation"))
        events.append(slices("aten::contiguous", start + 1, 900))
    path = os.path.join(harness.folder(), "made_7.1.pt.trace.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "traceEvents": events}, file)
    for options in ((), ("--step", "2:9"), ("--from", "202ms")):
        (found,) = json.loads(command("report", "--json", *options, path).stdout)
        places = {one["rule"]: one.get("place", "") for one in found["findings"]}
        expect("step 4, 204.0 ms after the start" in places["outliers"], options, places)


def test_steps_that_vary_are_no_outliers():
    """Eight of twenty take longer; of one in seven it is said."""
    for lengths, wanted in (([1000, 1000, 3000, 1000, 2600] * 4, False),
                            ([1000] * 4 + [9000] + [1000] * 2, True)):
        start, events = 1000, []
        for number, length in enumerate(lengths):
            events.append(slices(f"ProfilerStep#{number}", start, length, "user_annotation"))
            start += length
        path = os.path.join(harness.folder(), "made_7.1.pt.trace.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "traceEvents": events}, file)
        (found,) = json.loads(command("report", "--json", path).stdout)
        expect_equal("outliers" in [one["rule"] for one in found["findings"]], wanted,
                     found["findings"])


def test_regions_of_a_class_are_no_operators():
    """As tesseract's, which knows nothing of Python."""
    for name in ("tesseract::LSTM::Forward [omp parallel #1]", "net::f [omp task]"):
        finding = first(many(name))
        expect(not finding or finding["rule"] != "short-operators", name, finding)


def test_calls_are_counted_not_guessed_from_their_times():
    """Longer ones before the steps."""
    def fill(start):
        before = [slices("aten::mul", 6 * number + 1, 5.9) for number in range(150)]
        return many("aten::mul")(start) + (before if start == 1000 else [])
    is_found(first(fill), "short-operators", "150 calls of aten::mul a step")


def test_values_that_are_read_one_by_one():
    def fill(start):
        return [one for number in range(150) for one in (
            slices("aten::select", start + 6 * number + 1, 2),
            slices("aten::item", start + 6 * number + 3.5, 2))]
    is_found(first(fill), "short-operators", "150 calls of .item() a step")


def test_a_value_read_beside_other_work_is_no_cause():
    """A loop over parameters that divides by float(norm) in each round."""
    def fill(start):
        return [slices(name, start + 9 * number + at + 1, 0.9)
                for number in range(105)
                for at, name in enumerate(("aten::item", "aten::div", "aten::mul_", "aten::add_",
                                           "aten::mul_", "aten::sub_", "aten::copy_"))]
    is_found(first(fill), "short-operators", "210 calls of aten::mul_ a step")


def test_to_pick_a_value_may_take_two_operators():
    """logits[i].argmax().item() == labels[i].item()"""
    def fill(start):
        return [slices(name, start + 8 * number + at + 1, 0.9)
                for number in range(110)
                for at, name in enumerate(("aten::select", "aten::argmax", "aten::item",
                                           "aten::select", "aten::item"))]
    is_found(first(fill), "short-operators", "220 calls of .item() a step")


def test_an_operator_s_function_is_named_or_asked_for():
    def fill(start):
        return [slices("train.py(3): step", start, 999, "python_function"),
                slices("train.py(9): slow", start + 0.5, 950, "python_function"),
                slices("torch/nn/modules/module.py(7): _call", start + 0.6, 940, "python_function"),
                *many("aten::mul")(start)]
    found = first(fill)
    is_found(found, "short-operators", "most in train.py(9): slow")
    expect("TRACEPROF_PYTHON" not in found["next"], found)
    found = first(many("aten::mul"))
    expect("In which function: TRACEPROF_PYTHON=1 python" in found["next"], found)
    expect("most in" not in found["figure"], found)


def called(name, start, dur, line, below=False):
    return slices(name, start, dur) | {
        "args": {"called below" if below else "called from": line}}


def test_the_line_of_a_loop_over_parameters():
    """Where each millisecond one operator tells its line: not the model's, whose
    layers take more, and not what runs backward, which no line calls."""
    def fill(start):
        engine = "autograd::engine::evaluate_function: MulBackward0"
        return [one for number in range(110) for one in (
            slices(engine, start + 9 * number, 4),
            called("aten::linear", start + 9 * number + 4, 3, "train.py(9): step", True)
            if number % 30 == 7 else slices("aten::linear", start + 9 * number + 4, 3),
            called("aten::mul", start + 9 * number + 7.5, 1, "train.py(13): update")
            if number % 40 == 3 else slices("aten::mul", start + 9 * number + 7.5, 1))]
    found = first(fill)
    is_found(found, "short-operators", "110 calls of aten::mul a step",
             "most in train.py(13): update")
    expect("TRACEPROF_PYTHON" not in found["next"], found)
    text = command("report", FILES[-1]).stdout.split("Verdict: ")[1]
    expect("\nby line that calls operators: train.py(9): step 57 %, train.py(13): update 43 %"
           in text, text)
    lines = text.splitlines()
    expect(lines[1].startswith("1. ") and "train.py(13): update" in lines[1] + lines[2],
           "what is found comes first", text)


def test_a_model_s_layers_are_named_where_the_program_calls_little():
    def fill(start):
        return [one for number in range(110) for one in (
            called("aten::linear", start + 9 * number, 3, "train.py(9): step", True)
            if number % 5 == 2 else slices("aten::linear", start + 9 * number, 3),
            called("aten::mul", start + 9 * number + 4, 1, "train.py(13): update")
            if number == 99 else slices("aten::mul", start + 9 * number + 4, 1))]
    is_found(first(fill), "short-operators", "110 calls of aten::linear a step",
             "most in train.py(9): step")


def test_the_line_of_a_wait_for_the_gpu():
    """By the operator around it that was asked where it is called from, as few are;
    another's, called elsewhere, is not what waits."""
    def fill(start):
        events = []
        for number in range(3):
            at = start + 333 * number
            line = "train.py(9): watch" if number == 1 else "train.py(5): print"
            asked = number == 1 or start == 5000
            item = slices("aten::item", at + 20, 110)
            events += [
                slices("cudaLaunchKernel", at, 5, "cuda_runtime") | {
                    "args": {"correlation": start + number}},
                slices("gemm", at + 10, 100, "kernel") | {
                    "pid": 0, "args": {"device": 0, "stream": 7,
                                       "correlation": start + number}},
                called("aten::mul", at + 6, 1, "train.py(20): update"),
                item | {"args": {"called from": line}} if asked else item,
                slices("aten::_local_scalar_dense", at + 21, 108),
                slices("cudaStreamSynchronize", at + 22, 100, "cuda_runtime")]
        return events
    is_found(first(fill), "needless-sync", "in aten::_local_scalar_dense, most from "
             "train.py(9): watch")


def test_few_or_long_operators_are_no_loop():
    def fill(start):
        return [slices("aten::mm", start + 90 * number + 1, 80) for number in range(11)]
    found = first(fill)
    expect(not found or found["rule"] != "short-operators", found)


def test_copies_to_another_layout():
    def fill(start):
        return [slices("aten::contiguous", start + 100, 400),
                slices("aten::clone", start + 110, 380)]
    is_found(first(fill), "copied-layout", "400.0 us a step", "aten::contiguous, 1 calls")


def test_a_training_without_steps_is_judged_without_what_comes_before():
    """What is imported and loaded takes ten times as long here."""
    events = [slices("import torch", 1000, 100000, "python_function")]
    for number in range(10):
        start = 101000 + number * 1000
        events += [slices("phase: forward", start, 600, "user_annotation") | {"tid": 1000007},
                   slices("phase: backward", start + 600, 300, "user_annotation")
                   | {"tid": 1000007}, slices("aten::contiguous", start + 10, 400)]
    found = first_of(events)
    is_found(found, "copied-layout", "aten::contiguous, 10 calls")
    expect_equal(round(100 * found["share"]), 40, found)
    # Without anything that goes backward it is no training.
    for event in events:
        event["name"] = event["name"].replace("backward", "other")
    expect_equal(first_of(events), None)


def test_copies_for_a_shape():
    def fill(start):
        return [slices("aten::reshape", start + 100, 400),
                slices("aten::clone", start + 110, 380),
                slices("aten::copy_", start + 111, 370)]
    is_found(first(fill), "copied-layout", "380.0 us a step", "aten::reshape, 1 calls")


def test_copies_for_onednn_s_layout():
    def fill(start):
        return [one for at in (100, 500) for one in (
            slices("aten::mkldnn_convolution", start + at, 390),
            slices("dnnl::primitive::execute: reorder", start + at + 1, 150, "user_annotation"))]
    is_found(first(fill), "copied-layout", "300.0 us a step", "execute: reorder, 2 calls")


def test_a_copy_in_a_copy_counts_once():
    def fill(start):
        return [slices("aten::contiguous", start + 100, 300),
                slices("aten::reshape", start + 101, 290),
                slices("aten::clone", start + 102, 280)]
    is_found(first(fill), "copied-layout", "300.0 us a step")


def test_a_clone_that_is_asked_for_is_no_layout():
    def fill(start):
        return [slices("aten::reshape", start + 100, 2),
                slices("aten::clone", start + 110, 380)]
    found = first(fill)
    expect(not found or found["rule"] != "copied-layout", found)


def test_a_function_of_python_that_takes_most():
    def fill(start):
        return [slices("train.py(3): step", start + 1, 900, "python_function"),
                slices("train.py(9): slow", start + 100, 500, "python_function")]
    is_found(first(fill), "python", "500.0 us a step in the code of train.py(9): slow")


def test_the_function_that_makes_data_late():
    def fill(start):
        return [slices("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                       start + 1, 700, "user_annotation"),
                slices("torch/utils/data/dataloader.py(7): _next_data", start + 2, 690,
                       "python_function"),
                slices("train.py(3): collate", start + 100, 500, "python_function"),
                slices("train.py(9): row", start + 200, 100, "python_function")]
    is_found(first(fill), "data-starved", "most of all for train.py(3): collate")

    def unnamed(start):
        return fill(start)[:1]
    for part, is_said in ((fill, False), (unnamed, True)):
        found = first(part)
        expect("num_workers=0" in found["next"], found)
        expect(("TRACEPROF_PYTHON=1" in found["next"]) == is_said, found)


def test_what_workers_do_is_in_their_traces():
    """The function of the queue that waits for them is none of the program's."""
    def fill(start):
        return [slices("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                       start, 700, "user_annotation"),
                slices("multiprocessing/queues.py(98): get", start + 1, 690,
                       "python_function")]
    finding = first(fill)
    is_found(finding, "data-starved")
    expect("queues" not in finding["figure"], finding)
    expect("TRACEPROF_CHILDREN=all" in finding["next"], finding)
    expect("TRACEPROF_PYTHON" not in finding["next"], finding)
    for options, is_there in (({"CHILDREN": "all", "SAMPLE": "499"}, True),
                              ({"CHILDREN": "all", "SAMPLE": "0"}, False)):
        said = first(fill, {"options": options})["next"]
        expect_equal(said.startswith("the workers' traces name the line"), is_there, said)


if __name__ == "__main__":
    harness.main()
