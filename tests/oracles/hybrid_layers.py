#!/usr/bin/env python3
"""Compares layers of TFLite files with inputs of floats and weights of int8 with LiteRT.

  pip install ai-edge-litert numpy
  tests/oracles/hybrid_layers.py build/tools/vellum/vellum [--seed N] [--count N] [KIND ...]

Layers that LiteRT quantises at run time, and that Vellum computes so, too (docs/models.md), are compared with LiteRT's reference
kernels. All others are compared with the same layer of a file in floats, the weights being the integers times their scales; so
are layers behind a DEQUANTIZE of the weights. Prints for each kind how many layers differ, the greatest difference as a fraction
of the greatest result, and the device's bytes of weights as a multiple of the file's. Exits with 1 if a layer differs.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from layer_kinds import check_kinds, is_close, parser_of_kinds, report
from litert_operators import Model

CODES, OPTIONS = schema.BuiltinOperator, schema.BuiltinOptions


class Layer:
    """The same layer with integers as weights, and in floats."""

    def __init__(self, random, dequantize):
        self.random, self.dequantize = random, dequantize
        self.models, self.values, self.terms, self.quantises = [Model(), Model()], [], 1, False

    def below(self, low, high):
        return int(self.random.integers(low, high))

    def input(self, shape, dtype=np.float32, values=None):
        self.values.append(self.random.standard_normal(shape).astype(np.float32) if values is None else values)
        return [model.tensor(shape, dtype) for model in self.models]

    def constant(self, values):
        return [model.constant(values, np.asarray(values).dtype) for model in self.models]

    # `axis`: of the output channels; None: one scale.
    def weights(self, shape, axis):
        integers = self.random.integers(-127, 128, shape).astype(np.int8)
        per_channel = axis is not None and self.random.random() < 0.7
        scale = np.exp(self.random.uniform(-6, -3, shape[axis] if per_channel else 1)).astype(np.float32)
        along = [1] * len(shape)
        if per_channel:
            along[axis] = -1
        whole = self.models[0].tensor(shape, np.int8, integers, scale, 0)
        if per_channel:
            self.models[0].graph.tensors[whole].quantization.quantizedDimension = axis
        if self.dequantize:
            floats = self.models[0].tensor(shape, np.float32)
            self.models[0].op(CODES.DEQUANTIZE, [whole], [floats], OPTIONS.DequantizeOptions, schema.DequantizeOptionsT(), version=5)
            whole = floats
        return [whole, self.models[1].constant(integers.astype(np.float32) * scale.reshape(along))]

    def bias(self, count):
        return [self.constant(self.random.standard_normal(count).astype(np.float32))] if self.random.random() < 0.5 else []

    def op(self, name, inputs, shape, options, version, **fields):
        outputs = []
        for model, own in zip(self.models, zip(*inputs)):
            made = getattr(schema, options + "T")()
            for field, value in fields.items():
                setattr(made, field, value)
            outputs.append(model.tensor(shape))
            model.op(getattr(CODES, name), list(own), [outputs[-1]], getattr(OPTIONS, options), made, version=version)
        self.outputs = outputs
        self.inputs = [inputs[i] for i in range(len(inputs)) if self.is_given(inputs[i][0])]

    def is_given(self, tensor):
        entry = self.models[0].graph.tensors[tensor]
        made = [index for op in self.models[0].graph.operators for index in op.outputs]
        return entry.buffer == 0 and tensor not in made

    def window(self):
        return self.below(1, 4), self.below(1, 3), self.below(0, 2)

    def conv(self):
        kernel, stride, padding = self.window()
        n, h, w, c, m = self.below(1, 3), self.below(4, 10), self.below(4, 10), self.below(1, 40), self.below(1, 40)
        size = [-(-(s if padding == 0 else s - kernel + 1) // stride) for s in (h, w)]
        self.terms, self.quantises = kernel * kernel * c, n == 1
        self.op("CONV_2D", [self.input([n, h, w, c]), self.weights([m, kernel, kernel, c], 0), self.constant(np.zeros(m, np.float32))],
                [n, *size, m], "Conv2DOptions", 5, padding=padding, strideH=stride, strideW=stride, dilationHFactor=1,
                dilationWFactor=1)

    def depthwise_conv(self):
        kernel, stride, padding = self.window()
        n, h, w, c = 1, self.below(4, 10), self.below(4, 10), self.below(2, 40)
        size = [-(-(s if padding == 0 else s - kernel + 1) // stride) for s in (h, w)]
        self.terms = kernel * kernel
        x, w8, bias = self.input([n, h, w, c]), self.weights([1, kernel, kernel, c], 3), self.constant(np.zeros(c, np.float32))
        self.quantises = len(self.models[0].graph.tensors[w8[0]].quantization.scale) > 1 if not self.dequantize else False
        self.op("DEPTHWISE_CONV_2D", [x, w8, bias], [n, *size, c], "DepthwiseConv2DOptions", 6, padding=padding, strideH=stride,
                strideW=stride, depthMultiplier=1, dilationHFactor=1, dilationWFactor=1)

    def fully_connected(self):
        rows, k, m = self.below(1, 5), self.below(1, 80), self.below(1, 40)
        self.terms, self.quantises = k, rows == 1
        self.op("FULLY_CONNECTED", [self.input([rows, k]), self.weights([m, k], None), *self.bias(m)], [rows, m],
                "FullyConnectedOptions", 9)

    def batch_matmul(self):
        b, m, k, n = self.below(1, 3), self.below(1, 6), self.below(1, 70), self.below(1, 20)
        self.terms = k
        self.dequantize = True  # LiteRT itself quantises rows otherwise
        self.op("BATCH_MATMUL", [self.input([b, m, k]), self.weights([k, n], None)], [b, m, n], "BatchMatMulOptions", 4)

    def gather(self):
        rows, columns, count = self.below(20, 400), self.below(16, 70), self.below(1, 6)
        self.dequantize = True
        indices = self.random.integers(0, rows, count).astype(np.int32)
        self.op("GATHER", [self.weights([rows, columns], 0), self.input([count], np.int32, indices)], [count, columns],
                "GatherOptions", 2, axis=0)

    def embedding_lookup(self):
        rows, columns, count = self.below(20, 400), self.below(16, 70), self.below(1, 6)
        self.dequantize = False
        indices = self.random.integers(0, rows, count).astype(np.int32)
        self.op("EMBEDDING_LOOKUP", [self.input([count], np.int32, indices), self.weights([rows, columns], 0)], [count, columns],
                "EmbeddingLookupSparseOptions", 3)


KINDS = ["conv", "depthwise_conv", "fully_connected", "batch_matmul", "gather", "embedding_lookup"]


def litert(layer, which):
    inputs = {pair[which]: values for pair, values in zip(layer.inputs, layer.values)}
    return layer.models[which].run(inputs, [layer.outputs[which]])[0]


def vellum(tool, layer, folder):
    model = layer.models[0]
    model.graph.inputs, model.graph.outputs = [pair[0] for pair in layer.inputs], [layer.outputs[0]]
    builder = flatbuffers.Builder(1 << 16)
    builder.Finish(model.model.Pack(builder), b"TFL3")
    pathlib.Path(f"{folder}/m.tflite").write_bytes(bytes(builder.Output()))
    command = [tool, "run", f"{folder}/m.tflite", "-o", f"{folder}/out", "--no-tuned"]
    for index, values in zip(model.graph.inputs, layer.values):
        np.save(f"{folder}/{index}.npy", values)
        command += ["-i", f"t{index}={folder}/{index}.npy"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    estimate = subprocess.run([tool, "estimate", f"{folder}/m.tflite", "--json"], check=True, capture_output=True, text=True).stdout
    return np.load(f"{folder}/out/t{layer.outputs[0]}.npy"), json.loads(estimate)["points"][0]["estimate"]["weights"]


def check_kind(arguments, kind):
    wrong, worst, device, file = 0, 0.0, 0, 0
    for i in range(arguments.count):
        layer = Layer(np.random.default_rng([arguments.seed, KINDS.index(kind), i]), i % 2 == 1)
        getattr(layer, kind)()
        want = litert(layer, 0 if layer.quantises and not layer.dequantize else 1)
        with tempfile.TemporaryDirectory() as folder:
            got, weights = vellum(arguments.tool, layer, folder)
        device, file = device + weights, file + sum(len(b.data) for b in layer.models[0].model.buffers if b.data is not None)
        error = float(abs(got - want).max() / max(abs(want).max(), 1e-30)) if got.shape == want.shape else np.inf
        worst = max(worst, error)
        if not is_close(error, layer.terms):
            wrong += 1
            print(f"  {kind} {i}: {error:.2e}{' dequantised' if layer.dequantize else ''}")
    report(kind, wrong, arguments.count, worst, device / file)
    return wrong == 0


check_kinds(parser_of_kinds(20), KINDS, check_kind)
