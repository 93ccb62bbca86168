"""Runs kernel_bench and reads what it says."""

import json
import pathlib
import subprocess
import sys
import tempfile

REACHES = ["image", "texel_buffer", "storage_buffer"]


def run_kernel_bench(build, *options):
    """The ceilings, by name, and the results as {(kernel, reach, precision): counters}."""
    program = pathlib.Path(build) / "tests/bench/kernel_bench"
    if not program.exists():
        sys.exit(f"{program} is not there: configure with -DVELLUM_BUILD_BENCHMARKS=ON and build kernel_bench")
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "results.json"
        done = subprocess.run([program, *options, f"--benchmark_out={out}"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(done.stdout + f"{program} failed")
        return read_results(json.loads(out.read_text()))


def read_results(document):
    results = {}
    for run in document["benchmarks"]:
        kernel, reach, precision = run["name"].rsplit("/", 4)[:3]  # then the iterations and manual_time
        results[kernel, reach, precision] = run
    return document["context"], results
