# SPDX-License-Identifier: MIT
"""The Python module, with the library or without: the same results."""

import asyncio
import functools
import gzip
import json
import os
import tempfile
import unittest
import warnings

import traceprof

MANUAL = (traceprof.is_preloaded()
          and os.environ.get("TRACEPROF_STEP") != "auto")
STEPS = os.environ.get("TRACEPROF_STEP") != "manual"


def names(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [event["name"] for event in json.load(file)["traceEvents"]
                if event["ph"] == "X" and event["cat"] == "user_annotation"]


class Calls(unittest.TestCase):
    def test_preloaded_is_what_the_caller_asked_for(self):
        self.assertEqual(traceprof.is_preloaded(),
                         bool(os.environ.get("EXPECT_PRELOADED")))

    def test_plain_calls_return_nothing(self):
        self.assertIsNone(traceprof.mark("a mark"))
        self.assertIsNone(traceprof.counter("a counter", 3))
        self.assertIsInstance(traceprof.enabled(), bool)

    def test_scope_returns_results_and_passes_exceptions(self):
        @traceprof.scope("decorated")
        def double(x):
            """Its own words."""
            return 2 * x

        self.assertEqual(double(4), 8)
        self.assertEqual(double.__doc__, "Its own words.")
        with self.assertRaises(KeyError):
            with traceprof.scope("raises"):
                raise KeyError
        with traceprof.scope("gr\u00fc\u00df \U0001f600 \udcff \0"):
            pass

    def test_what_gives_its_result_later_is_left_alone(self):
        async def coroutine():
            return 1

        def generator():
            yield 1

        async def both():
            yield 1

        for one in (coroutine, generator, both):
            with self.assertWarnsRegex(RuntimeWarning, "its result later"):
                self.assertIs(traceprof.scope("never")(one), one)
            with self.assertWarnsRegex(RuntimeWarning, "its result later"):
                self.assertIs(traceprof.profile_function(one), one)

    def test_scopes_that_cross_are_said(self):
        """Tasks that take turns leave them in another order than they entered."""
        async def task(name, seconds):
            with traceprof.scope(name):
                await asyncio.sleep(seconds)

        async def both():
            await asyncio.gather(task("short", 0.001), task("long", 0.02))

        with self.assertWarnsRegex(RuntimeWarning, "'short' ended before"):
            asyncio.run(both())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with traceprof.scope("around"):
                with traceprof.scope("around"):
                    pass

    def test_what_has_no_name_is_called_all_the_same(self):
        class Adder:
            def __call__(self, number):
                return number + 1

        self.assertEqual(traceprof.profile_function(functools.partial(int, "3"))(), 3)
        self.assertEqual(traceprof.profile_function(Adder())(3), 4)
        self.assertEqual(traceprof.scope("adds")(Adder())(3), 4)
        traceprof.benchmark_function(Adder(), 3, num_iterations=1)

    def test_benchmark_of_what_comes_later(self):
        def numbers():
            yield 1

        with self.assertWarnsRegex(RuntimeWarning, "calls alone are measured"):
            traceprof.benchmark_function(numbers, num_iterations=1)

    def test_benchmark(self):
        seen = []
        result = traceprof.benchmark_function(seen.append, 1, warmup=2, repeat=5,
                                              name="append")
        self.assertEqual(len(seen), 7)
        self.assertEqual(len(result.times), 5)
        self.assertLessEqual(result.min, result.median)
        self.assertLessEqual(result.median, result.max)
        self.assertAlmostEqual(result.mean, sum(result.times) / 5)
        self.assertGreaterEqual(result.std, 0)
        self.assertEqual(traceprof.benchmark_function(dict, repeat=1).std, 0)
        with self.assertRaises(ValueError):
            traceprof.benchmark_function(dict, num_iterations=0)
        self.assertEqual(sorted(result), ["max", "mean", "median", "min", "p50",
                                          "p95", "std", "times"])
        self.assertEqual(result["p50"], result.median)
        self.assertLessEqual(result.p50, result.p95)
        self.assertEqual(len(traceprof.benchmark_function(dict)["times"]), 100)

    def test_schedule_counts_as_torch_does(self):
        action = traceprof.schedule(wait=1, warmup=1, active=2, repeat=2,
                                    skip_first=1)
        self.assertEqual([action(step).value for step in range(11)],
                         [0, 0, 1, 2, 3, 0, 1, 2, 3, 0, 0])
        action = traceprof.schedule(wait=1, warmup=1, active=1, skip_first=1,
                                    skip_first_wait=1)
        self.assertEqual([action(step).value for step in range(6)],
                         [0, 1, 3, 0, 1, 3])
        with self.assertRaises(ValueError):
            traceprof.schedule(wait=0, warmup=0, active=0)

    def test_totals(self):
        results = traceprof.profiler.get_results()
        self.assertEqual(traceprof.profiler.reset(), None)
        for one in results:
            self.assertGreaterEqual(one["max_ns"], one["min_ns"])
            self.assertIsInstance(one["name"], str)


class Windows(unittest.TestCase):
    """In each the results are checked, and the trace where there is one."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def files(self):
        return [os.path.join(self.folder.name, name)
                for name in sorted(os.listdir(self.folder.name))]

    def check(self, path, present, absent=()):
        if not MANUAL:
            self.assertIsNone(path)
            return
        seen = names(path)
        for name in present:
            self.assertIn(name, seen)
        for name in absent:
            self.assertNotIn(name, seen)

    def check_steps(self, path, count):
        """As many as were asked for, the last one too."""
        if MANUAL and STEPS:
            steps = [name for name in names(path) if name.startswith("ProfilerStep#")]
            self.assertEqual(len(steps), count, steps)

    def test_profile_trace(self):
        with traceprof.scope("before"):
            pass
        with traceprof.profile_trace(self.folder.name, "one block") as window:
            with traceprof.scope("inside"):
                pass
        self.check(window.result(), ["one block", "inside"], ["before"])
        self.assertEqual(len(self.files()), int(MANUAL))
        if MANUAL:
            self.assertIn("one_block.", self.files()[0])

    def test_profile_trace_passes_exceptions(self):
        with self.assertRaises(KeyError):
            with traceprof.profile_trace(None, "raises"):
                raise KeyError

    def test_capture_async(self):
        window = traceprof.capture_async("capture")
        self.assertEqual(window.recorded, MANUAL)
        second = traceprof.capture_async("refused")
        self.assertFalse(second.recorded)
        second.stop()
        with traceprof.scope("captured"):
            pass
        window.stop()
        window.stop()
        with traceprof.scope("after"):
            pass
        self.check(window.result(), ["captured"], ["after"])

    @unittest.skipUnless(MANUAL, "nothing is recorded")
    def test_a_second_capture_is_refused_at_the_programs_line(self):
        with traceprof.capture_async("first of two"):
            with self.assertWarnsRegex(RuntimeWarning, "already active, 'first of two'") as said:
                traceprof.capture_async("second of two").stop()
            self.assertEqual(said.filename, __file__)
            with self.assertWarnsRegex(RuntimeWarning, "already active") as said:
                with traceprof.profile_trace(None, "third of two"):
                    pass
            self.assertEqual(said.filename, __file__)
            self.assertTrue(traceprof.enabled())

    def test_a_profiler_captures_the_next_steps(self):
        profiler = traceprof.Profiler(self.folder.name, start_step=1, num_steps=1,
                                      name="captures")
        for number in range(6):
            if number == 3:
                self.assertTrue(profiler.capture_async(num_steps=2))
                if MANUAL:
                    with self.assertWarnsRegex(RuntimeWarning, "already active"):
                        self.assertFalse(profiler.capture_async(num_steps=1))
            profiler.begin_step(number)
            with traceprof.scope(f"work {number}"):
                pass
            if number == 4 and MANUAL:
                self.assertFalse(profiler.capture_async(num_steps=2))
            profiler.end_step(number)
        self.assertEqual(len(self.files()), 2 * MANUAL)
        if MANUAL:
            self.check(self.files()[0], ["work 1"], ["work 0", "work 2"])
            self.check(self.files()[1], ["work 3", "work 4"], ["work 2", "work 5"])
        with self.assertRaises(ValueError):
            profiler.capture_async(num_steps=0)

    def test_profile_function(self):
        calls = []

        @traceprof.profile_function(warmup_steps=2, log_dir=self.folder.name)
        def work(number):
            with traceprof.scope(f"call {number}"):
                calls.append(number)
            return number

        self.assertEqual([work(number) for number in range(5)], list(range(5)))
        self.assertEqual(calls, list(range(5)))
        self.assertEqual(len(self.files()), int(MANUAL))
        if MANUAL:
            self.check(self.files()[0], ["call 2"], ["call 1", "call 3"])
            self.assertEqual(names(self.files()[0]).count(work.__qualname__), 1)

    def test_a_builtin_has_its_own_name(self):
        class Hides:
            pass

        self.assertEqual(traceprof._label(dict.fromkeys), "fromkeys")
        self.assertEqual(traceprof._label(Hides.__init__), "object.__init__")

    def test_profile_function_in_both_forms(self):
        @traceprof.profile_function
        def bare():
            return 1

        @traceprof.profile_function(self.folder.name, warmup_steps=1)
        def given():
            return 2

        self.assertEqual((bare(), given(), given()), (1, 2, 2))
        self.assertEqual(len(self.files()), int(MANUAL))

    def test_profile_with_a_schedule(self):
        paths = []
        with traceprof.profile(
                schedule=traceprof.schedule(wait=1, warmup=0, active=2, repeat=1),
                on_trace_ready=lambda prof: paths.append(prof.path)) as prof:
            for number in range(5):
                with traceprof.profile_scope(f"turn {number}"):
                    pass
                prof.step()
        self.assertEqual(len(paths), 1)
        self.check(paths[0], ["turn 1", "turn 2"], ["turn 0", "turn 3"])
        self.check_steps(paths[0], 2)

    def test_profile_with_a_handler_of_a_guide(self):
        seen = []

        def handler(prof):
            seen.append(prof.step_num)
            prof.export_chrome_trace(self.folder.name + "/packed.json.gz")
            prof.export_chrome_trace(self.folder.name + "/plain.json",
                                     use_python_export=False)
            self.assertIn("name", prof.key_averages().table(
                sort_by="self_cpu_time_total", row_limit=5))

        with traceprof.profile(
                schedule=traceprof.schedule(wait=1, warmup=1, active=2, repeat=1),
                on_trace_ready=handler) as prof:
            for _ in range(6):
                prof.step()
        self.assertEqual(seen, [4])         # torch's
        self.assertEqual(len(self.files()), 2 * MANUAL)
        if MANUAL:
            packed, plain = self.files()
            with gzip.open(packed) as one, open(plain, "rb") as other:
                self.assertEqual(one.read(), other.read())

    def test_profile_without_a_handler(self):
        with traceprof.profile() as prof:
            with traceprof.scope("profiled"):
                pass
        prof.export_chrome_trace(self.folder.name + "/trace.json.gz")
        self.check(prof.path, ["profiled"])
        self.assertEqual(len(self.files()), int(MANUAL))

    def test_capture_of_so_many_steps(self):
        window = traceprof.capture_async("some steps", num_steps=2)
        for number in range(4):
            traceprof.step()
            with traceprof.scope(f"of some {number}"):
                pass
        self.check(window.result(), ["of some 0", "of some 1"], ["of some 2"])
        self.check_steps(window.result(), 2)

    def test_profiler(self):
        profiler = traceprof.Profiler(self.folder.name, 1, 2)
        traceprof.profiler.reset()
        for number in range(5):
            profiler.begin_step()
            with traceprof.scope(f"work {number}"):
                pass
            profiler.end_step()
        self.assertEqual(profiler.step_number, 5)
        rows = [one["name"] for one in traceprof.profiler.get_results()]
        self.assertEqual([name for name in rows if name.startswith("step")],
                         ["step"] * traceprof.is_preloaded(), "one row for all steps")
        self.check(profiler.result(), ["step", "work 1", "work 2"],
                   ["work 0", "work 3"])
        self.check_steps(profiler.result(), 2)
        with self.assertRaises(ValueError):
            traceprof.Profiler(num_steps=0)


if __name__ == "__main__":
    unittest.main()
