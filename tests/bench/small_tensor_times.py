#!/usr/bin/python3
"""Times networks of many small tensors (small_networks.py) beside ONNX Runtime on the CPU, and writes the table "small tensors"
of docs/benchmarks/exports.md.

small_tensor_times.py BUILD_FOLDER --out FOLDER [--before TOOL] [--rounds N] [--write] [NAME...]

Run it with a Python that has torch and onnxruntime. The results of both engines are compared with torch before anything is
timed. Each round runs all engines once, in turn. `--before`: the tool of another revision, which is timed, too.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import numpy
import onnxruntime
import torch

import small_networks
import tables

LARGEST_ERROR = 1e-4  # of the largest result


def export(name, folder):
    """Writes model.onnx and the inputs, unless they exist, and returns the inputs and torch's result."""
    network, inputs = small_networks.make(name)
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"x{number}" for number in range(len(inputs))]
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # remarks on shapes that are taken as constant, as is wanted here
        want = network(*inputs).numpy()
        if not (folder / "model.onnx").exists():
            torch.onnx.export(network, inputs, str(folder / "model.onnx"), opset_version=16, input_names=names, output_names=["output"])
    feeds = {key: value.numpy() for key, value in zip(names, inputs)}
    for key, value in feeds.items():
        numpy.save(folder / f"{key}.npy", value)
    return feeds, want


def error(got, want):
    return float(abs(got - want).max() / abs(want).max())


def result_of(tool, folder, feeds):
    with tempfile.TemporaryDirectory() as scratch:
        words = [word for key in feeds for word in ("-i", f"{key}={folder / key}.npy")]
        subprocess.run([tool, "run", folder / "model.onnx", *words, "-o", scratch], check=True, capture_output=True)
        return numpy.load(pathlib.Path(scratch) / "output.npy")


def session_of(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def cpu_milliseconds(run, repetitions=10):
    start = time.process_time()
    for _ in range(repetitions):
        run()
    return 1e3 * (time.process_time() - start) / repetitions


def measure(tools, name, folder, rounds):
    feeds, want = export(name, folder)
    session = session_of(folder / "model.onnx")
    run = lambda: session.run(None, feeds)[0]
    errors = {engine: error(result_of(tool, folder, feeds), want) for engine, tool in tools.items()}
    errors["onnxruntime"] = error(run(), want)
    wrong = [engine for engine, value in errors.items() if not value <= LARGEST_ERROR]
    if wrong:
        sys.exit(f"{name}: {', '.join(wrong)} differ from torch: {errors}")
    times = {engine: [] for engine in [*tools, "onnxruntime"]}
    dispatches = {}
    for _ in range(rounds):
        for engine, tool in tools.items():
            got = tables.bench(tool, folder / "model.onnx", "--runs", "10", "--warm-up", "2")
            times[engine].append(got["cpu_ms"])
            dispatches[engine] = got["dispatches"]
        times["onnxruntime"].append(cpu_milliseconds(run))
    return {"network": name, "error": errors["vellum"], "dispatches": dispatches, "times": times}


def cells(result):
    times, dispatches = result["times"], result["dispatches"]
    cell = lambda engine: f"{min(times[engine]):.1f} ({statistics.median(times[engine]):.1f})" if engine in times else "–"
    ratio = min(times["vellum"]) / min(times["onnxruntime"])
    return [result["network"], f"{result['error']:.0e}", str(dispatches.get("before", "–")), cell("before"),
            str(dispatches["vellum"]), cell("vellum"), cell("onnxruntime"), f"{ratio:.1f}"]


TITLES = ["network", "error", "dispatches before", "before, CPU ms", "dispatches", "Vellum, CPU ms", "ONNX Runtime, CPU ms",
          "Vellum / ONNX Runtime"]


def main():
    parser = argparse.ArgumentParser(description="Times networks of many small tensors beside ONNX Runtime.")
    parser.add_argument("build", type=pathlib.Path, help="build folder")
    parser.add_argument("names", nargs="*", metavar="NAME", help="networks; all of them if none is named")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of exported networks and results.json")
    parser.add_argument("--before", type=pathlib.Path, metavar="TOOL", help="the tool of another revision")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="replace the table of the page")
    arguments = parser.parse_intermixed_args()
    unknown = set(arguments.names) - set(small_networks.NETWORKS)
    if unknown:
        parser.error(f"unknown network: {', '.join(sorted(unknown))}")
    tools = {"before": arguments.before} if arguments.before else {}
    tools["vellum"] = arguments.build / "tools/vellum/vellum"
    arguments.out.mkdir(parents=True, exist_ok=True)
    record = arguments.out / "results.json"
    results = json.loads(record.read_text()) if record.exists() else {}
    for name in arguments.names or small_networks.NETWORKS:
        results[name] = measure(tools, name, arguments.out / name, arguments.rounds)
        print(*cells(results[name]), sep="  ", flush=True)
        record.write_text(json.dumps(results, indent=1) + "\n")
    if arguments.write:
        rows = [cells(results[name]) for name in small_networks.NETWORKS if name in results]
        tables.write_between_marks("exports.md", "small tensors", tables.table(TITLES, rows))


if __name__ == "__main__":
    main()
