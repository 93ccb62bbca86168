#!/usr/bin/env python3
"""Compares single layers of floats whose weights are integers in the file with ONNX Runtime without optimisations.

  pip install numpy onnx onnxruntime
  tests/oracles/weight_only.py build/tools/vellum/vellum [--usual] [--large] [--bits N] [--form F] [--seed N] [--count N]
                               [--keep FOLDER] [KIND ...]

A DequantizeLinear makes the weights of int8, uint8, int4 or uint4, with one scale, with scales along any axis or for blocks, with
and without zero points, with scales of float32 and float16. All layers of a kind are one file, without connections. Prints for
each kind how many layers differ, the greatest difference as a fraction of the greatest result, and the bytes of all weights on
the device as a multiple of the file's. Exits with 1 if a layer differs by more than the rounding of fp32. Options for `vellum
run` go to VELLUM_RUN ("--storage buffer").
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from layer_kinds import check_kinds, is_close, parser_of_kinds, report
from onnx import TensorProto, helper, numpy_helper

BITS = {TensorProto.INT8: 8, TensorProto.UINT8: 8, TensorProto.INT4: 4, TensorProto.UINT4: 4}
BOUNDS = {TensorProto.INT8: (-128, 127), TensorProto.UINT8: (0, 255), TensorProto.INT4: (-8, 7), TensorProto.UINT4: (0, 15)}
FORMS = ["tensor", "axis", "blocks"]


class Maker:
    """Adds layers with random parameters to one graph."""

    def __init__(self, seed, arguments):
        self.random = np.random.default_rng(seed)
        self.large, self.usual = arguments.large, arguments.usual
        self.types = [kind for kind in BITS if arguments.bits in (None, BITS[kind])]
        self.forms = [form for form in FORMS if arguments.form in (None, form)]
        self.nodes, self.initializers, self.inputs, self.outputs, self.values = [], [], [], [], {}
        self.terms, self.labels, self.bytes = [], [], 0

    def below(self, low, high):
        return int(self.random.integers(low, high))

    def chance(self, share):
        return bool(self.random.random() < share)

    def name(self, prefix):
        return f"{prefix}{len(self.nodes)}_{len(self.initializers)}_{len(self.inputs)}"

    def input(self, shape, values=None, dtype=TensorProto.FLOAT):
        name = self.name("x")
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        self.values[name] = self.random.standard_normal(shape).astype(np.float32) if values is None else values
        return name

    def constant(self, array):
        name = self.name("c")
        self.initializers.append(numpy_helper.from_array(array, name))
        self.bytes += array.nbytes
        return name

    def integers(self, kind, shape):
        low, high = BOUNDS[kind]
        name = self.name("q")
        values = self.random.integers(low, high + 1, shape)
        self.initializers.append(helper.make_tensor(name, kind, shape, values.reshape(-1).tolist()))
        self.bytes += values.size * BITS[kind] // 8
        return name

    def node(self, op, inputs, **attributes):
        name = self.name("v")
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def output(self, name, terms, label):
        """terms: the products of one sum."""
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
        self.terms.append(terms)
        self.labels.append(label)

    def weights(self, shape, outputs, terms):
        """The weights in floats, and how the file has them. `outputs`, `terms`: the dimensions of output channels and of the
        sum."""
        kind, form = int(self.random.choice(self.types)), str(self.random.choice(self.forms))
        half, attributes, scales = self.chance(0.2) and not self.usual, {}, []
        if form == "axis":
            axis = outputs if self.usual else self.below(0, len(shape))
            attributes, scales = {"axis": axis - (len(shape) if self.chance(0.3) else 0)}, [shape[axis]]
        elif form == "blocks":
            axis = terms if self.usual else self.below(0, len(shape))
            block = int(self.random.choice([16, 32, 128])) if self.usual or self.chance(0.5) else self.below(1, shape[axis] + 1)
            attributes = {"axis": axis, "block_size": block}
            scales = [-(-s // block) if i == axis else s for i, s in enumerate(shape)]
        elif self.chance(0.3):
            scales = [1]
        steps = np.exp(self.random.uniform(np.log(1e-3), np.log(0.1), scales)).astype(np.float16 if half else np.float32)
        inputs = [self.integers(kind, shape), self.constant(np.asarray(steps))]
        if zero := self.chance(0.5):
            inputs.append(self.integers(kind, scales))
        name = self.node("DequantizeLinear", inputs, **attributes)
        label = f"{TensorProto.DataType.Name(kind)} {form} {attributes} {shape}{' zero points' if zero else ''}"
        return (self.node("Cast", [name], to=TensorProto.FLOAT), label + " float16") if half else (name, label)

    def bias(self, count):
        return [self.constant(self.random.standard_normal(count).astype(np.float32))] if self.chance(0.5) else []

    def channels(self, high):
        return 32 * self.below(2, 9) if self.large else self.below(1, high)

    def convolution(self, c, m, groups, kernel):
        h, w = [self.below(1, 9) + 3 * k for k in kernel]
        x = self.input([self.below(1, 3), c, h, w])
        weights, label = self.weights([m, c // groups, *kernel], 0, 1)
        pads = [self.below(0, 2) for _ in range(4)]
        y = self.node("Conv", [x, weights, *self.bias(m)], group=groups, kernel_shape=kernel, pads=pads,
                      strides=[self.below(1, 3), self.below(1, 3)], dilations=[self.below(1, 3), self.below(1, 3)])
        if self.chance(0.3):
            y = self.node("Relu", [y])
        self.output(y, c // groups * kernel[0] * kernel[1], label)

    def kernel(self):
        size = int(self.random.choice([1, 3, 3, 5]))
        return [size, size if self.chance(0.8) else 1]

    def pointwise(self):
        self.convolution(self.channels(30), self.channels(30), 1, [1, 1])

    def conv(self):
        self.convolution(self.channels(20), self.channels(20), 1, self.kernel())

    def depthwise(self):
        c = self.channels(30)
        self.convolution(c, c * self.below(1, 3), c, self.kernel())

    def grouped(self):
        groups = self.below(2, 5)
        self.convolution(groups * self.channels(9), groups * self.channels(9), groups, self.kernel())

    def transposed(self):
        groups = 1 if self.chance(0.7) else self.below(2, 4)
        c, m, kernel = groups * self.channels(9), self.channels(9), self.kernel()
        x = self.input([1, c, self.below(2, 9), self.below(2, 9)])
        weights, label = self.weights([c, m, *kernel], 1, 0)
        strides = [self.below(1, 4), self.below(1, 4)]
        y = self.node("ConvTranspose", [x, weights, *self.bias(m * groups)], group=groups, kernel_shape=kernel, strides=strides)
        self.output(y, c // groups * kernel[0] * kernel[1], label)

    def gemm(self):
        m, k, n = self.below(1, 9), self.channels(70), self.channels(40)
        a, b = self.chance(0.3), self.chance(0.5)
        x = self.input([k, m] if a else [m, k])
        weights, label = self.weights([n, k] if b else [k, n], 1 - int(b), int(b))
        more = {"alpha": 0.5, "beta": 2.0} if self.chance(0.2) else {}
        self.output(self.node("Gemm", [x, weights, *self.bias(n)], transA=int(a), transB=int(b), **more), k, label)

    def matmul(self):
        k, n = self.channels(70), self.channels(40)
        batch = [self.below(1, 4)] if self.chance(0.3) and not self.large else []
        x = self.input([*([self.below(1, 3)] if self.chance(0.3) else []), *batch, self.below(1, 12), k])
        weights, label = self.weights([*batch, k, n], len(batch) + 1, len(batch))
        y = self.node("MatMul", [x, weights])
        for bias in self.bias(n):
            y = self.node("Add", [y, bias])
        self.output(y, k, label)

    def transposed_matmul(self):
        k, n = self.channels(70), self.channels(40)
        weights, label = self.weights([n, k], 0, 1)
        turned = self.node("Transpose", [weights], perm=[1, 0])
        self.output(self.node("MatMul", [self.input([self.below(1, 12), k]), turned]), k, label)

    def swapped_matmul(self):
        k, m = self.channels(70), self.channels(40)
        weights, label = self.weights([m, k], 0, 1)
        self.output(self.node("MatMul", [weights, self.input([k, self.below(1, 12)])]), k, label)

    def gather(self):
        rows, columns = self.channels(40), self.channels(40)
        weights, label = self.weights([rows, columns], 0, 1)
        axis = self.below(0, 2) if not self.large else 0
        indices = self.random.integers(-[rows, columns][axis], [rows, columns][axis], self.below(1, 9))
        given = self.input(list(indices.shape), indices, TensorProto.INT64)
        self.output(self.node("Gather", [weights, given], axis=axis), 1, label)

    def shared(self):
        """A table of tokens that is the last layer, too."""
        rows, k = self.channels(40), self.channels(40)
        weights, label = self.weights([rows, k], 0, 1)
        indices = self.random.integers(0, rows, self.below(1, 9))
        given = self.input(list(indices.shape), indices, TensorProto.INT64)
        tokens = self.node("Gather", [weights, given])
        turned = self.node("Transpose", [weights], perm=[1, 0])
        self.output(self.node("MatMul", [tokens, turned]), k, label)
        self.output(self.node("Gemm", [self.input([3, k]), weights], transB=1), k, label)

    def outer(self):
        """A subgraph reads the weights of the graph around it."""
        k, n = self.channels(40), self.channels(40)
        weights, label = self.weights([k, n], 1, 0)
        x, name = self.input([4, k]), self.name("inner")
        branches = [helper.make_graph([helper.make_node(op, inputs, [name + op])], op, [],
                                      [helper.make_tensor_value_info(name + op, TensorProto.FLOAT, None)])
                    for op, inputs in (("MatMul", [x, weights]), ("Gemm", [x, weights]))]
        condition = self.constant(np.asarray(self.chance(0.5)))
        self.output(self.node("If", [condition], then_branch=branches[0], else_branch=branches[1]), k, label)

    def elementwise(self):
        shape = [self.below(1, 9), self.below(1, 9), self.below(1, 9)]
        weights, label = self.weights(shape, 0, 1)
        self.output(self.node(str(self.random.choice(["Add", "Mul", "Sub"])), [self.input(shape), weights]), 1, label)

    def model(self):
        graph = helper.make_graph(self.nodes, "weight_only", self.inputs, self.outputs, self.initializers)
        return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])


KINDS = ["pointwise", "conv", "depthwise", "grouped", "transposed", "gemm", "matmul", "transposed_matmul", "swapped_matmul",
         "gather", "shared", "outer", "elementwise"]


def expected(model, values):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"]).run(None, values)


def run_vellum(tool, folder, values):
    command = [tool, "run", f"{folder}/model.onnx", "-o", f"{folder}/out", "--no-tuned"]
    for name, value in values.items():
        np.save(f"{folder}/{name}.npy", value)
        command += ["-i", f"{name}={folder}/{name}.npy"]
    command += os.environ.get("VELLUM_RUN", "").split()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def device_bytes(tool, folder):
    command = [tool, "estimate", f"{folder}/model.onnx", "--json", *os.environ.get("VELLUM_ESTIMATE", "").split()]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["points"][0]["estimate"]["weights"]


def compare_kind(arguments, kind, folder):
    maker = Maker([arguments.seed, KINDS.index(kind)], arguments)
    for _ in range(arguments.count):
        getattr(maker, kind)()
    model = maker.model()
    onnx.save(model, f"{folder}/model.onnx")
    run_vellum(arguments.tool, folder, maker.values)
    wrong, worst = 0, 0.0
    for entry, want, terms, label in zip(maker.outputs, expected(model, maker.values), maker.terms, maker.labels):
        got = np.load(f"{folder}/out/{entry.name}.npy")
        same_shape = got.shape == want.shape
        error = float(abs(got - want).max() / max(abs(want).max(), 1e-30)) if same_shape else np.inf
        worst = max(worst, error)
        if not is_close(error, terms):
            wrong += 1
            print(f"  {entry.name}: {label}: {error:.2e}")
    report(kind, wrong, len(maker.outputs), worst, device_bytes(arguments.tool, folder) / maker.bytes)
    return wrong == 0


def check_kind(arguments, kind):
    with tempfile.TemporaryDirectory() as folder:
        if arguments.keep:
            folder = arguments.keep
            pathlib.Path(folder).mkdir(exist_ok=True)
        return compare_kind(arguments, kind, folder)


def main():
    parser = parser_of_kinds(60)
    parser.add_argument("--usual", action="store_true", help="scales of output channels and of blocks of a sum's terms alone")
    parser.add_argument("--bits", type=int, choices=[4, 8])
    parser.add_argument("--form", choices=FORMS)
    parser.add_argument("--large", action="store_true", help="layers of 64 to 256 channels, for the bytes of weights")
    parser.add_argument("--keep", help="a folder for the files of the last kind")
    check_kinds(parser, KINDS, check_kind)


main()
