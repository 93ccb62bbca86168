#!/usr/bin/env python3
"""Dispatches and intermediates of attention in TFLite, in floats and in int8, in docs/benchmarks/quantised.md.

  pip install ai-edge-litert numpy
  tests/bench/tflite_attention.py build/tools/vellum/vellum [--tokens N ...]

The network: three products of the tokens, three heads of 64 channels by RESHAPE and TRANSPOSE, BATCH_MATMUL, SOFTMAX,
BATCH_MATMUL, the heads put together again, and a product. Weights are random.
"""
import argparse
import pathlib
import sys
import tempfile

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

from tables import ROOT, mebibytes, run_json, table, write_between_marks

sys.path.insert(0, str(ROOT / "tests/oracles"))
from litert_operators import Model  # noqa: E402

HEADS, CHANNELS = 3, 64
WIDTH = HEADS * CHANNELS
INPUT_SCALE, WEIGHT_SCALE, RESULT_SCALE = 0.03, 0.001, 0.02


class Network:
    def __init__(self, tokens, in_bytes):
        self.model, self.tokens, self.in_bytes = Model(), tokens, in_bytes
        self.random = np.random.default_rng(1)
        x = self.tensor([tokens, WIDTH], INPUT_SCALE)
        q, k, v = (self.heads(self.product(x, INPUT_SCALE)) for _ in range(3))
        scores = self.tensor([1, HEADS, tokens, tokens], 0.1)
        self.op("BATCH_MATMUL", [q, k], scores, "BatchMatMulOptions", adjY=True)
        weights = self.tensor([1, HEADS, tokens, tokens], 1 / 256, -128)
        self.op("SOFTMAX", [scores], weights, "SoftmaxOptions", beta=CHANNELS**-0.5)
        sums = self.tensor([1, HEADS, tokens, CHANNELS], RESULT_SCALE)
        self.op("BATCH_MATMUL", [weights, v], sums, "BatchMatMulOptions")
        rows = self.reshape(self.transpose(sums, [1, tokens, HEADS, CHANNELS], RESULT_SCALE), [tokens, WIDTH], RESULT_SCALE)
        self.model.graph.inputs, self.model.graph.outputs = [x], [self.product(rows, RESULT_SCALE)]

    def tensor(self, shape, scale, zero=0):
        if self.in_bytes:
            return self.model.tensor(shape, np.int8, scale=scale, zero=zero)
        return self.model.tensor(shape, np.float32)

    def op(self, name, inputs, output, options, **fields):
        made = getattr(schema, options + "T")()
        for field, value in fields.items():
            setattr(made, field, value)
        self.model.op(getattr(schema.BuiltinOperator, name), inputs, [output], getattr(schema.BuiltinOptions, options), made,
                      version=4 if self.in_bytes else 1)

    def product(self, x, scale):
        integers = self.random.integers(-127, 128, (WIDTH, WIDTH)).astype(np.int8)
        if self.in_bytes:
            w = self.model.tensor([WIDTH, WIDTH], np.int8, integers, WEIGHT_SCALE)
            bias = self.model.tensor([WIDTH], np.int32, np.zeros(WIDTH), scale * WEIGHT_SCALE)
        else:
            w = self.model.constant(integers * np.float32(WEIGHT_SCALE))
            bias = self.model.constant(np.zeros(WIDTH))
        y = self.tensor([self.tokens, WIDTH], scale)
        self.op("FULLY_CONNECTED", [x, w, bias], y, "FullyConnectedOptions")
        return y

    def reshape(self, x, shape, scale):
        y = self.tensor(shape, scale)
        self.op("RESHAPE", [x, self.model.constant(shape, np.int32)], y, "ReshapeOptions", newShape=shape)
        return y

    def transpose(self, x, shape, scale):
        y = self.tensor(shape, scale)
        self.op("TRANSPOSE", [x, self.model.constant([0, 2, 1, 3], np.int32)], y, "TransposeOptions")
        return y

    def heads(self, rows):
        split = self.reshape(rows, [1, self.tokens, HEADS, CHANNELS], INPUT_SCALE)
        return self.transpose(split, [1, HEADS, self.tokens, CHANNELS], INPUT_SCALE)

    def write(self, path):
        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(self.model.model.Pack(builder), b"TFL3")
        pathlib.Path(path).write_bytes(bytes(builder.Output()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--tokens", type=int, nargs="+", default=[197, 788])
    arguments = parser.parse_args()
    rows = []
    for tokens in arguments.tokens:
        for title, in_bytes in (("floats", False), ("int8", True)):
            with tempfile.NamedTemporaryFile(suffix=".tflite") as file:
                Network(tokens, in_bytes).write(file.name)
                profile = run_json(arguments.tool, "profile", file.name, "--runs", "1", "--json")
            rows.append([str(tokens), title, str(profile["dispatches"]), mebibytes(profile["allocated_bytes"])])
    print(*rows, sep="\n")
    write_between_marks("quantised.md", "attention", table(["tokens", "form", "dispatches", "intermediates, MiB"], rows))


main()
