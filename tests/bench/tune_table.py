#!/usr/bin/python3
"""What choosing by measurement gives and costs: tunes networks that tests/backbones.sh exported on the first Vulkan device, each
into a cache folder of its own, times them untuned, tuned, and tuned without Winograd's convolutions, compares outputs with
torch's, and writes the table between the marks of docs/benchmarks/performance.md anew:
    tests/bench/tune_table.py BUILD_FOLDER [NETWORK...]
Each round runs all three in turn, so that they meet the same machine; a time is the least of all rounds.
"""
import pathlib
import sys
import tempfile

from networks import NETWORKS
from tables import error_against_torch, exported_network, mebibytes, run_json, table, write_between_marks

WAYS = {"untuned": ["--no-tuned"], "tuned": [], "direct": ["--winograd", "off"]}
ROUNDS, RUNS = 3, 10
TITLES = ["network", "tuning, s", "untuned, ms", "tuned, ms", "tuned / untuned", "without Winograd", "weights untuned, MiB",
          "tuned, MiB", "tensors in", "largest error"]


def row_of(tool, name, cache):
    folder = exported_network(name)
    model = folder / "model.onnx"
    report = run_json(tool, "tune", model, "--cache", cache, "--json")
    times = {way: [] for way in WAYS}
    for _ in range(ROUNDS):
        for way, options in WAYS.items():
            times[way].append(run_json(tool, "bench", model, "--runs", str(RUNS), "--cache", cache, *options, "--json"))
    least = {way: {key: min(run[key] for run in times[way]) for key in ("min_ms", "cpu_ms")} for way in WAYS}
    of_untuned = {way: f"{least[way]['cpu_ms'] / least['untuned']['cpu_ms']:.2f}" for way in WAYS}
    return [name, f"{report['seconds']:.0f}", f"{least['untuned']['min_ms']:.1f}", f"{least['tuned']['min_ms']:.1f}",
            of_untuned["tuned"], of_untuned["direct"], mebibytes(report["untuned_weights_bytes"], 1),
            mebibytes(report["tuned_weights_bytes"], 1), report["storage"],
            f"{error_against_torch(tool, folder, '--cache', cache):.1e}"]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tool = pathlib.Path(sys.argv[1]) / "tools/vellum/vellum"
    rows = []
    for name in sys.argv[2:] or NETWORKS:
        with tempfile.TemporaryDirectory() as cache:
            rows.append(row_of(tool, name, cache))
        print(*rows[-1], sep="  ", file=sys.stderr)
    write_between_marks("performance.md", "tune", table(TITLES, rows))


main()
