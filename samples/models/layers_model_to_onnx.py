#!/usr/bin/env python3
"""Writes a layers model of TensorFlow.js (model.json and its weights) as an ONNX file, with Python's standard library alone.

    layers_model_to_onnx.py MODEL.json MODEL.onnx

Takes convolutions with padding "same", sums, concatenations of channels, ReLU and enlarging by repetition: what the networks
of super-resolution of npm's @upscalerjs packages are made of. The ONNX file has NCHW images of any size. The same input gives
the same bytes.
"""
import json
import pathlib
import struct
import sys

sys.dont_write_bytecode = True
from onnx_writer import model, node, tensor, value_info  # noqa: E402


def read_weights(folder, manifest):
    weights = {}
    for group in manifest:
        data = b"".join((folder / path).read_bytes() for path in group["paths"])
        for entry in group["weights"]:
            if entry["dtype"] != "float32" or "quantization" in entry:
                sys.exit(f"{entry['name']}: weights of float32 are read")
            size = 4
            for length in entry["shape"]:
                size *= length
            weights[entry["name"]] = entry["shape"], data[:size]
            data = data[size:]
    return weights


def channels_first(shape, data):
    """[height, width, inputs, outputs] to [outputs, inputs, height, width]"""
    height, width, inputs, outputs = shape
    values = struct.unpack(f"<{len(data) // 4}f", data)
    moved = [values[((y * width + x) * inputs + i) * outputs + o]
             for o in range(outputs) for i in range(inputs) for y in range(height) for x in range(width)]
    return [outputs, inputs, height, width], struct.pack(f"<{len(moved)}f", *moved)


def convolution(layer, inputs, weights):
    config, name = layer["config"], layer["name"]
    same = config["padding"] == "same" or config["kernel_size"] == [1, 1]
    if not same or config["strides"] != [1, 1] or config["activation"] not in ("linear", "relu"):
        sys.exit(f"{name}: convolutions with stride 1 and padding \"same\" are read")
    names, tensors = [], []
    for kind in ("kernel", "bias"):
        shape, data = weights[f"{name}/{kind}"]
        if kind == "kernel":
            shape, data = channels_first(shape, data)
        names.append(f"{name}_{kind}")
        tensors.append(tensor(names[-1], shape, data))
    reach = [size // 2 for size in config["kernel_size"]]
    relu = config["activation"] == "relu"
    nodes = [node("Conv", inputs + names, name + "_sum" * relu, pads=reach + reach)]
    if relu:
        nodes.append(node("Relu", [name + "_sum"], name))
    return nodes, tensors


def layer_nodes(layer, inputs, weights):
    """The nodes of a layer, and the weights that they read."""
    kind, config, name = layer["class_name"], layer["config"], layer["name"]
    if kind == "Conv2D":
        return convolution(layer, inputs, weights)
    if kind == "Activation" and config["activation"] == "relu":
        return [node("Relu", inputs, name)], []
    if kind == "Concatenate" and config["axis"] in (3, -1):
        return [node("Concat", inputs, name, axis=1)], []
    if kind == "Add" and len(inputs) == 2:
        return [node("Add", inputs, name)], []
    if kind == "UpSampling2D" and config["interpolation"] == "nearest":
        scales = tensor(name + "_scales", [4], struct.pack("<4f", 1, 1, *config["size"]))
        mode = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        return [node("Resize", [*inputs, "", name + "_scales"], name, **mode)], [scales]
    return sys.exit(f"{name}: layers of kind {kind} like this one are not read")


def convert(file):
    document = json.loads(file.read_text())
    config = document["modelTopology"]["model_config"]["config"]
    weights = read_weights(file.parent, document["weightsManifest"])
    nodes, tensors, first, last = [], [], None, None
    for layer in config["layers"]:
        if layer["class_name"] == "InputLayer":
            first = layer["name"]
            continue
        more_nodes, more_tensors = layer_nodes(layer, [source[0] for source in layer["inbound_nodes"][0]], weights)
        nodes += more_nodes
        tensors += more_tensors
        last = layer["name"]
    image_of = lambda name: value_info(name, [1, 3, name + "_height", name + "_width"])
    return model(config["name"], nodes, tensors, image_of(first), image_of(last))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    pathlib.Path(sys.argv[2]).write_bytes(convert(pathlib.Path(sys.argv[1])))
