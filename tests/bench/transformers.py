#!/usr/bin/python3
"""What the passes for transformers save: dispatches and time of models, memory over the number of tokens. Writes its tables
between the marks of docs/benchmarks/passes.md anew.

    transformers.py passes MODEL.onnx [MODEL.onnx --shape NAME=1x3x48x320]...   all in one run
    transformers.py passes --without NAME,NAME --table NAME MODEL.onnx...       other passes, into another table
    transformers.py tokens MODEL.onnx [--svg FILE]     MODEL as tests/oracles/export_attention.py makes it; no device needed

`passes` takes turns between a model with the passes and without them, so that both meet the same machine.
"""
import argparse
import pathlib
import subprocess
import sys

from tables import ROOT, bench, run_json, table, write_between_marks

PASSES = ("fuse_layer_norm", "fuse_softmax", "fuse_attention", "matmul_to_gemm")
TOKENS = (64, 128, 256, 512, 1024, 2048, 4096)


def without(passes):
    return [word for name in passes for word in ("--disable-pass", name)]


def measure(tool, model, runs, rounds, without_passes):
    """The best of several benchmarks of a model without and with the passes, in turns."""
    best = [{}, {}]
    for _ in range(rounds):
        for slot, passes in enumerate((without_passes, ())):
            got = bench(tool, *model, "--runs", str(runs), "--warm-up", "1", *without(passes))
            for key in ("min_ms", "cpu_ms", "dispatches"):
                best[slot][key] = min(got[key], best[slot].get(key, got[key]))
    return best


def write_passes(arguments):
    models = []
    for word in arguments.models:
        if word.startswith("--"):
            models[-1].append(word)
        elif models and models[-1][-1].startswith("--"):
            models[-1].append(word)
        else:
            models.append([word])
    rows = []
    for model in models:
        path = pathlib.Path(model[0])
        before, after = measure(arguments.tool, model, arguments.runs, arguments.rounds, arguments.without.split(","))
        cells = [f"{before[key]:.0f} → {after[key]:.0f}" for key in ("dispatches", "min_ms", "cpu_ms")]
        rows.append([path.parent.name if path.stem == "model" else path.stem, *cells])
        print(*rows[-1], sep="  ", file=sys.stderr)
    write_between_marks("passes.md", arguments.table, table(["model", "dispatches", "ms", "ms of CPU time"], rows))


def planned_mib(tool, model, tokens, passes):
    shape = f"tokens=1x{tokens}x64"
    try:
        plans = run_json(tool, "plan", model, "--shape", shape, "--mode", "objects", "--budget", "0", "--strategy", "best",
                       *without(passes), "--json")["plans"]
    except subprocess.CalledProcessError as error:
        if "storage buffer range" not in error.stderr:
            raise
        return None  # larger than a buffer may be
    return min(plan["total_bytes"] for plan in plans if plan["mode"] == "objects") / 2**20


def draw(rows, file):
    """Both curves on logarithmic axes of base 2: slope 1 is linear, slope 2 quadratic."""
    from math import log2
    left, bottom, step = 64, 300, 40
    known = [log2(mib) for row in rows for mib in row[1:] if mib]
    low, high = int(min(known)) - 1, int(max(known)) + 1
    place = lambda tokens, mib: f"{left + step * (log2(tokens) - log2(rows[0][0])):.1f},{bottom - 20 * (log2(mib) - low):.1f}"
    width, top = left + step * (len(rows) - 1) + 150, bottom - 20 * (high - low)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {top - 24} {width} {bottom - top + 70}" '
           'font-family="sans-serif" font-size="12" fill="#555">']
    for power in range(low, high + 1, 2):
        y = bottom - 20 * (power - low)
        out.append(f'<path d="M{left} {y}H{width - 130}" stroke="#ddd"/>'
                   f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{2.0 ** power:g}</text>')
    for i, row in enumerate(rows):
        out.append(f'<text x="{left + step * i}" y="{bottom + 18}" text-anchor="middle">{row[0]}</text>')
    out.append(f'<text x="{left}" y="{top - 10}">MiB of intermediates</text>'
               f'<text x="{left}" y="{bottom + 38}">tokens</text>')
    for column, (colour, label) in enumerate((("#c2410c", "decomposed"), ("#1d4ed8", "fused")), start=1):
        points = [place(row[0], row[column]) for row in rows if row[column]]
        x, y = points[-1].split(",")
        out.append(f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" stroke-width="2"/>'
                   f'<text x="{float(x) + 8:.1f}" y="{float(y) + 4:.1f}" fill="{colour}">{label}</text>')
    pathlib.Path(file).write_text("\n".join([*out, "</svg>"]) + "\n")


def write_tokens(arguments):
    rows = [(tokens, planned_mib(arguments.tool, arguments.model, tokens, ("fuse_attention",)),
             planned_mib(arguments.tool, arguments.model, tokens, ())) for tokens in TOKENS]
    lines = [[label, *(f"{row[column]:.2f}" if row[column] else "refused" for row in rows)]
             for label, column in (("decomposed, MiB", 1), ("fused, MiB", 2))]
    write_between_marks("passes.md", "tokens", table(["tokens", *(str(row[0]) for row in rows)], lines))
    if arguments.svg:
        draw(rows, arguments.svg)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=str(ROOT / "build/tools/vellum/vellum"))
    commands = parser.add_subparsers(required=True)
    passes = commands.add_parser("passes")
    passes.add_argument("--runs", type=int, default=5)
    passes.add_argument("--rounds", type=int, default=2)
    passes.add_argument("--without", default=",".join(PASSES), metavar="NAME,NAME", help="the passes that are compared")
    passes.add_argument("--table", default="transformers", help="the mark of the table")
    passes.add_argument("models", nargs=argparse.REMAINDER)
    passes.set_defaults(run=write_passes)
    tokens = commands.add_parser("tokens")
    tokens.add_argument("model")
    tokens.add_argument("--svg")
    tokens.set_defaults(run=write_tokens)
    arguments = parser.parse_args()
    try:
        arguments.run(arguments)
    except subprocess.CalledProcessError as error:
        sys.exit(error.stderr.strip())


if __name__ == "__main__":
    main()
