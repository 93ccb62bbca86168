#!/usr/bin/env python3
"""Runs the TFLite files of three repositories in Vellum and in LiteRT's reference kernels, and prints a table.

  git clone https://github.com/google-coral/test_data, mlcommons/tiny and tensorflow/tflite-support below FOLDER
  pip install ai-edge-litert numpy pillow
  tests/bench/tflite_files.py build/tools/vellum/vellum $(./setup.sh where)/photos/astronaut.png FOLDER

Inputs of images get the photo, others random numbers. For integers the table has how many elements are within one step, and
the greatest difference; for floats the signal to noise ratio. "another greatest": the largest element is another one. Copies of
a file are left out, and files that LiteRT does not run: those of the Edge TPU, and those with operators of other libraries.
"""
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from PIL import Image

tool, photo, root = sys.argv[1], Image.open(sys.argv[2]).convert("RGB"), pathlib.Path(sys.argv[3])
OPEN_SHAPES = {"dilated_conv": [1, 33, 35, 3]}


def input_values(detail, generator):
    shape, dtype = detail["shape"], detail["dtype"]
    if len(shape) == 4 and shape[3] == 3 and shape[1] > 16:
        pixels = np.asarray(photo.resize((int(shape[2]), int(shape[1]))))[None]
        if dtype == np.int8:
            return (pixels.astype(np.int16) - 128).astype(np.int8)
        return pixels if dtype == np.uint8 else (pixels / 127.5 - 1).astype(np.float32)
    if dtype == np.float32:
        return generator.uniform(-1, 1, shape).astype(np.float32)
    bounds = (0, 1000) if dtype == np.int32 else (np.iinfo(dtype).min, np.iinfo(dtype).max + 1)
    return generator.integers(*bounds, shape).astype(dtype)


def reference(file):
    interpreter = Interpreter(model_path=str(file), experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    if file.stem in OPEN_SHAPES:
        interpreter.resize_tensor_input(0, OPEN_SHAPES[file.stem])
    interpreter.allocate_tensors()
    generator, inputs = np.random.default_rng(1), {}
    for detail in interpreter.get_input_details():
        inputs[detail["name"]] = input_values(detail, generator)
        interpreter.set_tensor(detail["index"], inputs[detail["name"]])
    interpreter.invoke()
    return inputs, {detail["name"]: interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()}


def compared(want, path):
    got = np.load(path)
    if got.shape != want.shape:
        return f"shape {got.shape} for {want.shape}"
    a, b = want.astype(np.float64), got.astype(np.float64)
    difference = np.abs(a - b)
    other = "" if a.argmax() == b.argmax() else "; another greatest"
    if np.issubdtype(want.dtype, np.integer):
        return f"{100 * (difference <= 1).mean():.1f} %, at most {int(difference.max())}{other}"
    ratio = 10 * np.log10((a ** 2).sum() / max((difference ** 2).sum(), 1e-30)) if a.any() else 999
    return (f"{ratio:.0f} dB" if ratio < 100 else "> 100 dB") + other


def result_of(file, folder):
    inputs, expected = reference(file)
    command = [tool, "run", str(file), "-o", str(folder)]
    for i, (name, values) in enumerate(inputs.items()):
        np.save(folder / f"{i}.npy", values)
        command += ["-i", f"{name}={folder / f'{i}.npy'}"]
    if file.stem in OPEN_SHAPES:
        command += ["--shape", next(iter(inputs)) + "=" + "x".join(map(str, OPEN_SHAPES[file.stem]))]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        return "refused: " + run.stderr.strip().splitlines()[-1].rpartition(": ")[2]
    return " / ".join(dict.fromkeys(compared(values, folder / (re.sub(r"[^A-Za-z0-9._-]", "_", name) + ".npy"))
                                    for name, values in expected.items()))


print("| repository | file | result |\n| --- | --- | --- |")
seen, last = set(), None
for file in sorted(root.rglob("*.tflite")):
    digest = hashlib.sha256(file.read_bytes()).digest()
    if digest in seen or "edgetpu" in file.name:
        continue
    seen.add(digest)
    try:
        with tempfile.TemporaryDirectory() as folder:
            result = result_of(file, pathlib.Path(folder))
    except (RuntimeError, ValueError, TypeError):
        continue  # LiteRT does not run it
    repository = file.relative_to(root).parts[0]
    print(f"| {repository if repository != last else ''} | {file.stem} | {result} |", flush=True)
    last = repository
