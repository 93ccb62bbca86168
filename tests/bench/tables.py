"""Helpers that the benchmarks share: the fetched files, programs that print JSON, and Markdown tables between marks of a page of
docs/."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def cache_folder():
    """The folder of everything that setup.sh fetches."""
    where = subprocess.run([ROOT / "setup.sh", "where"], check=True, capture_output=True, text=True)
    return pathlib.Path(where.stdout.strip())


def exported_network(name, size="default", opset=17):
    """The folder in which tests/backbones.sh leaves a network: model.onnx, input.npy, output.npy."""
    folder = cache_folder() / f"backbones/size_{size}_batch_1_opset_{opset}" / name
    if not (folder / "model.onnx").exists():
        sys.exit(f"{folder / 'model.onnx'} is not there: `tests/backbones.sh --runs 0 --size {size} --opset {opset} {name}` exports it")
    return folder


def run_json(*command, **environment):
    """Runs a program that prints a JSON document, and returns the document."""
    done = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **environment})
    return json.loads(done.stdout)


def error_against_torch(tool, folder, *options):
    """The largest of all outputs of an exported network, as a part of torch's largest output."""
    import numpy
    with tempfile.TemporaryDirectory() as scratch:
        run_json(tool, "run", folder / "model.onnx", "-i", f"input={folder / 'input.npy'}", "-o", scratch, *options, "--json")
        got = numpy.load(pathlib.Path(scratch) / "output.npy")
    want = numpy.load(folder / "output.npy")
    return float(abs(got - want).max() / abs(want).max())


def bench(tool, *words, **environment):
    """Runs `vellum bench` without tuned choices and returns its JSON document."""
    return run_json(tool, "bench", *words, "--no-tuned", "--json", **environment)


def mebibytes(number, digits=2):
    return f"{number / 2**20:.{digits}f}"


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def table(titles, rows):
    """The first column to the left, the others, figures, to the right."""
    return row(titles) + row(["---"] + ["---:"] * (len(titles) - 1)) + "".join(row(cells) for cells in rows)


def write_between_marks(page, name, text):
    """Replaces the text in docs/benchmarks/PAGE between `<!-- NAME begin -->` and `<!-- NAME end -->`."""
    begin, end = f"<!-- {name} begin -->\n", f"<!-- {name} end -->\n"
    path = ROOT / "docs/benchmarks" / page
    before, rest = path.read_text().split(begin)
    path.write_text(before + begin + text + end + rest.split(end)[1])
