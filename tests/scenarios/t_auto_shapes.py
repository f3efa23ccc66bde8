# SPDX-License-Identifier: MIT
"""TRACEPROF_STEP=auto on programs as people write them (tests/steps/kernels.c): the
step that a person would name, with a schedule and without, on each rank of a job."""

import os
import re
import shutil
import subprocess
import time

import harness
from harness import Skip, command, compile_program, expect, expect_equal, same

SCHEDULE = {"TRACEPROF_WAIT": "3", "TRACEPROF_ACTIVE": "2", "TRACEPROF_REPEAT": "1"}


def kernels():
    return compile_program("../steps/kernels.c", "-fopenmp", "-lm", name="kernels")


def expect_shape(name, steps, marker, size=()):
    """`marker`: the region that comes once in each step."""
    program = kernels()
    run = same(program, name, *map(str, size))
    expect_equal(run.trace.steps(), list(range(steps)), f"steps of {name}")
    for step, region in zip(run.trace.slices("ProfilerStep#*"), run.trace.regions(marker)):
        expect(step["ts"] <= region["ts"] <= step["ts"] + step["dur"], step, region)
    window = same(program, name, *map(str, size), env=SCHEDULE)
    expect_equal([trace.steps() for trace in window.traces], [[3, 4]], f"window of {name}")
    expect_equal(len(window.trace.regions(marker)), 2, f"{marker} in the window")
    expect("passed" not in window.trace.meta["step"], window.trace.meta["step"])


def test_a_transformer_that_is_validated_first_and_generates_last():
    expect_shape("validated_transformer", 60, "adam")


def test_an_attention_kernel_that_is_called_many_times_a_batch():
    expect_shape("attention_batches", 20, "adam")


def test_a_multigrid_solver():
    expect_shape("multigrid", 40, "norm")


def test_a_hydrodynamics_code():
    expect_shape("hydro", 163, "density")


def test_a_regular_loop_of_two_regions():
    expect_shape("lattice", 300, "collide")


def test_boosting_of_several_classes():
    expect_shape("trees_of_classes", 20, "gradients", (20,))


def test_what_comes_first_late_in_the_run():
    """A load in 20 parts, Newton's steps in each, and hundreds of iterations in some of
    those: of the first thousand regions two begin a part."""
    program = compile_program("../steps/nested.c", "-fopenmp", "-lm", name="nested")
    run = same(program, "parts")
    expect_equal(run.trace.steps(), list(range(20)), run.stderr)


def test_what_begins_once_in_thousands_of_regions():
    """Time steps, and hundreds of turns of a solver in each: two begin in the first 8192."""
    program = compile_program("../steps/nested.c", "-fopenmp", "-lm", name="nested")
    run = same(program, "diffuse")
    expect_equal(run.trace.steps(), list(range(20)), run.stderr)


def test_one_region_that_is_called_from_several_places():
    """Two passes of a filter and what follows them."""
    program = kernels()
    for settings in ({}, {"TRACEPROF_MAX_OVERHEAD": "1"}):
        run = same(program, "filters", env=settings)
        expect_equal(run.trace.steps(), list(range(60)), "steps")
        regions = run.trace.regions("sweep")
        expect_equal(len(regions), 180, "regions")
        for number, step in enumerate(run.trace.slices("ProfilerStep#*")):
            inside = [region for region in regions
                      if step["ts"] <= region["ts"] < step["ts"] + step["dur"]]
            expect_equal(inside, regions[3 * number:3 * number + 3], f"step {number}")
    for size in (60, 3000):
        window = same(program, "filters", str(size), env=SCHEDULE)
        expect_equal([trace.steps() for trace in window.traces], [[3, 4]], "window")
        expect_equal(len(window.trace.regions("sweep")), 6, "regions of two steps")


