#!/usr/bin/python3
"""What a weights budget costs: runs networks with budgets of 100%, 50%, 25% and 10% of their weights on the device, checks
that the outputs have the same bits, and writes the table between the markers of docs/benchmarks/streaming.md anew.

    tests/bench/streaming_table.py BUILD_FOLDER [--runs N] [--rounds N] [NETWORK...]

Wants networks that tests/backbones.sh exported, and an idle machine;
rounds over all budgets, one after the other, spread what disturbs it anyway. VK_ICD_FILENAMES names the driver.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from tables import exported_network, mebibytes, table, write_between_marks

PERCENTAGES = [100, 50, 25, 10]


def run(tool, *arguments):
    """The tool's JSON, and the most memory that it had at once, in bytes."""
    child = subprocess.Popen([str(tool), *map(str, arguments), "--json"], stdout=subprocess.PIPE)
    text = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"streaming_table: {' '.join(map(str, child.args))} failed")
    return json.loads(text), usage.ru_maxrss * 1024


class Budget:
    def __init__(self, name, flags):
        self.name, self.flags = name, flags
        self.times, self.processor, self.peaks = [], [], []

    def profile(self, tool, model):
        self.memory, _ = run(tool, "profile", model, "--runs", 1, *self.flags)

    def bench(self, tool, model, runs):
        timing, peak = run(tool, "bench", model, "--runs", runs, *self.flags)
        self.times.append((timing["min_ms"], timing["median_ms"]))
        self.processor.append(timing["cpu_ms"])
        self.peaks.append(peak)

    def row(self, network, resident):
        fastest = min(least for least, _ in self.times)
        median = statistics.median(middle for _, middle in self.times)
        processor = min(self.processor)
        return [network, self.name, mebibytes(self.memory["peak_weights_bytes"], 1),
                mebibytes(self.memory["streamed_weights_bytes"], 1), f"{fastest:.0f}", f"{median:.0f}", f"{processor:.0f}",
                f"{processor / min(resident.processor):.2f}", mebibytes(max(self.peaks), 0)]


def rows(tool, network, runs, rounds):
    folder = exported_network(network)
    model = folder / "model.onnx"
    resident = Budget("resident", [])
    resident.profile(tool, model)
    total = resident.memory["weights_bytes"]
    budgets = [resident] + [Budget(f"{p}%", ["--weights-budget", total * p // 100]) for p in PERCENTAGES]
    with tempfile.TemporaryDirectory() as scratch:
        bits = set()
        for budget in budgets:
            budget.profile(tool, model)
            run(tool, "run", model, "-i", f"input={folder / 'input.npy'}", "-o", scratch, *budget.flags)
            bits.add((pathlib.Path(scratch) / "output.npy").read_bytes())
    if len(bits) != 1:
        sys.exit(f"streaming_table: {network}: the outputs differ")
    for _ in range(rounds):
        for budget in budgets:
            budget.bench(tool, model, runs)
    return [budget.row(network, resident) for budget in budgets]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, metavar="BUILD_FOLDER")
    parser.add_argument("networks", nargs="*", metavar="NETWORK", default=["resnet50", "vit_b_16"])
    parser.add_argument("--runs", type=int, default=5, help="inferences a round (default: 5)")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_intermixed_args()
    tool = arguments.build / "tools/vellum/vellum"
    lines = []
    for network in arguments.networks:
        lines += rows(tool, network, arguments.runs, arguments.rounds)
    titles = ["network", "budget", "device weights, MiB", "streamed a run, MiB", "fastest, ms", "median, ms", "processor, ms",
              "of resident", "peak of the process, MiB"]
    write_between_marks("streaming.md", "streaming", table(titles, lines))


if __name__ == "__main__":
    main()
