#!/usr/bin/python3
"""What memory budgets cost: runs networks within the budgets of their frontiers (budget_bench), and writes the tables between
the markers of docs/benchmarks/budgets.md anew.

    tests/bench/budget_table.py BUILD_FOLDER [--rounds N] [--from FILE] [MODEL...]

Wants fetched models and networks that tests/backbones.sh exported. budget_bench fails where a budget was exceeded or an output
differs in a bit. Times are ratios within one run: of the processor's time, which a busy machine disturbs little, and measured on
the clock. VK_ICD_FILENAMES names the driver.
"""
import argparse
import itertools
import json
import pathlib
import subprocess

from tables import cache_folder, exported_network, mebibytes, table, write_between_marks

FETCHED = ["face_detection_back_256x256_barracuda.onnx", "ch_PP-OCRv4_det_infer.onnx", "mlsd_512x512_tiny.onnx",
           "selfie_segmentation.tflite", "face_landmark_with_attention.tflite", "hand_landmark_full.tflite",
           "pose_landmark_lite.tflite"]
EXPORTED = ["mobilenet_v2", "resnet50", "efficientnet_b0", "squeezenet1_1", "yolov4_tiny"]
SHARES = [75, 50, 25, 10]


def default_models():
    return [cache_folder() / "models" / name for name in FETCHED] + [exported_network(name) / "model.onnx" for name in EXPORTED]


def point_rows(rows):
    """A row for each budget of a network."""
    resident = rows[-1]
    return [[row["network"], mebibytes(row["budget"]), f"{100 * row['budget'] / resident['budget']:.0f}%",
             mebibytes(row["peak_bytes"]), mebibytes(row["streamed_bytes"]),
             *(f"{row[time] / resident[time]:.2f}" for time in ("predicted_ms", "cpu_ms", "measured_ms"))]
            for row in rows]


def summary_row(rows):
    resident, least = rows[-1], rows[0]

    def slowdown(row):
        return f"{row['cpu_ms'] / resident['cpu_ms']:.2f}"

    cells = [resident["network"], mebibytes(resident["budget"]), mebibytes(least["budget"]),
             f"{100 * least['budget'] / resident['budget']:.0f}%", slowdown(least)]
    for share in SHARES:
        at = [row for row in rows if row["budget"] == resident["budget"] // 100 * share]
        cells.append(slowdown(at[0]) if at else "-")
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, metavar="BUILD_FOLDER")
    parser.add_argument("models", nargs="*", type=pathlib.Path, metavar="MODEL", help="default: twelve networks")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--from", dest="figures", type=pathlib.Path, help="what budget_bench printed before")
    arguments = parser.parse_intermixed_args()
    if arguments.figures:
        lines = arguments.figures.read_text().splitlines()
    else:
        command = [arguments.build / "tests/bench/budget_bench", str(arguments.rounds), *(arguments.models or default_models())]
        lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    networks = [list(rows) for _, rows in itertools.groupby(map(json.loads, lines), lambda row: row["network"])]
    titles = ["network", "resident, MiB", "smallest, MiB", "of resident", "time at smallest", *(f"at {s}%" for s in SHARES)]
    write_between_marks("budgets.md", "summary", table(titles, map(summary_row, networks)))
    titles = ["network", "budget, MiB", "of resident", "allocated at most, MiB", "streamed a run, MiB", "predicted", "processor",
              "clock"]
    write_between_marks("budgets.md", "budgets", table(titles, itertools.chain(*map(point_rows, networks))))


if __name__ == "__main__":
    main()