def test_one_region_and_what_the_code_tells():
    """One loop around it is the step, of two either may be; a report each tenth turn
    and a turn that goes another way lie in the step's own loop."""
    window = same(kernels(), "passes", env=SCHEDULE)
    expect_equal([trace.steps() for trace in window.traces], [[3, 4]], "window")
    for source, name, steps in (("kernels", "passes", 180), ("kernels", "sweeps", 0),
                                ("later", "annealing", 90), ("later", "transport", 200),
                                ("later", "generations", 75), ("unseen", "particles", 120),
                                ("places", "codec", 70), ("ways", "sampled", 50)):
        program = compile_program(f"../steps/{source}.c", "-fopenmp", "-lm", name=source)
        run = same(program, name)
        expect_equal(len(run.trace.steps()), steps, f"steps of {name}")
        said = re.search(r"step = (.*), every", run.stderr)
        expect_equal("the program's code, too: step = " + said[1]
                     in command("steps", run.trace.path).stdout if said else steps,
                     bool(said), f"what `traceprof steps` says of {name}")


def test_a_loop_around_what_turns_as_often_as_it_needs():
    """An episode, a time step: its turns are of any length, but the code has it."""
    program = compile_program("../steps/nested.c", "-fopenmp", "-lm", name="nested")
    for name, steps, marker in (("policy", 50, "improve"), ("pressure", 120, "correct_flow")):
        run = same(program, name)
        expect_equal(len(run.trace.steps()), steps, f"steps of {name}")
        expect(f'step = omp region "{marker}"' in run.stderr, run.stderr)
        window = same(program, name, env=SCHEDULE)
        expect_equal([trace.steps() for trace in window.traces], [[3, 4]], "window")
        expect_equal(len(window.trace.regions(marker)), 2, "turns of it")


def test_a_loop_around_what_calls_itself():
    """V cycles on grids of any size, and a residual behind each."""
    run = same(compile_program("../steps/nomads.cpp", "-fopenmp", compiler="g++", name="nomads_cpp"),
               "vcycles")
    expect_equal(len(run.trace.steps()), 30, "steps")


def test_a_loop_around_what_turns_at_times():
    """Some of the time steps need no iteration of their solver."""
    run = same(compile_program("../steps/nomads.c", "-fopenmp", "-lm", name="nomads"), "alloy")
    expect_equal(len(run.trace.steps()), 50, "steps")


def test_code_that_throws_has_no_way_back():
    """What calls a std::function throws if that is empty; behind it stands other code."""
    run = same(compile_program("called_back.cpp", "-fopenmp", "-O2", compiler="g++"))
    expect_equal(len(run.trace.steps()), 200, "steps")


def test_many_places_and_a_test_in_a_loop_of_its_own():
    """33 loops, half of them called from two places; more places than tell sites apart."""
    run = same(compile_program("tested_batches.c", "-fopenmp"))
    expect_equal(len(run.trace.steps()), 96, "steps")


def test_a_loop_around_that_adds_little_is_in_doubt():
    run = same(compile_program("../steps/nested.c", "-fopenmp", "-lm", name="nested"), "newton")
    expect_equal(run.trace.steps(), [], "steps")
    expect("no step found" in run.stderr, run.stderr)


def test_programs_that_no_rule_was_set_on():
    program = compile_program("../steps/fresh.c", "-fopenmp", "-lm", name="fresh")
    for name, steps in (("waves", 200), ("runge", 150), ("redblack", 90), ("labels", 40),
                        ("logistic", 100), ("align", 40), ("poisson", 120), ("baum", 20)):
        run = same(program, name)
        expect_equal(len(run.trace.steps()), steps, f"steps of {name}")


def test_turns_of_large_and_small_are_in_doubt():
    """Levels of few nodes have a team of one: 450 turns in 30 additions."""
    program = compile_program("../steps/fresh.c", "-fopenmp", "-lm", name="fresh")
    run = same(program, "index", env={"OMP_NUM_THREADS": "2"})
    expect_equal(run.trace.steps(), [], "steps")
    expect("TRACEPROF_STEP=omp:nodes/2 (450 steps)" in run.stderr, run.stderr)


