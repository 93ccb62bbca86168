#!/usr/bin/python3
"""What compare_reports.py makes of reports."""
import copy
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import compare_reports

RATES = {"gigamacs_per_s": 1000, "gigabytes_per_s": 100, "units": 10, "lanes": 640, "latency_ns": 400, "launch_us": 2,
         "barrier_us": 2, "chip_is_known": False}
CAPS = {"name": "Imagined GPU", "driver": "imagined 1.0"}
HEAD = {"version": 1, "vellum": "0.2.0", "system": "Linux", "caps": CAPS, "crashes": [], "validation_messages": 0}


def dispatch(random_numbers, pipeline, **bound):
    terms = {"compute_us": 0.1, "memory_us": 0.1, "latency_us": 0.1, **bound}
    return {"op": "Conv", "pipeline": pipeline, "overhead_us": 4, "busy": random_numbers.uniform(0.5, 1),
            "waves": random_numbers.uniform(4, 16), "efficiency": random_numbers.uniform(0.5, 1), "pause_us": 3, **terms}


def bench_report(factors):
    """Dispatches that each of the factors decides, with the times that a device of these factors takes."""
    numbers = random.Random(1)
    entries = [dispatch(numbers, i % 2, **{term: numbers.uniform(5, 500)})
               for term in ("compute_us", "memory_us", "latency_us") for i in range(12)]
    entries += [dispatch(numbers, 1) for _ in range(6)]
    report = {**HEAD, "report": "bench", "model": "imagined.onnx", "rates": RATES,
              "pipelines": [{"shader": "conv"}, {"shader": "pool"}], "dispatches": entries}
    for entry in entries:
        sample = compare_reports.read_dispatch({**entry, "gpu_us": 1, "predicted_us": 1}, report["pipelines"])
        entry["predicted_us"] = sample.time(dict.fromkeys(compare_reports.FACTORS, 1))
        entry["gpu_us"] = sample.time(factors) - entry["pause_us"]
    return report


def summary(*reports):
    devices = compare_reports.read_reports([(str(i), report) for i, report in enumerate(reports)])
    return [compare_reports.summary(device) for device in devices]


class Correction(unittest.TestCase):
    def test_rates_that_are_right_stay(self):
        result, = summary(bench_report(dict.fromkeys(compare_reports.FACTORS, 1)))
        self.assertAlmostEqual(result["ratio"], 1)
        self.assertAlmostEqual(result["error"], 1)
        for factor in result["factors"].values():
            self.assertAlmostEqual(factor, 1)

    def test_the_factors_of_a_device_are_found(self):
        factors = {"compute": 4, "memory": 0.5, "latency": 2.5, "overhead": 3}
        result, = summary(bench_report(factors))
        for name, factor in factors.items():
            self.assertAlmostEqual(result["factors"][name] / factor, 1, delta=0.05, msg=name)
        self.assertGreater(result["error"], 1.5)
        self.assertLess(result["corrected_error"], 1.05)
        self.assertAlmostEqual(result["corrected_rates"]["gigamacs_per_s"] / 250, 1, delta=0.05)
        self.assertAlmostEqual(result["corrected_rates"]["gigabytes_per_s"] / 200, 1, delta=0.05)
        self.assertAlmostEqual(result["corrected_rates"]["barrier_us"] / 6, 1, delta=0.05)

    def test_a_kernel_that_is_worse_than_the_others_shows(self):
        report = bench_report(dict.fromkeys(compare_reports.FACTORS, 1))
        for entry in report["dispatches"]:
            if entry["pipeline"] == 1 and entry["compute_us"] > 1:
                entry["gpu_us"] *= 5
        result, = summary(report)
        ratios = {row["kernel"]: row["ratio"] for row in result["kernels"]}
        self.assertAlmostEqual(ratios["conv"], 1)
        self.assertGreater(ratios["pool"], 1.5)

    def test_pauses_between_submits_are_no_launches(self):
        report = bench_report(dict.fromkeys(compare_reports.FACTORS, 1))
        before, = summary(copy.deepcopy(report))
        report["dispatches"][0]["gpu_us"] += report["dispatches"][0]["pause_us"]
        report["dispatches"][0]["pause_us"] = 20_000
        self.assertAlmostEqual(summary(report)[0]["measured_us"], before["measured_us"])


class Reading(unittest.TestCase):
    def test_reports_of_one_device_are_taken_together(self):
        bench = bench_report(dict.fromkeys(compare_reports.FACTORS, 1))
        wrong = {"operation": "Softmax", "kernel": "", "precision": "fp32", "storage": "buffer", "passed": False}
        doctor = {**HEAD, "report": "doctor", "crashes": ["compiled shader 'x'"], "checks": [wrong, {**wrong, "passed": True}]}
        other = {**doctor, "caps": {**CAPS, "driver": "imagined 2.0"}}
        first, second = summary(bench, doctor, bench, other)
        self.assertEqual(first["models"], ["imagined.onnx"])
        self.assertEqual((first["checked"], len(first["wrong"])), (2, 1))
        self.assertEqual(first["crashes"], ["compiled shader 'x'"])
        self.assertEqual(sum(row["dispatches"] for row in first["kernels"]), 84)
        self.assertNotIn("kernels", second)

    def test_dispatches_without_a_time_are_counted(self):
        report = bench_report(dict.fromkeys(compare_reports.FACTORS, 1))
        report["dispatches"][3]["gpu_us"] = None
        result, = summary(report)
        self.assertEqual(result["untimed"], 1)
        self.assertEqual(sum(row["dispatches"] for row in result["kernels"]), 41)

    def test_other_files_are_refused_in_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "other.json"
            for text, why in (("[]", "is no report"), ("nothing", "cannot be read"),
                              ('{"report": "bench", "version": 9}', "version 9")):
                file.write_text(text)
                program = pathlib.Path(compare_reports.__file__)
                finished = subprocess.run([sys.executable, program, file], capture_output=True, text=True, check=False)
                self.assertEqual(finished.returncode, 1)
                self.assertIn(why, finished.stderr)
                self.assertEqual(finished.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
