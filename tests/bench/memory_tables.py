#!/usr/bin/python3
"""Plans the fetched models in every memory mode, with and without the ways to need less, and writes the tables between
the markers of docs/benchmarks/memory.md anew; then runs each mode on the first device. Needs what `setup.sh tests` fetches:
    tests/bench/memory_tables.py BUILD_FOLDER [--planned] [NAME...]    # names of tests/models.json
--planned: leaves the last table, which is measured, as it is.
"""

import json
import pathlib
import subprocess
import sys

from tables import ROOT, cache_folder, mebibytes, table, write_between_marks

CAPS = ROOT / "caps/lavapipe.json"
WAYS = ["in place", "views", "reorder"]
MODES = ["shared-objects", "offsets"]


def compare(build, file, case, storage, where):
    command = [pathlib.Path(build) / "tools/vellum/vellum", "plan", file, "--compare", "--json"]
    command += ["--storage", storage] + where
    if case["layout"] == "nchw":  # PP-OCR's: their input `x` is open, N x 3 x H x W
        width, height = case["size"]
        command += ["--shape", f"x={len(case.get('crops', [0]))}x3x{height}x{width}"]
    output = subprocess.run(command, check=True, capture_output=True, text=True)
    return {(line["mode"], line["ways"]): line for line in json.loads(output.stdout)["comparison"]}


def saving(lines, mode, less, more="none"):
    before, after = lines[mode, more]["planned_bytes"], lines[mode, less]["planned_bytes"]
    return f"{100 * (before - after) / before:.1f}%" if before and after != before else "–"


def planned_cells(lines):
    unfused, naive = lines["naive", "unfused"], lines["naive", "none"]
    cells = [f"{unfused['tensors']} → {naive['tensors']}"]
    cells += [f"{mebibytes(unfused['planned_bytes'])} → {mebibytes(naive['planned_bytes'])}"]
    for mode in MODES:
        cells += [mebibytes(lines[mode, "none"]["planned_bytes"]), saving(lines, mode, "none", "unfused")]
        cells += [saving(lines, mode, ways) for ways in WAYS]
        cells.append(f"**{mebibytes(lines[mode, 'all']['planned_bytes'])}**")
    return cells


def measured_cells(lines):
    cells = []
    for line in [lines["naive", "none"]] + [lines[mode, "all"] for mode in MODES]:
        assert line["allocated_bytes"] == line["planned_bytes"], line
        cells += [mebibytes(line["allocated_bytes"]), str(line["images"] + line["buffers"])]
        cells += [str(line["most_reused"]), f"{line['median_ms']:.1f}"]
    return cells


def planned_table(build, folder, models, storage):
    titles = ["model", "tensors", "naive"]
    for mode in MODES:
        titles += [f"{mode}: none", "fusion"] + WAYS + ["all"]
    return table(titles, lines_of(build, folder, models, storage, ["--caps", CAPS], planned_cells))


def measured_table(build, folder, models):
    titles = ["model"]
    for mode in ["naive"] + MODES:
        titles += [f"{mode}: MiB", "objects", "most reused", "ms"]
    return table(titles, lines_of(build, folder, models, "auto", ["--device", "0"], measured_cells))


def lines_of(build, folder, models, storage, where, cells):
    for model in models:
        print(model["title"], storage, *where, file=sys.stderr)
        lines = compare(build, folder / model["file"], model["cases"][0], storage, where)
        yield [model["title"]] + cells(lines)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = cache_folder() / "models"
    models = json.loads((ROOT / "tests/models.json").read_text())["models"]
    names = [word for word in sys.argv[2:] if word != "--planned"]
    models = [model for model in models if not names or model["name"] in names]
    text = "Tensors in images:\n\n" + planned_table(sys.argv[1], folder, models, "image2d")
    text += "\nTensors in buffers:\n\n" + planned_table(sys.argv[1], folder, models, "buffer")
    measured = "On lavapipe, allocated as planned, median of five runs:\n\n"
    if "--planned" in sys.argv[2:]:
        page = (ROOT / "docs/benchmarks/memory.md").read_text()
        text += "\n" + measured + page.split(measured)[1].split("<!-- memory tables end")[0]
    else:
        text += "\n" + measured + measured_table(sys.argv[1], folder, models)
    write_between_marks("memory.md", "memory tables", text)


if __name__ == "__main__":
    main()