def expect_hidden(compiler, plus, *flags):
    built = compile_program("hidden_loops.c", "-fopenmp", *flags, compiler=compiler)
    run = same(built, "around")
    expect_equal(len(run.trace.steps()), 200, "steps around")
    thrown = compile_program("thrown_loops.cpp", "-fopenmp", *flags, compiler=plus)
    for program in ([built, "twice"], [built, "labels"], [thrown, "inside"], [thrown, "around"]):
        run = same(*program)
        expect_equal(run.trace.steps(), [], program)
        expect(any("no step found" in line for line in run.own_lines), run.stderr)
    return thrown


def test_loops_that_the_code_hides():
    """One place that is two calls further up, a jump through memory, an exception."""
    for level in ("-O0", "-O2"):
        expect_hidden("gcc", "g++", level)


def test_loops_that_clangs_code_hides():
    built = os.path.join(harness.folder(), "empty.c")
    with open(built, "w", encoding="utf-8") as file:
        file.write("int main(void) { return 0; }")
    if not shutil.which("clang") or subprocess.run(
            ["clang", "-fopenmp", built, "-o", built + ".out"], capture_output=True).returncode:
        raise Skip("clang has no OpenMP here")
    thrown = expect_hidden("clang", "clang++", "-O2")
    expect_equal(len(same(thrown, "seldom").trace.steps()), 200, "steps of a loop that goes on")


def test_a_loop_of_two_ways_is_in_doubt_and_the_settings_are_named():
    """Pictures that tell of what moved, rounds that draw rows, where nothing says
    what function the code belongs to."""
    for source, name in (("places", "codec"), ("ways", "sampled")):
        program = compile_program(f"../steps/{source}.c", "-fopenmp", "-lm",
                                  "-fno-asynchronous-unwind-tables", name=f"{source}_bare")
        for env in ({}, SCHEDULE):
            run = same(program, name, env=env)
            expect_equal(run.trace.steps(), [], f"steps of {name}")
            line = next(line for line in run.own_lines if "no step found" in line)
            named = re.findall(r"TRACEPROF_STEP=(\S+) \((\d+) steps\)", line)
            expect(str({"codec": 70, "sampled": 50}[name]) in dict(named).values(), line)
            for setting, count in named:
                again = same(program, name, env={"TRACEPROF_STEP": setting})
                expect_equal(len(again.trace.steps()), int(count), setting)


def expect_ends(trace, marker, count, regions):
    """Each step ends with the marker, and holds all that a batch does and no
    validation."""
    steps, ends = trace.slices("ProfilerStep#*"), trace.slices(marker)
    expect_equal((len(steps), len(ends)), (count, count), "steps and their ends")
    for step, end in zip(steps, ends):
        expect(abs(step["ts"] + step["dur"] - end["ts"] - end["dur"]) < 0.01, step, end)
        inside = [region for region in trace.regions()
                  if step["ts"] <= region["ts"] < step["ts"] + step["dur"]]
        expect_equal(len(inside), regions, f"regions of {step['name']}")


def test_a_training_whose_optimizer_tells():
    """The regions turn twice as often as the optimizer steps: they are batches."""
    program = compile_program("../steps/optimizer.c", "-fopenmp", "-lm", name="optimizer")
    for arguments, steps, marker, regions in (((), 100, "SGD", 6), ((2,), 100, "Adam", 6),
                                              ((1, 0), 50, "SGD", 12)):
        run = same(program, *map(str, arguments))
        expect(f'step = range "Optimizer.step#{marker}.step"' in run.stderr, run.stderr)
        expect_ends(run.trace, f"Optimizer.step#{marker}.step", steps, regions)
        window = same(program, *map(str, arguments), env=SCHEDULE)
        expect_equal([trace.steps() for trace in window.traces], [[3, 4]], "window")
        expect_ends(window.trace, f"Optimizer.step#{marker}.step", 2, regions)


