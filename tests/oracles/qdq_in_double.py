#!/usr/bin/env python3
"""Compares Vellum and ONNX Runtime on a file with QuantizeLinear and DequantizeLinear with an evaluation in double.

  pip install numpy onnx onnxruntime torch
  tests/oracles/qdq_in_double.py build/tools/vellum/vellum [--inputs N] [--steps] MODEL.onnx...

Each operator of the reference computes in double, and its result is rounded to float32, as the file's types say. Prints for each
random input the signal-to-noise ratio of Vellum, of ONNX Runtime as the file is written (no optimisation) and as it runs by
default, the share of elements that differ, and whether the greatest element is the same. With --steps prints for each tensor of
integers, for the first input, how many of Vellum's differ, up to the tenth tensor in which some do.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import numpy_helper
from torch.nn import functional

LEVELS = {"ONNX Runtime as written": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
          "ONNX Runtime": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL}


def double(tensor):
    return tensor.double() if tensor.is_floating_point() else tensor


def integers(tensor):
    return [int(value) for value in tensor.reshape(-1)]


def along(parameter, rank, axis):
    """A scale or zero point of one element, or of one for each index of the axis."""
    shape = [1] * rank
    if parameter.numel() > 1:
        shape[axis] = -1
    return parameter.reshape(shape)


def quantize(x, scale, zero, axis):
    steps = torch.round((x / along(scale, x.dim(), axis)).double()) + along(zero, x.dim(), axis).double()
    bounds = torch.iinfo(zero.dtype)
    return steps.clamp(bounds.min, bounds.max).to(zero.dtype)


def dequantize(x, scale, zero, axis):
    return (x.to(torch.int64) - along(zero, x.dim(), axis).to(torch.int64)).float() * along(scale, x.dim(), axis)


def convolve(a, x, w, bias=None):
    top, left, bottom, right = a.get("pads", [0, 0, 0, 0])
    padded = functional.pad(double(x), (left, right, top, bottom))
    return functional.conv2d(padded, double(w), None if bias is None else double(bias), stride=a.get("strides", [1, 1]),
                             dilation=a.get("dilations", [1, 1]), groups=a.get("group", 1))


def gemm(a, x, w, bias=None):
    x, w = double(x), double(w)
    y = (x.T if a.get("transA") else x) @ (w.T if a.get("transB") else w)
    return y if bias is None else y + double(bias)


def gather(a, x, index):
    axis = a.get("axis", 0)
    picked = torch.index_select(x, axis, index.reshape(-1))
    return picked.reshape(*x.shape[:axis], *index.shape, *x.shape[axis + 1:])


def clip(a, x, low=None, high=None):
    return x.clamp(None if low is None else low.item(), None if high is None else high.item())


def hard_sigmoid(a, x):
    return (double(x) * float(np.float32(a.get("alpha", 0.2))) + float(np.float32(a.get("beta", 0.5)))).clamp(0, 1)


def unsqueeze(a, x, axes):
    for axis in sorted(integers(axes)):
        x = x.unsqueeze(axis)
    return x


def layer_norm(a, x, scale, bias):
    shape = x.shape[a.get("axis", -1) % x.dim():]
    return functional.layer_norm(double(x), shape, double(scale), double(bias), a.get("epsilon", 1e-5))


OPERATORS = {
    "QuantizeLinear": lambda a, x, s, z: quantize(x, s, z, a.get("axis", 1)),
    "DequantizeLinear": lambda a, x, s, z=torch.zeros((), dtype=torch.uint8): dequantize(x, s, z, a.get("axis", 1)),
    "Conv": convolve,
    "Gemm": gemm,
    "MatMul": lambda a, x, y: double(x) @ double(y),
    "Add": lambda a, x, y: double(x) + double(y),
    "Sub": lambda a, x, y: double(x) - double(y),
    "Mul": lambda a, x, y: double(x) * double(y),
    "Div": lambda a, x, y: double(x) / double(y),
    "Erf": lambda a, x: torch.erf(double(x)),
    "Sqrt": lambda a, x: double(x).sqrt(),
    "Sigmoid": lambda a, x: torch.sigmoid(double(x)),
    "HardSigmoid": hard_sigmoid,
    "HardSwish": lambda a, x: double(x) * (double(x) / 6 + 0.5).clamp(0, 1),
    "Relu": lambda a, x: x.relu(),
    "Clip": clip,
    "Softmax": lambda a, x: torch.softmax(double(x), a.get("axis", -1)),
    "LayerNormalization": layer_norm,
    "GlobalAveragePool": lambda a, x: double(x).mean((2, 3), keepdim=True),
    "Transpose": lambda a, x: x.permute(*a["perm"]),
    "Reshape": lambda a, x, shape: x.reshape([n if n or a.get("allowzero") else x.shape[i] for i, n in enumerate(integers(shape))]),
    "Flatten": lambda a, x: x.flatten(a.get("axis", 1)),
    "Concat": lambda a, *x: torch.cat(x, a["axis"]),
    "Gather": gather,
    "Squeeze": lambda a, x, axes: x.squeeze(tuple(integers(axes))),
    "Unsqueeze": unsqueeze,
    "Identity": lambda a, x: x,
}


def evaluate(model, x):
    """All values of the graph, by name."""
    values = {entry.name: torch.from_numpy(numpy_helper.to_array(entry).copy()) for entry in model.graph.initializer}
    values[model.graph.input[0].name] = torch.from_numpy(x)
    for node in model.graph.node:
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        if node.op_type == "Constant":
            values[node.output[0]] = torch.from_numpy(numpy_helper.to_array(attributes["value"]).copy())
            continue
        if node.op_type not in OPERATORS:
            sys.exit(f"{node.op_type} has no evaluation in double here")
        y = OPERATORS[node.op_type](attributes, *[values[name] if name else None for name in node.input])
        values[node.output[0]] = y.float() if y.dtype == torch.float64 else y
    return {name: value.numpy() for name, value in values.items()}


def run_vellum(tool, model, name, x):
    """The outputs in the order of their names."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", x)
        subprocess.run([tool, "run", model, "-i", f"{name}={folder}/x.npy", "-o", f"{folder}/o", "--no-tuned"], check=True,
                       capture_output=True)
        return {path.stem: np.load(path) for path in pathlib.Path(f"{folder}/o").glob("*.npy")}


