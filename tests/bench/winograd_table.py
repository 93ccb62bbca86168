#!/usr/bin/python3
"""What Winograd's convolutions give and cost: times networks that tests/backbones.sh exported without them, with F(2x2, 3x3)
and with F(4x4, 3x3) on the first Vulkan device, compares outputs with torch's, and writes the table between the marks of
docs/benchmarks/performance.md anew:
    tests/bench/winograd_table.py BUILD_FOLDER [NETWORK...]
Each round runs all three in turn, so that they meet the same machine; a time is the least of all rounds.
"""
import pathlib
import sys

from tables import bench, error_against_torch, exported_network, mebibytes, run_json, table, write_between_marks

NETWORKS = ["squeezenet1_1", "googlenet", "resnet18", "resnet50"]
CHOICES = ["off", "f2", "f4"]
ROUNDS, RUNS = 3, 10
TITLES = ["network", "Winograd", "ms", "CPU ms", "of off", "device weights, MiB", "intermediates, MiB", "largest error"]


def rows(tool, name):
    folder = exported_network(name)
    model = folder / "model.onnx"
    times = {choice: [] for choice in CHOICES}
    for _ in range(ROUNDS):
        for choice in CHOICES:
            times[choice].append(bench(tool, model, "--runs", str(RUNS), "--winograd", choice))
    least = {choice: {key: min(run[key] for run in times[choice]) for key in ("min_ms", "cpu_ms")} for choice in CHOICES}
    for choice in CHOICES:
        memory = run_json(tool, "profile", model, "--runs", "1", "--winograd", choice, "--json")
        yield [name, choice, f"{least[choice]['min_ms']:.1f}", f"{least[choice]['cpu_ms']:.1f}",
               f"{least[choice]['cpu_ms'] / least['off']['cpu_ms']:.2f}", mebibytes(memory["weights_bytes"], 1),
               mebibytes(memory["planned_bytes"]), f"{error_against_torch(tool, folder, '--winograd', choice):.1e}"]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tool = pathlib.Path(sys.argv[1]) / "tools/vellum/vellum"
    lines = []
    for name in sys.argv[2:] or NETWORKS:
        for cells in rows(tool, name):
            print(*cells, sep="  ", file=sys.stderr)
            lines.append(cells)
    write_between_marks("performance.md", "winograd", table(TITLES, lines))


main()
