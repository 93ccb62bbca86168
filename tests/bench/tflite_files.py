#!/usr/bin/env python3
"""Runs the TFLite files of a folder in Vellum and in LiteRT's reference kernels, and prints a table.

  git clone https://github.com/google-coral/test_data, mlcommons/tiny and tensorflow/tflite-support below FOLDER
  pip install ai-edge-litert numpy pillow
  tests/bench/tflite_files.py build/tools/vellum/vellum FOLDER --photos PHOTO ... [--random N] [--quantised]

Each file runs on every photo, where an input is an image, and N times on random numbers of all values; the table has the worst
run. For integers it has how many elements are within one step, and the greatest difference; for floats the signal to noise
ratio. "another greatest": the largest element is another one. Copies of a file are left out, and files that LiteRT does not run:
those of the Edge TPU, and those with operators of other libraries. `--quantised`: only files with tensors of integers with
scales. Options for `vellum run` go to VELLUM_RUN ("--storage buffer"). Fails if an output of integers has less than 99.9 % within
a step, if a greatest element is another one, or if Vellum refuses a file.
"""
import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from PIL import Image

OPEN_SHAPES = {"dilated_conv": [1, 33, 35, 3]}


def is_image(detail):
    shape = detail["shape"]
    return len(shape) == 4 and shape[3] == 3 and shape[1] > 16


def photo_values(detail, photo):
    shape, dtype = detail["shape"], detail["dtype"]
    pixels = np.asarray(photo.resize((int(shape[2]), int(shape[1]))))[None]
    if dtype == np.int8:
        return (pixels.astype(np.int16) - 128).astype(np.int8)
    return pixels if dtype == np.uint8 else (pixels / 127.5 - 1).astype(np.float32)


def random_values(detail, generator):
    shape, dtype = detail["shape"], detail["dtype"]
    if dtype == np.float32:
        return generator.uniform(-1, 1, shape).astype(np.float32)
    bounds = (0, 1000) if dtype == np.int32 else (np.iinfo(dtype).min, np.iinfo(dtype).max + 1)
    return generator.integers(*bounds, shape).astype(dtype)


def load(file):
    interpreter = Interpreter(model_path=str(file), experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    if file.stem in OPEN_SHAPES:
        interpreter.resize_tensor_input(0, OPEN_SHAPES[file.stem])
    interpreter.allocate_tensors()
    return interpreter


def is_quantised(interpreter):
    return any(detail["dtype"] in (np.int8, np.uint8, np.int16) and detail["quantization_parameters"]["scales"].size
               for detail in interpreter.get_tensor_details())


def name_of(detail):
    """As Vellum calls the tensor."""
    return detail["name"] or f"tensor_{detail['index']}"


def reference(file, inputs):
    interpreter = load(file)
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], inputs[name_of(detail)])
    interpreter.invoke()
    return {name_of(detail): interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()}


class Difference:
    """The greatest difference of one output in all runs."""

    def __init__(self):
        self.within, self.most, self.ratio, self.note = 1.0, -1, np.inf, ""

    def add(self, want, path):
        got = np.load(path)
        if got.shape != want.shape:
            self.note = f"; shape {got.shape} for {want.shape}"
            return
        a, b = want.astype(np.float64), got.astype(np.float64)
        if not np.array_equal(np.isfinite(a), np.isfinite(b)):
            self.note = "; other infinities"
        difference = np.nan_to_num(np.abs(a - b))
        if a.size and a.reshape(-1)[b.argmax()] != a.max():
            self.note = self.note or "; another greatest"
        if np.issubdtype(want.dtype, np.integer):
            self.within = min(self.within, (difference <= 1).mean() if a.size else 1.0)
            self.most = max(self.most, int(difference.max(initial=0)))
        elif difference.any():
            self.ratio = min(self.ratio, 10 * np.log10((np.nan_to_num(a) ** 2).sum() / (difference ** 2).sum() + 1e-30))

    def text(self):
        if self.most >= 0:
            return f"{100 * self.within:.1f} %, at most {self.most}{self.note}"
        return ("equal" if self.ratio == np.inf else f"{self.ratio:.0f} dB" if self.ratio < 100 else "> 100 dB") + self.note

    def wrong(self):
        return bool(self.note) or self.within < 0.999


def run_once(tool, file, inputs, folder, differences):
    expected = reference(file, inputs)
    command = [tool, "run", str(file), "--json", "-o", str(folder), *os.environ.get("VELLUM_RUN", "").split()]
    for i, (name, values) in enumerate(inputs.items()):
        np.save(folder / f"{i}.npy", values)
        command += ["-i", f"{name}={folder / f'{i}.npy'}"]
    if file.stem in OPEN_SHAPES:
        command += ["--shape", next(iter(inputs)) + "=" + "x".join(map(str, OPEN_SHAPES[file.stem]))]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        return "refused: " + run.stderr.strip().splitlines()[-1].rpartition(": ")[2]
    files = {output["name"]: output["file"] for output in json.loads(run.stdout)["outputs"]}
    for name, values in expected.items():
        differences.setdefault(name, Difference()).add(values, files[name])
    return None


def result_of(tool, file, interpreter, photos, times):
    """Returns the cell of the table, and whether the file is wrong."""
    details, differences = interpreter.get_input_details(), {}
    runs = [("photo", photo) for photo in photos] if any(is_image(detail) for detail in details) else []
    for kind, source in runs + [("random", np.random.default_rng(seed)) for seed in range(1, times + 1)]:
        generator = source if kind == "random" else np.random.default_rng(1)
        inputs = {name_of(detail): photo_values(detail, source) if kind == "photo" and is_image(detail)
                  else random_values(detail, generator) for detail in details}
        with tempfile.TemporaryDirectory() as folder:
            refusal = run_once(tool, file, inputs, pathlib.Path(folder), differences)
        if refusal:
            return refusal, True
    return (" / ".join(dict.fromkeys(difference.text() for difference in differences.values())),
            any(difference.wrong() for difference in differences.values()))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("tool")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--photos", nargs="+", default=[])
    parser.add_argument("--random", type=int, default=1)
    parser.add_argument("--quantised", action="store_true")
    arguments = parser.parse_args()
    photos = [Image.open(name).convert("RGB") for name in arguments.photos]
    print("| repository | file | result |\n| --- | --- | --- |")
    seen, last, failed = set(), None, False
    for file in sorted(arguments.folder.rglob("*.tflite")):
        digest = hashlib.sha256(file.read_bytes()).digest()
        if digest in seen or "edgetpu" in file.name:
            continue
        seen.add(digest)
        try:
            interpreter = load(file)
            if arguments.quantised and not is_quantised(interpreter):
                continue
            result, wrong = result_of(arguments.tool, file, interpreter, photos, arguments.random)
        except (RuntimeError, ValueError, TypeError):
            continue  # LiteRT does not run it
        failed = failed or wrong
        repository = file.relative_to(arguments.folder).parts[0]
        print(f"| {repository if repository != last else ''} | {file.stem} | {result} |", flush=True)
        last = repository
    sys.exit(failed)


main()
