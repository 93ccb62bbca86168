"""Runs the programs of docs/python.md, one after another as a reader would, in a folder that has face.onnx, selfie.tflite,
stream.tflite, denoise.onnx and photo.npy.

docs_programs.py [--torch]      those that use torch, instead of those that do not
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

import numpy as np

PAGE = Path(__file__).parents[3] / "docs" / "python.md"
MODELS = {"face.onnx": "face_detection_front_128x128_barracuda.onnx", "selfie.tflite": "selfie_segmentation.tflite"}

STREAM = Path(__file__).parents[3] / "tests" / "data" / "tflite" / "stream.tflite"

# Debian: libonnx-testdata
ONNX_NODES = Path("/usr/share/libonnx-testdata/data/node")


def means_of_any_picture() -> bytes:
    """A model of x [1,3,H,W] to y [1,3,H+2,W+2], means of 3x3 windows: in a file for one size, each dim_value of rows and columns
    (28, 30) becomes an empty dim_param."""
    model = (ONNX_NODES / "test_averagepool_2d_pads" / "model.onnx").read_bytes()
    for size in (28, 30):
        model = model.replace(bytes([0x0A, 2, 0x08, size]), bytes([0x0A, 2, 0x12, 0]))
    return model


def run_programs(with_torch: bool) -> dict[str, object]:
    """Returns the variables that the programs leave, except for sessions and what else holds a device."""
    programs = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    chosen = [program for program in programs if ("import" in program and "torch" in program) == with_torch]
    assert chosen, f"{PAGE} has no such program"
    variables: dict[str, object] = {}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        for name, model in MODELS.items():
            (Path(folder) / name).symlink_to(Path(os.environ["VELLUM_TEST_DATA"]) / "models" / model)
        Path(folder, "stream.tflite").symlink_to(STREAM)
        Path(folder, "denoise.onnx").write_bytes(means_of_any_picture())
        np.save(Path(folder, "photo.npy"), np.random.default_rng(1).random((1, 3, 300, 400), np.float32))
        os.chdir(folder)
        try:
            for program in chosen:
                exec(compile(program, str(PAGE), "exec"), variables)
            kept = {name: value for name, value in variables.items() if not hasattr(value, "close")}
        finally:
            variables.clear()  # while the folder is there: a device writes its caches when it is destroyed
            os.chdir(before)
    return kept


if __name__ == "__main__":
    run_programs("--torch" in sys.argv[1:])
