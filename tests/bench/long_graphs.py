#!/usr/bin/env python3
"""How long the stages of compilation take for graphs of 1,000, 4,000 and 16,000 nodes.

    long_graphs.py BUILD_FOLDER

Chains of Conv, Add and Relu, the same with residuals, and a Concat of independent operators; no device is used. Each row has the
least CPU time of three runs of `vellum inspect MODEL --stage STAGE --storage buffer --search-ms 0`, loading included. n log n is a
factor of 4.8 from one column to the next.
"""
import os
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hostile"))
from onnx_writer import FLOAT, node, simple, tensor  # noqa: E402

SIZES = (1000, 4000, 16000)


def chain(count, second=None):
    """Conv, Add, Relu and again; `second`: what Add adds, by default what the Conv reads."""
    nodes, value = [], "x"
    for i in range(count // 3):
        nodes += [node("Conv", [value, "w"], ["c%d" % i]),
                  node("Add", ["c%d" % i, second or value], ["a%d" % i]),
                  node("Relu", ["a%d" % i], ["r%d" % i])]
        value = "r%d" % i
    constants = [tensor("w", [8, 8, 1, 1], [0.01] * 64, FLOAT), tensor("b", [1, 8, 1, 1], [0.1] * 8, FLOAT)]
    return simple(nodes + [node("Identity", [value], ["y"])], constants, [("x", [1, 8, 8, 8])])


def concat(count):
    names = ["v%d" % i for i in range(count)]
    return simple([node("Sigmoid", ["x"], [name]) for name in names] + [node("Concat", names, ["y"], axis=1)],
                  inputs=[("x", [1, 4, 4, 4])])


def cpu_seconds(words):
    least = None
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        least = taken if least is None else min(least, taken)
    return least


def main():
    tool = os.path.join(sys.argv[1], "tools", "vellum", "vellum")
    graphs = {"Conv, Add, Relu": lambda n: chain(n, "b"), "Conv, residual Add, Relu": chain, "Concat": concat}
    print("| graph | stage | " + " | ".join("%d nodes" % size for size in SIZES) + " |")
    print("| --- | --- |" + " ---: |" * len(SIZES))
    with tempfile.TemporaryDirectory() as folder:
        for name, make in graphs.items():
            for stage in ("graph", "barriers"):
                cells = []
                for size in SIZES:
                    file = os.path.join(folder, "model.onnx")
                    with open(file, "wb") as out:
                        out.write(make(size))
                    words = [tool, "inspect", file, "--stage", stage, "--storage", "buffer", "--search-ms", "0"]
                    cells.append("%.2f s" % cpu_seconds(words))
                print("| %s | %s | %s |" % (name, stage, " | ".join(cells)), flush=True)


if __name__ == "__main__":
    main()
