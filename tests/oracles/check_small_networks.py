#!/usr/bin/python3
"""Exports small hand-written networks as they are, runs them, and compares with torch in double.

check_small_networks.py --tool build/tools/vellum/vellum [--exporter torchscript|dynamo] [--keep FOLDER] [NAME...] [-- OPTION...]

Weights and inputs are seeded. The exit status is 1 if a network is not exported, is refused
or differs; operators on the host are named.
"""
import argparse
import copy
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import numpy
import torch

from compare_backbone import LARGEST_ERROR, distance
from export_backbones import randomise
from more_small_networks import NETWORKS


def inputs_of(name, shapes):
    if name == "point_pillars":  # places of pillars, no two the same
        return [torch.randn(shapes[0]), torch.tensor([[0, 1], [2, 3], [7, 7], [4, 0], [5, 6], [3, 3]]).float()]
    if name in ("deformable_attention", "radiance_field", "subpixel_upscaler"):
        return [torch.rand(shape) for shape in shapes]
    return [torch.randn(shape) for shape in shapes]


def tuple_of(result):
    return result if isinstance(result, tuple) else (result,)


def export(network, inputs, file, exporter):
    names = [f"input{i}" for i in range(len(inputs))]
    with torch.no_grad():
        outputs = [f"output{i}" for i in range(len(tuple_of(network(*inputs))))]
    options = {"dynamo": exporter == "dynamo"} if hasattr(torch.onnx, "ONNXProgram") else {"opset_version": 17}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # remarks on shapes that are taken as constant, as is wanted here
        torch.onnx.export(network, tuple(inputs), str(file), input_names=names, output_names=outputs, **options)
    return names, outputs


def check(name, arguments, folder):
    """What differs, and a line that says how the network ran."""
    torch.manual_seed(arguments.seed)
    make, shapes = NETWORKS[name]
    network = make().eval()
    randomise(network)
    inputs = inputs_of(name, shapes)
    with torch.no_grad():
        exact = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        want = tuple_of(copy.deepcopy(network).double()(*(value.double() for value in inputs)))
        torch.set_default_dtype(exact)
    names, outputs = export(network, inputs, folder / "model.onnx", arguments.exporter)
    words = []
    for label, value in zip(names, inputs):
        numpy.save(folder / f"{label}.npy", value.numpy())
        words += ["-i", f"{label}={folder / label}.npy"]
    done = subprocess.run([arguments.tool, "run", folder / "model.onnx", *words, "-o", folder, *arguments.options],
                          capture_output=True, text=True)
    if done.returncode:
        return "refused", (done.stderr.strip().splitlines() or ["no message"])[-1]
    host = sorted(set(re.findall(r"(\w+) '", "".join(line for line in done.stderr.splitlines() if "host" in line))))
    error = 0.0
    for label, value in zip(outputs, want):
        got = numpy.load(folder / f"{label}.npy").astype(numpy.float64)
        if got.shape != tuple(value.shape) or not numpy.isfinite(got).all():
            return "wrong", f"{label} has shape {got.shape} for {tuple(value.shape)}, or is not finite"
        error = max(error, distance(got, value.numpy()))
    text = f"{error:.1e}" + (f", on the host: {' '.join(host)}" if host else "")
    return ("wrong" if error > LARGEST_ERROR else ""), text


def main():
    parser = argparse.ArgumentParser(description="Compares small hand-written networks with torch.")
    parser.add_argument("--tool", required=True, help="the vellum tool")
    parser.add_argument("--exporter", choices=["torchscript", "dynamo"], default="torchscript")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the exported files")
    parser.add_argument("names", nargs="*", metavar="NAME", help="networks; all of them if none is named")
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    arguments = parser.parse_args(words[:at])
    arguments.options = words[at + 1:]
    names, bad = arguments.names or list(NETWORKS), []
    for name in names:
        with tempfile.TemporaryDirectory() as scratch:
            folder = arguments.keep / name if arguments.keep else pathlib.Path(scratch)
            folder.mkdir(parents=True, exist_ok=True)
            try:
                what, text = check(name, arguments, folder)
            except Exception as error:  # whatever the exporter raises
                what, text = "not exported", f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"[:200]
        print(f"{name}: {what + ': ' if what else ''}{text}", flush=True)
        if what:
            bad.append(name)
    if bad:
        sys.exit(f"not as torch computes it: {', '.join(bad)}")
    print(f"All {len(names)} networks agree with torch.")


if __name__ == "__main__":
    main()
