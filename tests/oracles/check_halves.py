#!/usr/bin/python3
"""Exports networks in fp32 and in halves, and compares Vellum on both with torch in double.

check_halves.py --tool build/tools/vellum/vellum --photo PHOTO [--out FOLDER] [NAME...]

Run it with a Python that has onnx, onnxruntime and a torch whose CPU kernels compute halves (2.0 or newer). For each network:
- the dispatches of both files; that of halves may have as many as the one in fp32, not more,
- how far ONNX Runtime in fp32, on the weights that the file of halves has, is from torch in double with those of the network:
  what halves in the file explain (the exporter folds normalisations into weights before it rounds them),
- how far Vellum on the file of halves, in fp32, is from that: the rest, which is rounding in fp32 and that of an output to halves.
"""
import argparse
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy
import onnx
import onnxruntime
import torch
import torchvision
from PIL import Image

from compare_backbone import distance
from export_architecture import randomise_constants
from export_backbones import SPREAD, calibrate, crops, randomise
from segformer import Segformer

NETWORKS = {
    "segformer_b0": (Segformer, 256),
    "swin_t": (lambda: torchvision.models.swin_t(weights=None), 224),
    "vit_b_32": (lambda: torchvision.models.vit_b_32(weights=None), 224),
    "convnext_tiny": (lambda: torchvision.models.convnext_tiny(weights=None), 160),
    "mobilenet_v3_large": (lambda: torchvision.models.mobilenet_v3_large(weights=None), 160),
    "resnet18": (lambda: torchvision.models.resnet18(weights=None), 160),
}


def export(network, value, file):
    file.parent.mkdir(parents=True, exist_ok=True)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # remarks on shapes that are taken as constant, as is wanted here
        torch.onnx.export(network, (value,), str(file), input_names=["input"], output_names=["output"], dynamo=False,
                          opset_version=17)
    numpy.save(file.parent / "input.npy", value.numpy())


def widen(tensor):
    if tensor.data_type == onnx.TensorProto.FLOAT16:
        tensor.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor).astype("float32"), tensor.name))


def run_in_floats(folder):
    """What ONNX Runtime computes in fp32 with the weights of a file of halves."""
    model = onnx.load(str(folder / "model.onnx"))
    for tensor in model.graph.initializer:
        widen(tensor)
    for attribute in (attribute for node in model.graph.node for attribute in node.attribute):
        if attribute.type == onnx.AttributeProto.TENSOR:
            widen(attribute.t)
        elif attribute.name == "to" and attribute.i == onnx.TensorProto.FLOAT16:
            attribute.i = onnx.TensorProto.FLOAT
    for value in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT16:
            value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"input": numpy.load(folder / "input.npy").astype("float32")})[0].astype(numpy.float64)


def run(tool, folder):
    """The output and the number of dispatches."""
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([tool, "run", folder / "model.onnx", "-i", f"input={folder / 'input.npy'}", "-o", scratch], check=True,
                       capture_output=True)
        output = numpy.load(pathlib.Path(scratch) / "output.npy").astype(numpy.float64)
    done = subprocess.run([tool, "inspect", folder / "model.onnx", "--stage", "program", "--storage", "buffer", "--json"],
                          check=True, capture_output=True, text=True)
    return output, len(json.loads(done.stdout)["tasks"])


def check(name, tool, photo, folder):
    """A line of figures, and whether they are as they should be."""
    make, size = NETWORKS[name]
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(1)
    network = make().eval()
    randomise_constants(network)
    randomise(network)
    calibrate(network, (crops(photo, 4, size, generator),), SPREAD)
    value = crops(photo, 1, size, generator)
    export(network, value, folder / "float" / "model.onnx")
    export(copy.deepcopy(network).half(), value.half(), folder / "halves" / "model.onnx")
    with torch.no_grad():
        exact = network.double()(value.double()).numpy()
    explained = run_in_floats(folder / "halves")
    output, dispatches = run(tool, folder / "float")
    half_output, half_dispatches = run(tool, folder / "halves")
    by_weights, rest = distance(explained, exact), distance(half_output, explained)
    rounding = 2.0 ** -11  # of an output of halves
    good = half_dispatches <= dispatches and rest <= 1e-3 + rounding
    return (f"dispatches {dispatches}, in halves {half_dispatches}; error {distance(output, exact):.1e}, in halves "
            f"{distance(half_output, exact):.1e}, of which weights explain {by_weights:.1e}, the rest is {rest:.1e}"), good


def main():
    parser = argparse.ArgumentParser(description="Compares networks in halves with torch in double.")
    parser.add_argument("--tool", required=True, help="the vellum tool")
    parser.add_argument("--photo", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, help="folder for the exported files")
    parser.add_argument("names", nargs="*", metavar="NAME", help="networks; all of them if none is named")
    arguments = parser.parse_args()
    photo = Image.open(arguments.photo).convert("RGB")
    bad = []
    for name in arguments.names or NETWORKS:
        with tempfile.TemporaryDirectory() as scratch:
            text, good = check(name, arguments.tool, photo, (arguments.out or pathlib.Path(scratch)) / name)
        print(f"{name}: {text}", flush=True)
        if not good:
            bad.append(name)
    if bad:
        sys.exit(f"more than halves in the file explain: {', '.join(bad)}")


if __name__ == "__main__":
    main()
