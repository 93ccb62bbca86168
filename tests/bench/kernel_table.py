#!/usr/bin/python3
"""Runs kernel_bench and writes its results into docs/benchmarks/kernels.md, as tables, and docs/images/kernels.svg:
    tests/bench/kernel_table.py BUILD_FOLDER [RESULTS.json]
With RESULTS.json, which `kernel_bench --benchmark_out=RESULTS.json` wrote, it runs nothing. The plot needs Debian's
python3-matplotlib.
"""
import json
import pathlib
import sys

from kernel_results import REACHES, read_results, run_kernel_bench
from plots import pyplot, save
from tables import table, write_between_marks

HEADINGS = {"image": "image", "texel_buffer": "texel buffer", "storage_buffer": "storage buffer"}


def ceilings_table(context):
    rows = [[HEADINGS[reach], *(f"{float(context[f'{kind}_gbytes_{reach}']):.1f}" for kind in ("load", "store", "copy"))] for reach in REACHES]
    return (f"{context['device']}, {context['driver']}: {float(context['multiply_add_gflops']):.0f} GF/s of multiply-adds, "
            f"{float(context['dispatch_us']):.0f} µs for an empty dispatch.\n\n" + table(["tensors in", "load, GB/s", "store, GB/s", "copy, GB/s"], rows))


def microseconds(results, kernel, precision):
    times = [results[kernel, reach, precision]["min_us"] for reach in REACHES]
    return [f"**{time:.0f}**" if time == min(times) else f"{time:.0f}" for time in times]


def kernels_table(results):
    titles = ["kernel"] + [HEADINGS[reach] for reach in REACHES] + ["GF/s", "GB/s", "of ceiling"] + \
        [f"{HEADINGS[reach]}, fp16" for reach in REACHES]
    rows = []
    for kernel in dict.fromkeys(kernel for kernel, _, _ in results):
        best = min((results[kernel, reach, "fp32"] for reach in REACHES), key=lambda run: run["min_us"])
        gflops = f"{best['gflops']:.1f}" if best["gflops"] else "–"
        rows.append([kernel, *microseconds(results, kernel, "fp32"), gflops, f"{best['gbytes']:.1f}",
                     f"{best['of_ceiling']:.0%}", *microseconds(results, kernel, "fp16")])
    return table(titles, rows)


def plot(results):
    kernels = list(dict.fromkeys(kernel for kernel, _, _ in results))[::-1]
    figure, axes = pyplot.subplots(figsize=(8, 0.36 * len(kernels) + 1))
    for i, reach in enumerate(REACHES):
        shares = [100 * results[kernel, reach, "fp32"]["of_ceiling"] for kernel in kernels]
        axes.barh([k + 0.26 * (1 - i) for k in range(len(kernels))], shares, 0.26, label=HEADINGS[reach])
    axes.set_yticks(range(len(kernels)), kernels, fontsize=8)
    axes.set_xlabel("% of the nearest ceiling, fp32")
    axes.margins(y=0.01)
    axes.legend(loc="lower right")
    save(figure, "kernels.svg")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    if len(sys.argv) == 3:
        context, results = read_results(json.loads(pathlib.Path(sys.argv[2]).read_text()))
    else:
        context, results = run_kernel_bench(sys.argv[1])
    write_between_marks("kernels.md", "ceilings", ceilings_table(context))
    write_between_marks("kernels.md", "kernels", kernels_table(results))
    plot(results)


main()
