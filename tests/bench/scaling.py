#!/usr/bin/python3
"""Time of networks over the area of the input and over the batch, on the first Vulkan device: writes the table between the
marks of docs/benchmarks/performance.md and docs/images/scaling.svg anew:
    tests/bench/scaling.py BUILD_FOLDER [NETWORK...]
tests/backbones.sh exports a network for each size, with torch; batches take the network as it is. A time is the least of
three rounds over all points of a curve. The exponent is the slope of the straight line fitted to log(time) over log(work): 1
is growth as fast as the work, less is slower; that of the processor time, for devices that are the CPU, is given too, since
other programs on the machine matter less to it. The plot needs Debian's python3-matplotlib.
"""
import math
import pathlib
import subprocess
import sys

from plots import pyplot, save, ticker
from tables import ROOT, bench, exported_network, table, write_between_marks

NETWORKS = ["mobilenet_v2", "resnet18"]
SIDES, BATCHES = [128, 192, 256, 320, 384, 512], [1, 2, 3, 4, 6, 8]
ROUNDS, RUNS = 3, 5


def times_of(tool, model, *options):
    """Milliseconds and those of the processor."""
    figures = bench(tool, model, "--runs", str(RUNS), *options)
    return figures["min_ms"], figures["cpu_ms"]


def curve(tool, points):
    """The least times of [(model, options)], and the least of the processor."""
    times, cpu_times = [math.inf] * len(points), [math.inf] * len(points)
    for _ in range(ROUNDS):
        for i, (model, options) in enumerate(points):
            time, cpu_time = times_of(tool, model, *options)
            times[i], cpu_times[i] = min(times[i], time), min(cpu_times[i], cpu_time)
    return times, cpu_times


def over_area(tool, name):
    points = []
    for side in SIDES:
        subprocess.run([ROOT / "tests/backbones.sh", "--tool", tool, "--runs", "0", "--size", str(side), name], check=True,
                       stdout=subprocess.DEVNULL)
        points.append((exported_network(name, size=side) / "model.onnx", []))
    return curve(tool, points)


def over_batch(tool, name):
    model = exported_network(name) / "model.onnx"
    return curve(tool, [(model, ["--shape", f"input={batch}x3x224x224"]) for batch in BATCHES])


def exponent(work, times):
    x, y = [math.log(value) for value in work], [math.log(value) for value in times]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / sum((a - mean_x) ** 2 for a in x)


def row_of(name, what, labels, work, times, cpu_times):
    growth = times[-1] / times[0]
    return [name, what, " ".join(f"{label}: {time:.1f}" for label, time in zip(labels, times)), f"{work[-1] / work[0]:.0f}",
            f"{growth:.1f}", f"{exponent(work, times):.2f}", f"{exponent(work, cpu_times):.2f}"]


def draw(axes, curves, label, ticks):
    for name, work, times, _ in curves:
        line, = axes.loglog(work, times, "o-", label=f"{name}: exponent {exponent(work, times):.2f}")
        axes.loglog(work, [times[0] * value / work[0] for value in work], "--", color=line.get_color(), linewidth=0.8)
    axes.set_xticks(curves[0][1], ticks)
    axes.yaxis.set_major_locator(ticker.LogLocator(subs=[1, 2, 5]))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.set_xlabel(label)
    axes.set_ylabel("ms (dashed: as fast as the work)")
    axes.legend(fontsize=8)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tool = pathlib.Path(sys.argv[1]).resolve() / "tools/vellum/vellum"
    areas = [side * side for side in SIDES]
    figures, by_area, by_batch = [], [], []
    for name in sys.argv[2:] or NETWORKS:
        by_area.append((name, areas, *over_area(tool, name)))
        by_batch.append((name, BATCHES, *over_batch(tool, name)))
        figures.append(row_of(name, "side of the input", SIDES, *by_area[-1][1:]))
        figures.append(row_of(name, "batch", BATCHES, *by_batch[-1][1:]))
        print(*figures[-2:], sep="\n", file=sys.stderr)
    write_between_marks("performance.md", "scaling",
                        table(["network", "over", "ms", "work grows by", "time grows by", "exponent", "exponent of CPU time"], figures))
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 4))
    draw(left, by_area, "input", [f"{side}²" for side in SIDES])
    draw(right, by_batch, "batch", BATCHES)
    save(figure, "scaling.svg")


main()