def run_onnxruntime(model, level, name, x):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    return onnxruntime.InferenceSession(model, options).run(None, {name: x})[0]


def print_distance(title, got, want):
    noise = np.linalg.norm((got - want).astype(np.float64))
    ratio = 20 * np.log10(np.linalg.norm(want) / noise) if noise else np.inf
    print(f"  {title:24}{ratio:7.1f} dB  {100 * np.mean(got != want):6.2f}% differ  "
          f"greatest element: {'the same' if got.argmax() == want.argmax() else 'another'}", flush=True)


def print_steps(tool, model, name, x, values):
    tensors = [node.output[0] for node in model.graph.node if node.op_type == "QuantizeLinear"]
    shown = onnx.ModelProto()
    shown.CopyFrom(model)
    for i, tensor in enumerate(tensors):
        kind = onnx.helper.np_dtype_to_tensor_dtype(values[tensor].dtype)
        shown.graph.node.append(onnx.helper.make_node("Identity", [tensor], [f"shown_{i}"]))
        shown.graph.output.append(onnx.helper.make_tensor_value_info(f"shown_{i}", kind, values[tensor].shape))
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        onnx.save(shown, file.name)
        got = run_vellum(tool, file.name, name, x)
    found = 0
    for i, tensor in enumerate(tensors):
        steps = abs(got[f"shown_{i}"].astype(int) - values[tensor].astype(int))
        if steps.any() and found < 10:
            print(f"  {tensor}: {np.count_nonzero(steps)} of {steps.size} differ, by at most {steps.max()}")
            found += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--inputs", type=int, default=3)
    parser.add_argument("--steps", action="store_true")
    arguments = parser.parse_args()
    for path in arguments.models:
        print(path)
        model = onnx.load(path)
        entry = model.graph.input[0]
        shape = [dimension.dim_value for dimension in entry.type.tensor_type.shape.dim]
        for seed in range(1, 1 + arguments.inputs):
            x = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
            values = evaluate(model, x)
            want = values[model.graph.output[0].name]
            print_distance("Vellum", next(iter(run_vellum(arguments.tool, path, entry.name, x).values())), want)
            for title, level in LEVELS.items():
                print_distance(title, run_onnxruntime(path, level, entry.name, x), want)
            if arguments.steps and seed == 1:
                print_steps(arguments.tool, model, entry.name, x, values)


main()