def test_a_training_so_long_that_its_thread_counts():
    """Between windows nothing is recorded, and the ends of ranges count all the same."""
    program = compile_program("../steps/optimizer.c", "-fopenmp", "-lm", name="optimizer")
    env = {"TRACEPROF_WAIT": "2000", "TRACEPROF_ACTIVE": "2"}
    for arguments in (("1", "1", "700"), ("2", "1", "700"), ("1", "0", "1400")):
        run = same(program, *arguments, env=env)
        expect_equal([trace.steps() for trace in run.traces],
                     [[first, first + 1] for first in range(2000, 14000, 2002)], arguments)
        for trace in run.traces:
            expect_ends(trace, f"Optimizer.step#{'Adam' if arguments[0] == '2' else 'SGD'}.step",
                        2, 12 if arguments[1] == "0" else 6)


def test_two_optimizers_of_one_class_are_in_doubt():
    """Their ranges have one name: 120 of 60 batches."""
    program = compile_program("../steps/optimizer.c", "-fopenmp", "-lm", name="optimizer")
    run = same(program, "twins")
    expect_equal(run.trace.steps(), [], "steps")
    line = next(line for line in run.own_lines if "no step found" in line)
    expect("or TRACEPROF_STEP=range:Optimizer.step#SGD.step/2 (60 steps)" in line, line)
    run = same(program, "twins", env={"TRACEPROF_STEP": "range:Optimizer.step*/2"})
    expect_equal(len(run.trace.steps()), 60, "steps that a pattern of ranges tells")


def test_two_classes_of_optimizers_in_turn():
    """A network and what judges it: each batch ends with the second one's step."""
    program = compile_program("../steps/optimizer.c", "-fopenmp", "-lm", name="optimizer")
    for passes in ("1", "2"):
        run = same(program, "rivals", passes)
        expect_equal(len(run.trace.steps()), 60, f"steps after {passes} passes")
        expect('step = range "Optimizer.step#Adam.step"' in run.stderr, run.stderr)
    run = same(program, "rivals", env=SCHEDULE)
    expect_equal([trace.steps() for trace in run.traces], [[3, 4]], "window")
    expect_equal(len(run.trace.regions("forward")), 12, "passes of two batches")


def test_loops_that_no_name_tells():
    """Restarts or the iterations in them: all regions are one function's."""
    program = compile_program("../steps/visitors.c", "-O2", "-fopenmp", "-lm",
                              name="visitors")
    run = same(program, "restarts")
    line = next(line for line in run.own_lines if "no step found" in line)
    expect("`traceprof steps` (a loop of 90 turns)" in line, line)
    said = command("steps", run.trace.path).stdout
    expect("90 x restarts" in said, said)


def test_a_few_turns_and_no_step():
    """A short run that has turns says what sets a step; one without turns is silent."""
    program = compile_program("sweeps.c", "-O2", "-fopenmp")
    for steps, is_said in (("8", True), ("1", False)):
        run = same(program, steps)
        expect_equal(run.trace.steps(), [], f"steps of {steps}")
        expect_equal(any("no step found; TRACEPROF_STEP=omp:sweep (39 steps) or" in line
                         for line in run.own_lines), is_said, run.stderr)


def test_one_region_and_nothing_else():
    """How many of them are a step the program alone knows: the line says how to say it."""
    program = compile_program("sweeps.c", "-O2", "-fopenmp")
    expect_equal(len(same(program, "three").trace.steps()), 60, "steps of three calls")
    for loops, count, each in (("to_fro", 300, True), ("jacobi", 300, True),
                               ("until", 272, True), ("mixed", 300, False)):
        run = same(program, loops)
        expect_equal(run.trace.steps(), [], loops)
        line = next(line for line in run.own_lines if "no step found" in line)
        expect(f"TRACEPROF_STEP=omp:sweep ({count} steps)" in line, line)
        expect_equal("TRACEPROF_STEP=omp:sweep/N (each Nth)" in line, each, line)
    run = same(program, "jacobi", env={"TRACEPROF_STEP": "omp:sweep/12"})
    expect_equal(len(run.trace.steps()), 25, "time steps")


