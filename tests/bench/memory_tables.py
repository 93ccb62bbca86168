#!/usr/bin/env python3
"""Plans the fetched models in every memory mode, with and without the ways to need less, and writes the tables between
the markers of docs/memory.md anew. Needs what `setup.sh tests` fetches, and no device:
    tests/bench/memory_tables.py BUILD_FOLDER [NAME...]    # names of tests/models.json
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BEGIN, END = "<!-- memory tables begin -->\n", "<!-- memory tables end -->\n"
CAPS = ROOT / "caps/lavapipe.json"
WAYS = ["in place", "views", "reorder"]


def mebibytes(number):
    return f"{number / 2**20:.2f}"


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def compare(build, file, case, storage):
    command = [pathlib.Path(build) / "samples/cli/vellum", "plan", file, "--compare", "--json"]
    command += ["--caps", CAPS, "--storage", storage]
    if case["layout"] == "nchw":  # PP-OCR's: their input `x` is open, N x 3 x H x W
        width, height = case["size"]
        command += ["--shape", f"x={len(case.get('crops', [0]))}x3x{height}x{width}"]
    output = subprocess.run(command, check=True, capture_output=True, text=True)
    return {(line["mode"], line["ways"]): line for line in json.loads(output.stdout)["comparison"]}


def saving(lines, mode, ways):
    none, some = lines[mode, "none"]["planned_bytes"], lines[mode, ways]["planned_bytes"]
    return f"{100 * (none - some) / none:.1f}%" if none and some != none else "–"


def table(build, folder, models, storage):
    modes = ["shared-objects", "offsets"]
    text = row(["model", "tensors", "naive"] + [f"{mode}: none | {' | '.join(WAYS)} | all" for mode in modes])
    text += row(["---"] + ["---:"] * 12)
    for model in models:
        lines = compare(build, folder / model["file"], model["cases"][0], storage)
        cells = [model["title"], str(lines["naive", "none"]["tensors"]), mebibytes(lines["naive", "none"]["planned_bytes"])]
        for mode in modes:
            cells.append(mebibytes(lines[mode, "none"]["planned_bytes"]))
            cells += [saving(lines, mode, ways) for ways in WAYS]
            cells.append(f"**{mebibytes(lines[mode, 'all']['planned_bytes'])}**")
        text += row(cells)
        print(model["title"], storage, file=sys.stderr)
    return text


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    data = subprocess.run([ROOT / "setup.sh", "where"], check=True, capture_output=True, text=True).stdout.strip()
    folder = pathlib.Path(data) / "models"
    models = json.loads((ROOT / "tests/models.json").read_text())["models"]
    models = [model for model in models if not sys.argv[2:] or model["name"] in sys.argv[2:]]
    text = "Tensors in images:\n\n" + table(sys.argv[1], folder, models, "image2d")
    text += "\nTensors in buffers:\n\n" + table(sys.argv[1], folder, models, "buffer")
    page = ROOT / "docs/memory.md"
    before, rest = page.read_text().split(BEGIN)
    page.write_text(before + BEGIN + text + END + rest.split(END)[1])


main()