def test_where_no_step_is_found_the_optimizer_is_likeliest():
    program = compile_program("../steps/ways.c", "-fopenmp", "-lm", "-DTOLD",
                              "-fno-asynchronous-unwind-tables", name="ways_told")
    for env in ({}, SCHEDULE):
        run = same(program, "sampled", env=env)
        expect_equal(run.trace.steps(), [], "steps")
        line = next(line for line in run.own_lines if "no step found" in line)
        setting, count = re.search(r"TRACEPROF_STEP=(\S+) \((\d+) steps\)", line).groups()
        expect_equal((setting, count), ("range:Optimizer.step#GOSS.step", "50"), line)
    run = same(program, "sampled", env={"TRACEPROF_STEP": setting})
    expect_equal(len(run.trace.steps()), 50, "steps by that setting")


def test_places_of_a_long_run():
    """More regions than a look at the places took once: 65,536."""
    run = same(kernels(), "filters", "22000")
    expect_equal(len(run.trace.steps()), 22000, "steps")


def test_a_file_whose_headers_nothing_maps():
    """Tools put them at a file's end; the loader reads them there."""
    place = harness.folder()
    source = os.path.join(place, "far.c")
    for text, options in (("void run(void) {\n#pragma omp parallel num_threads(1)\n"
                           "{ __asm__ volatile(\"\"); }\n}\n",
                           ("-shared", "-fPIC", "-o", "libfar.so")),
                          ("void run(void); int main(void) { for (int i = 0; i < 500; i++)"
                           " run(); return 0; }", ("-L.", "-lfar", "-o", "far"))):
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run(["gcc", "-fopenmp", source, *options], cwd=place, check=True)
    with open(os.path.join(place, "libfar.so"), "r+b") as file:
        head = bytearray(file.read(64))
        file.seek(int.from_bytes(head[32:40], "little"))
        table = file.read(56 * int.from_bytes(head[56:58], "little"))
        head[32:40] = (8 << 30).to_bytes(8, "little")
        file.seek(0)
        file.write(head)
        file.seek(8 << 30)
        file.write(table)
    run = same(os.path.join(place, "far"), env={"LD_LIBRARY_PATH": place})
    expect_equal(len(run.trace.regions("run")), 500, "regions")


def test_regions_that_are_thinned_are_seen_to_the_last():
    """Their last marks wait in the thread's record when the run ends."""
    program = kernels()
    for size in range(16, 20):
        run = same(program, "trees_of_classes", str(size),
                   env={"TRACEPROF_MAX_OVERHEAD": "1"})
        expect_equal(run.trace.steps(), list(range(size)), "steps")


def ranks(program, *arguments, starter=(), count=3):
    """What each of some processes of one job recorded: its steps and its marker.  They
    wait otherwise, and have teams of other sizes."""
    folder = os.path.join(harness.folder(), "ranks")
    environment = harness.clean_environment() | SCHEDULE | {
        "LD_PRELOAD": harness.LIBRARY, "TRACEPROF_DIR": folder}
    commands = [(environment, [*starter, program, *arguments])] if starter else [
        (environment | {"OMP_NUM_THREADS": str(1 + rank), "RANK": str(rank),
                        "WORLD_SIZE": str(count)},
         [program, *arguments, str(300 * rank)]) for rank in range(count)]
    began = time.time()
    running = [subprocess.Popen(line, env=env, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)
               for env, line in commands]
    # All have ended before it is looked whether all is written: some spin for long.
    said = [process.communicate()[1] for process in running]
    for process, errors in zip(running, said):
        expect_equal(process.returncode, 0, errors)
        whole = harness.Run([], 0, "", errors, folder, pid=process.pid, began=began)
        for _ in range(600):
            if not harness.sessions_of(whole):
                break
            time.sleep(0.1)
        expect(not harness.sessions_of(whole), "not written", harness.sessions_of(whole),
               errors)
    return [harness.Trace(os.path.join(folder, name)) for name in sorted(os.listdir(folder))
            if name.endswith(".gz")]


def expect_the_same(traces, count):
    expect_equal(len(traces), count, "files")
    said = set()
    for trace in traces:
        expect_equal(trace.steps(), [3, 4], "steps")
        notes = [note for note in trace.meta["notes"] if note.startswith("step = ")]
        said.add(re.sub(r"every [^;]*", "", notes[0]))
    expect_equal(len(said), 1, f"ranks disagree: {said}")


def test_what_some_time_steps_do_besides():
    """A list made anew now and then, in a loop with a dynamic schedule: the hook of that
    aligns its stack, and what called it was not known."""
    expect_equal(same(compile_program("../steps/guests.f90", "-O2", "-fopenmp",
                                      f"-J{harness.folder()}", compiler="gfortran",
                                      name="guests"), "argon").trace.steps(),
                 list(range(250)), "steps")


def teams(compiler):
    return compile_program("../steps/teams.c", "-O2", "-fopenmp", "-lm", compiler=compiler,
                           name=f"teams_{compiler}")


def expect_those_around(program):
    for chance in "0", "4":
        run = same(program, "electrons", "40", chance)
        expect_equal(run.trace.steps(), list(range(40)), f"chance {chance}")
        expect(all(region["args"].get("nested") for region in run.trace.regions("hamilton")),
               run.trace.regions("hamilton"))
        expect(not any(region["args"].get("nested") for region in run.trace.regions("energy")),
               run.trace.regions("energy"))
        expect(step_line(run).startswith('step = omp region "energy"'), step_line(run))
        # The writer's steps, then the thread's.
        late = same(program, "electrons", "6000", chance,
                    env={"TRACEPROF_WAIT": "1998", "TRACEPROF_ACTIVE": "2"})
        expect_equal([trace.steps() for trace in late.traces],
                     [[1998, 1999], [3998, 3999], [5998, 5999]], f"chance {chance}")


def step_line(run):
    return next(note for note in run.trace.meta["notes"] if note.startswith("step = "))


def test_regions_within_a_teams_tell_nothing():
    """Chance says which member begins them: those around them alone are the order."""
    expect_those_around(teams("gcc"))


def test_regions_within_a_teams_of_libomp_tell_nothing():
    program = teams("clang")
    expect_those_around(program)


def test_a_loop_that_lies_in_a_teams_region():
    expect_equal(same(teams("gcc"), "whole").trace.steps(), list(range(60)), "steps")


def test_the_loops_of_a_trace_are_told_by_those_around():
    run = same(teams("gcc"), "electrons", "40", "0")
    told = command("steps", run.trace.path).stdout
    expect("step: 40 x energy" in told, told)


def test_ranks_agree():
    program = kernels()
    for name, size in (("validated_transformer", "20"), ("hydro", "60"), ("trees", "12")):
        expect_the_same(ranks(program, name, size), 3)


def test_ranks_of_mpirun_agree():
    if not shutil.which("mpirun"):
        raise Skip("no mpirun on this machine (openmpi-bin)")
    starter = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2"]
    if subprocess.run([*starter, "true"], capture_output=True).returncode:
        raise Skip("mpirun starts nothing here")
    expect_the_same(ranks(kernels(), "hydro", "60", "200",
                          starter=[*starter, "-x", "LD_PRELOAD"]), 2)


if __name__ == "__main__":
    harness.main()
