#!/usr/bin/env python3
"""Compares single quantised operators of random shapes and scales with LiteRT's reference kernels.

  pip install ai-edge-litert numpy
  tests/oracles/quantised_operators.py build/tools/vellum/vellum [--int16] [--extreme] [--seed N] [--count N] [KIND ...]

All operators of a kind are one TFLite file, without connections. Prints for each kind how many operators and elements
differ, and the greatest difference in steps. `--sample FOLDER` writes the file, the inputs and LiteRT's outputs that
tests/kernels/litert_integers_test.cpp reads, and needs no tool. Options for `vellum run` go to VELLUM_RUN ("--storage buffer").
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from litert_operators import Model

CODES, OPTIONS = schema.BuiltinOperator, schema.BuiltinOptions
VERSIONS = {"CONV_2D": 3, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": 4, "HARD_SWISH": 1, "PRELU": 1, "RELU_N1_TO_1": 1,
            "TRANSPOSE_CONV": 3, "LEAKY_RELU": 2, "RESIZE_BILINEAR": 3}


class Maker:
    """Adds operators with random parameters to one model."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.model, self.inputs, self.outputs, self.kinds = Model(), {}, [], []
        self.dtype, self.kind, self.extreme = np.int8, "", False

    def below(self, low, high):
        return int(self.random.integers(low, high))

    def scale(self, low=0.003, high=0.3):
        return np.float32(np.exp(self.random.uniform(np.log(low), np.log(high))))

    # A factor of an output's scale. Extreme ones need multipliers far above 1 and below 2^-20.
    def factor(self, low, high):
        return np.exp(self.random.uniform(*((-14, 16) if self.extreme else (low, high))))

    def zero(self):
        if self.dtype == np.int16:  # LiteRT requires it
            return 0
        bounds = np.iinfo(self.dtype)
        return int(self.random.choice([bounds.min, bounds.max, bounds.min + 128, self.below(bounds.min, bounds.max)]))

    def bytes(self, shape):
        bounds = np.iinfo(self.dtype)
        return self.random.integers(bounds.min, bounds.max + 1, shape).astype(self.dtype)

    def image(self):
        return [self.below(1, 3), self.below(1, 9), self.below(1, 9), self.below(1, 13)]

    def input(self, shape, scale=None, zero=None, values=None):
        tensor = self.model.tensor(shape, self.dtype, scale=self.scale() if scale is None else scale,
                                   zero=self.zero() if zero is None else zero)
        self.inputs[tensor] = self.bytes(shape) if values is None else values
        return tensor

    def quantisation(self, tensor):
        entry = self.model.graph.tensors[tensor].quantization
        return np.float32(entry.scale[0]), int(entry.zeroPoint[0])

    def output(self, shape, scale=None, zero=None, dtype=None):
        tensor = self.model.tensor(shape, dtype or self.dtype, scale=self.scale() if scale is None else scale,
                                   zero=self.zero() if zero is None else zero)
        self.outputs.append(tensor)
        self.kinds.append(self.kind)
        return tensor

    def like(self, tensor, shape):
        return self.output(shape, *self.quantisation(tensor))

    def op(self, name, inputs, outputs, options=None, **fields):
        made = None
        if options:
            made = getattr(schema, options + "T")()
            for field, value in fields.items():
                setattr(made, field, value)
        self.model.op(getattr(CODES, name), inputs, outputs, getattr(OPTIONS, options) if options else 0, made,
                      version=VERSIONS.get(name, 2))

    def activation(self):
        return int(self.random.choice([0, 0, 1, 3]))  # none, RELU, RELU6

    # The weights of `channels` (along the last dimension for a depthwise convolution), the bias, and an output whose
    # scale suits sums of `terms` products.
    def weights(self, shape, channels, x, terms, axis=0):
        per_channel = self.dtype != np.uint8 and axis is not None and self.random.random() < 0.7
        scale = np.asarray([self.scale() for _ in range(channels if per_channel else 1)], np.float32)
        dtype = np.uint8 if self.dtype == np.uint8 else np.int8
        values = self.random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype)
        zero = self.zero() if self.dtype == np.uint8 else 0
        if self.dtype != np.uint8:
            values = np.maximum(values, -127)
        w = self.model.tensor(shape, dtype, values, scale, zero)
        if per_channel:
            self.model.graph.tensors[w].quantization.quantizedDimension = axis
        x_scale = self.quantisation(x)[0]
        wide = self.dtype == np.int16
        bias = self.model.tensor([channels], np.int64 if wide else np.int32,
                                 self.random.integers(-20000, 20000, channels) * (256 if wide else 1),
                                 np.float32(x_scale * scale), 0)
        if per_channel:
            self.model.graph.tensors[bias].quantization.quantizedDimension = 0
        spread = float(x_scale * scale.max()) * 75 * (75 * np.sqrt(terms) / 60)
        return w, bias, np.float32(spread * self.factor(-1.5, 1))

    def conv(self, grouped=False):
        n, h, w, c = self.image()
        groups = self.below(2, 5) if grouped else 1
        c, m = c * groups, self.below(1, 5) * groups if grouped else self.below(1, 20)
        kernel, stride, padding = self.below(1, 4), self.below(1, 3), self.below(0, 2)
        h, w = h + kernel, w + kernel
        x = self.input([n, h, w, c])
        weights, bias, scale = self.weights([m, kernel, kernel, c // groups], m, x, kernel * kernel * c // groups)
        size = [-(-(s if padding == 0 else s - kernel + 1) // stride) for s in (h, w)]
        y = self.output([n, *size, m], scale)
        self.op("CONV_2D", [x, weights, bias], [y], "Conv2DOptions", padding=padding, strideH=stride, strideW=stride,
                dilationHFactor=1, dilationWFactor=1, fusedActivationFunction=self.activation())

    def grouped_conv(self):
        self.conv(True)

    def depthwise_conv(self):
        n, h, w, c = self.image()
        kernel, stride, padding, more = self.below(1, 4), self.below(1, 3), self.below(0, 2), self.below(1, 3)
        h, w = h + kernel, w + kernel
        x = self.input([n, h, w, c])
        weights, bias, scale = self.weights([1, kernel, kernel, c * more], c * more, x, kernel * kernel, 3)
        size = [-(-(s if padding == 0 else s - kernel + 1) // stride) for s in (h, w)]
        y = self.output([n, *size, c * more], scale)
        self.op("DEPTHWISE_CONV_2D", [x, weights, bias], [y], "DepthwiseConv2DOptions", padding=padding, strideH=stride,
                strideW=stride, depthMultiplier=more, dilationHFactor=1, dilationWFactor=1,
                fusedActivationFunction=self.activation())

    def transpose_conv(self):
        n, h, w, c = self.image()
        m, kernel, stride, padding = self.below(1, 9), self.below(1, 5), self.below(1, 4), self.below(0, 2)
        x = self.input([n, h, w, c])
        weights, bias, scale = self.weights([m, kernel, kernel, c], m, x, kernel * kernel * c)
        size = [s * stride if padding == 0 else (s - 1) * stride + kernel for s in (h, w)]
        y = self.output([n, *size, m], scale)
        shape = self.model.constant([n, *size, m], np.int32)
        self.op("TRANSPOSE_CONV", [shape, weights, x, bias], [y], "TransposeConvOptions", padding=padding, strideH=stride,
                strideW=stride)

    def fully_connected(self):
        rows, k, m = self.below(1, 6), self.below(1, 70), self.below(1, 20)
        x = self.input([rows, k])
        weights, bias, scale = self.weights([m, k], m, x, k, None)
        y = self.output([rows, m], scale)
        self.op("FULLY_CONNECTED", [x, weights, bias], [y], "FullyConnectedOptions",
                fusedActivationFunction=self.activation())

    def pair(self, name, options, scale_of):
        shape = self.image()
        other = [shape, [1, 1, 1, shape[3]], [shape[3]], [1]][self.below(0, 4)]
        a = self.input(shape)
        if self.random.random() < 0.3:
            b = self.model.tensor(other, self.dtype, self.bytes(other), self.scale(), self.zero())
        else:
            b = self.input(other)
        y = self.output(shape, np.float32(scale_of(self.quantisation(a)[0], self.quantisation(b)[0]) *
                                          self.factor(-1.5, 1)))
        self.op(name, [a, b], [y], options, fusedActivationFunction=self.activation())

    def add(self):
        self.pair("ADD", "AddOptions", max)

    def sub(self):
        self.pair("SUB", "SubOptions", max)

    def mul(self):
        self.pair("MUL", "MulOptions", lambda a, b: a * b * (60 if self.dtype != np.int16 else 15000))

    def pool(self, name):
        n, h, w, c = self.image()
        kernel, stride, padding = [self.below(1, h + 1), self.below(1, w + 1)], self.below(1, 3), self.below(0, 2)
        x = self.input([n, h, w, c])
        size = [-(-(s if padding == 0 else s - k + 1) // stride) for s, k in zip((h, w), kernel)]
        y = self.like(x, [n, *size, c])
        self.op(name, [x], [y], "Pool2DOptions", padding=padding, strideH=stride, strideW=stride, filterHeight=kernel[0],
                filterWidth=kernel[1], fusedActivationFunction=self.activation())

    def average_pool(self):
        self.pool("AVERAGE_POOL_2D")

    def max_pool(self):
        self.pool("MAX_POOL_2D")

    # scale_of: the output's scale, for that of the input and the number of elements; None: the input's.
    def reduction(self, name, scale_of=None):
        shape = self.image()
        axes = [[1, 2], [3], [0, 1, 2, 3], [1], [2, 3]][self.below(0, 5)]
        keep = bool(self.below(0, 2))
        x = self.input(shape)
        rest = [1 if i in axes else s for i, s in enumerate(shape) if keep or i not in axes]
        count = int(np.prod([shape[axis] for axis in axes]))
        y = self.output(rest, np.float32(scale_of(self.quantisation(x)[0], count))) if scale_of else self.like(x, rest)
        self.op(name, [x, self.model.constant(axes, np.int32)], [y], "ReducerOptions", keepDims=keep)

    def mean(self):
        self.reduction("MEAN", lambda scale, count: scale * self.factor(-1.5, 1))

    def sum(self):
        self.dtype = np.uint8  # of int8, ai-edge-litert 2.3.0's reference kernel returns -1 for most elements
        self.reduction("SUM", lambda scale, count: scale * count ** 0.5 * self.factor(-1.5, 1))

    def reduce_max(self):
        self.reduction("REDUCE_MAX")

    def reduce_min(self):
        self.reduction("REDUCE_MIN")

    def concatenation(self):
        shape, axis = self.image(), self.below(0, 4)
        parts = [[s if i != axis else self.below(1, 9) for i, s in enumerate(shape)] for _ in range(self.below(2, 5))]
        scale, zero = self.scale(), self.zero()
        same = self.dtype != np.uint8  # LiteRT requires it
        inputs = [self.input(part, scale, zero) if same or self.random.random() < 0.2 else self.input(part)
                  for part in parts]
        whole = [s if i != axis else sum(part[axis] for part in parts) for i, s in enumerate(shape)]
        self.op("CONCATENATION", inputs, [self.output(whole, scale, zero)], "ConcatenationOptions", axis=axis)

    def unary(self, name, scale=None, zero=None, options=None, x_scale=None, **fields):
        shape = self.image() if self.below(0, 2) else [self.below(1, 5), self.below(1, 40)]
        x = self.input(shape, x_scale or self.scale(0.01, 0.1))
        if scale is None:
            scale = np.float32(self.quantisation(x)[0] * self.factor(-1, 1))
        self.op(name, [x], [self.output(shape, scale, zero)], options, **fields)

    def logistic(self):
        if self.dtype == np.int16:
            self.unary("LOGISTIC", 1 / 32768, 0, x_scale=self.scale_of_16_bits())
        else:
            self.unary("LOGISTIC", 1 / 256, np.iinfo(self.dtype).min)

    def tanh(self):
        if self.dtype == np.int16:
            self.unary("TANH", 1 / 32768, 0, x_scale=self.scale_of_16_bits())
        else:
            self.unary("TANH", 1 / 128, 0 if self.dtype == np.int8 else 128)

    def scale_of_16_bits(self):
        return [2.0 ** -12, 2.0 ** -11, 2.0 ** -10, self.scale(1e-5, 1e-3), self.scale(1e-5, 1e-3)][self.below(0, 5)]

    def hard_swish(self):
        self.unary("HARD_SWISH", options="HardSwishOptions")

    def leaky_relu(self):
        self.unary("LEAKY_RELU", options="LeakyReluOptions", alpha=float(self.random.uniform(-0.5, 1.5)))

    def gelu(self):
        self.unary("GELU", options="GeluOptions", approximate=bool(self.below(0, 2)))

    # LiteRT has only int8 of these.
    def function_of_int8(self):
        self.dtype = np.int8
        self.unary(["ABS", "EXP", "LOG"][self.below(0, 3)])

    def sqrt(self):
        self.dtype = np.int8
        shape = self.image()
        x = self.input(shape, zero=-128)
        self.op("SQRT", [x], [self.output(shape, np.float32((255 * self.quantisation(x)[0]) ** 0.5 / self.below(60, 300)))])

    def relu(self):
        self.unary(["RELU", "RELU6", "RELU_N1_TO_1"][self.below(0, 2 if self.dtype == np.int16 else 3)])

    # LiteRT requires one scale.
    def extremum(self):
        shape = self.image()
        other = [shape, [1, 1, 1, shape[3]], [1, 1, 1, 1]][self.below(0, 3)]
        a = self.input(shape)
        if self.random.random() < 0.3:
            b = self.model.tensor(other, self.dtype, self.bytes(other), *self.quantisation(a))
        else:
            b = self.input(other, *self.quantisation(a))
        self.op(["MAXIMUM", "MINIMUM"][self.below(0, 2)], [a, b], [self.like(a, shape)], "MaximumMinimumOptions")

    def quantize(self):
        shape = self.image()
        x = self.input(shape)
        other = [np.int8, np.int16 if self.dtype == np.int16 else np.uint8][self.below(0, 2)]
        scale = np.float32(self.quantisation(x)[0] * self.factor(-1, 1))
        if self.dtype == np.int16 and other == np.int8:
            scale *= 256
        zero = 0 if other == np.int16 else int(self.random.integers(*((-128, 128) if other == np.int8 else (0, 256))))
        self.op("QUANTIZE", [x], [self.output(shape, scale, zero, other)])

    def prelu(self):
        shape = self.image()
        x = self.input(shape)
        alpha = self.model.tensor([1, 1, shape[3]], self.dtype, self.bytes([1, 1, shape[3]]), self.scale(0.002, 0.01),
                                  self.zero())
        self.op("PRELU", [x, alpha], [self.output(shape, np.float32(self.quantisation(x)[0] * np.exp(
            self.random.uniform(-1, 1))))])

    def resize_bilinear(self):
        n, h, w, c = self.image()
        size, form = [self.below(1, 20), self.below(1, 20)], self.below(0, 3)
        x = self.input([n, h, w, c])
        self.op("RESIZE_BILINEAR", [x, self.model.constant(size, np.int32)], [self.like(x, [n, *size, c])],
                "ResizeBilinearOptions", alignCorners=form == 1, halfPixelCenters=form == 2)

    def pad(self):
        shape = self.image()
        amounts = [[0, 0], [self.below(0, 3), self.below(0, 3)], [self.below(0, 3), self.below(0, 3)], [0, self.below(0, 3)]]
        x = self.input(shape)
        y = self.like(x, [s + a + b for s, (a, b) in zip(shape, amounts)])
        self.op("PAD", [x, self.model.constant(amounts, np.int32)], [y], "PadOptions")

    def softmax(self):
        shape = self.image() if self.below(0, 2) else [self.below(1, 5), self.below(1, 300)]
        x = self.input(shape, self.scale(0.01, 0.5) / (256 if self.dtype == np.int16 else 1))
        step, zero = (1 / 32768, 0) if self.dtype == np.int16 else (1 / 256, np.iinfo(self.dtype).min)
        self.op("SOFTMAX", [x], [self.output(shape, step, zero)], "SoftmaxOptions",
                beta=float(self.random.choice([1.0, 1.0, 0.7])))

    def log_softmax(self):
        shape = [self.below(1, 5), self.below(1, 300)]
        x = self.input(shape, self.scale(0.01, 0.5))
        self.op("LOG_SOFTMAX", [x], [self.output(shape, 16 / 256, np.iinfo(self.dtype).max)], "LogSoftmaxOptions")

    def l2_normalization(self):
        shape = self.image() if self.below(0, 2) else [self.below(1, 5), self.below(1, 300)]
        x = self.input(shape)
        self.op("L2_NORMALIZATION", [x], [self.output(shape, 1 / 128, 0 if self.dtype == np.int8 else 128)], "L2NormOptions")

    def batch_matmul(self):
        if self.dtype == np.uint8:
            self.dtype = np.int8  # LiteRT has no uint8
        batch, m, k, n = self.below(1, 4), self.below(1, 9), self.below(1, 70), self.below(1, 20)
        a_shape, b_shape = [[batch, m, k], [batch, 1, m, k]][self.below(0, 2)], [[k, n], [batch, k, n], [1, k, n]][self.below(0, 3)]
        whole = [*(a_shape[:-2] if len(a_shape) == 3 else [batch, max([1, *b_shape[:-2]])]), m, n]
        adjoint = [bool(self.below(0, 2)), bool(self.below(0, 2))]
        if adjoint[0]:
            a_shape[-2:] = a_shape[:-3:-1]
        if adjoint[1]:
            b_shape[-2:] = b_shape[:-3:-1]
        a = self.input(a_shape)
        if self.random.random() < 0.4:
            b = self.model.tensor(b_shape, self.dtype, self.bytes(b_shape), self.scale(), self.zero())
        else:
            b = self.input(b_shape)
        most = 75 if self.dtype == np.int8 else 20000
        scale = self.quantisation(a)[0] * self.quantisation(b)[0] * most * k ** 0.5
        y = self.output(whole, np.float32(scale * self.factor(-1.5, 1)))
        self.op("BATCH_MATMUL", [a, b], [y], "BatchMatMulOptions", adjX=adjoint[0], adjY=adjoint[1])

    def squared_difference(self):
        self.dtype = np.int8
        self.plain_pair("SQUARED_DIFFERENCE", "SquaredDifferenceOptions", lambda a, b: max(a, b) ** 2 * 60)

    def plain_pair(self, name, options, scale_of):
        shape = self.image()
        other = [shape, [1, 1, 1, shape[3]], [shape[3]], [1]][self.below(0, 4)]
        a, b = self.input(shape), self.input(other)
        y = self.output(shape, np.float32(scale_of(self.quantisation(a)[0], self.quantisation(b)[0]) *
                                          self.factor(-1.5, 1)))
        self.op(name, [a, b], [y], options)

    def comparison(self):
        shape = self.image()
        other = [shape, [1, 1, 1, shape[3]]][self.below(0, 2)]
        same = bool(self.below(0, 2))
        a = self.input(shape)
        b = self.input(other, *self.quantisation(a)) if same else self.input(other)
        name = ["LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL"][self.below(0, 6)]
        y = self.model.tensor(shape, bool)
        self.outputs.append(y)
        self.kinds.append(self.kind)
        self.op(name, [a, b], [y])

    def arg(self):
        shape, axis = self.image(), self.below(0, 4)
        x = self.input(shape)
        y = self.model.tensor([s for i, s in enumerate(shape) if i != axis], np.int32)
        self.outputs.append(y)
        self.kinds.append(self.kind)
        name = ["ARG_MAX", "ARG_MIN"][self.below(0, 2)]
        self.op(name, [x, self.model.constant([axis], np.int32)], [y], ["ArgMaxOptions", "ArgMinOptions"][name == "ARG_MIN"],
                outputType=schema.TensorType.INT32)

    def dilated_conv(self):
        n, h, w, c = self.image()
        m, kernel, padding, depthwise = self.below(1, 20), self.below(2, 4), self.below(0, 2), bool(self.below(0, 2))
        by = [self.below(1, 4), self.below(1, 4)]
        h, w = h + 3 * kernel, w + 3 * kernel
        x = self.input([n, h, w, c])
        shape = [1, kernel, kernel, c] if depthwise else [m, kernel, kernel, c]
        m = c if depthwise else m
        weights, bias, scale = self.weights(shape, m, x, kernel * kernel * (1 if depthwise else c), 3 if depthwise else 0)
        size = [s if padding == 0 else s - (kernel - 1) * b for s, b in zip((h, w), by)]
        y = self.output([n, *size, m], scale)
        fields = {"padding": padding, "strideH": 1, "strideW": 1, "dilationHFactor": by[0], "dilationWFactor": by[1],
                  "fusedActivationFunction": self.activation()}
        if depthwise:
            self.op("DEPTHWISE_CONV_2D", [x, weights, bias], [y], "DepthwiseConv2DOptions", depthMultiplier=1, **fields)
        else:
            self.op("CONV_2D", [x, weights, bias], [y], "Conv2DOptions", **fields)

    def rows_connected(self):
        a, b, k, m = self.below(1, 4), self.below(1, 5), self.below(1, 70), self.below(1, 20)
        x = self.input([a, b, k])
        weights, bias, scale = self.weights([m, k], m, x, k, None if self.below(0, 2) else 0)
        keep = bool(self.below(0, 2))
        y = self.output([a, b, m] if keep else [a * b, m], scale)
        self.op("FULLY_CONNECTED", [x, weights] + ([bias] if self.below(0, 2) else []), [y], "FullyConnectedOptions",
                fusedActivationFunction=self.activation(), keepNumDims=keep)

    def move(self):
        shape = self.image()
        x = self.input(shape)
        form = self.below(0, 7)
        if form == 0:
            order = [int(i) for i in self.random.permutation(4)]
            self.op("TRANSPOSE", [x, self.model.constant(order, np.int32)], [self.like(x, [shape[i] for i in order])],
                    "TransposeOptions")
        elif form == 1:
            amounts = [[0, 0]] + [[self.below(0, s), self.below(0, s)] for s in shape[1:3]] + [[0, 0]]
            self.op("MIRROR_PAD", [x, self.model.constant(amounts, np.int32)],
                    [self.like(x, [s + a + b for s, (a, b) in zip(shape, amounts)])], "MirrorPadOptions", mode=0)
        elif form == 2:
            size = [self.below(1, 20), self.below(1, 20)]
            self.op("RESIZE_NEAREST_NEIGHBOR", [x, self.model.constant(size, np.int32)],
                    [self.like(x, [shape[0], *size, shape[3]])], "ResizeNearestNeighborOptions",
                    alignCorners=False, halfPixelCenters=bool(self.below(0, 2)))
        elif form == 3:
            begin = [self.below(0, s) for s in shape]
            size = [self.below(1, s - b + 1) for s, b in zip(shape, begin)]
            self.op("SLICE", [x, self.model.constant(begin, np.int32), self.model.constant(size, np.int32)],
                    [self.like(x, size)], "SliceOptions")
        elif form == 4:
            times = [self.below(1, 3) for _ in shape]
            self.op("TILE", [x, self.model.constant(times, np.int32)],
                    [self.like(x, [s * t for s, t in zip(shape, times)])], "TileOptions")
        elif form == 5:
            axis = self.below(0, 4)
            chosen = self.random.integers(0, shape[axis], 5)
            self.op("GATHER", [x, self.model.constant(chosen, np.int32)],
                    [self.like(x, [5 if i == axis else s for i, s in enumerate(shape)])], "GatherOptions", axis=axis)
        else:
            other, count = self.input(shape, *self.quantisation(x)), self.below(0, 5)
            self.op("PACK", [x, other], [self.like(x, [*shape[:count], 2, *shape[count:]])], "PackOptions", axis=count,
                    valuesCount=2)

    def divide(self):
        self.dtype = np.uint8
        shape = self.image()
        zero, values = self.zero(), self.bytes(shape)
        values[np.abs(values.astype(int) - zero) == 1] = zero  # LiteRT shifts -1 by more than 31 bits: a wrong result
        x = self.input(shape, zero=zero, values=values)
        zero, values = self.zero(), self.bytes(shape)
        values[values == zero] = zero + 1 if zero < 255 else zero - 1
        other = self.input(shape, zero=zero, values=values)
        y = self.output(shape, np.float32(self.quantisation(x)[0] / self.quantisation(other)[0] / 60))
        self.op("DIV", [x, other], [y], "DivOptions", fusedActivationFunction=self.activation())

    def inverse_root(self):
        self.dtype = np.int8
        shape = self.image()
        x = self.input(shape, zero=-128, values=np.maximum(self.bytes(shape), -127))
        self.op("RSQRT", [x], [self.output(shape, np.float32(1 / (self.quantisation(x)[0] ** 0.5 * self.below(30, 250))))])

    def finish(self, plain=True):
        graph = self.model.graph
        for tensor in self.inputs:
            graph.tensors[tensor].name = f"x{tensor}"
        for tensor, kind in zip(self.outputs, self.kinds):
            name = kind.removesuffix("_in_floats")
            graph.tensors[tensor].name = f"y{tensor}" if plain else f"{name}_{tensor}" + kind[len(name):]
        graph.inputs, graph.outputs = list(self.inputs), self.outputs
        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(self.model.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


KINDS = ["add", "arg", "average_pool", "batch_matmul", "comparison", "concatenation", "conv", "depthwise_conv",
         "dilated_conv", "divide", "extremum", "fully_connected", "function_of_int8", "gelu", "grouped_conv",
         "hard_swish", "inverse_root", "l2_normalization", "leaky_relu", "log_softmax", "logistic", "max_pool", "mean", "move",
         "mul", "pad", "prelu", "quantize", "reduce_max", "reduce_min", "relu", "resize_bilinear", "rows_connected", "softmax",
         "sqrt", "squared_difference", "sub", "sum", "tanh", "transpose_conv"]
KINDS_OF_16_BITS = ["add", "average_pool", "batch_matmul", "concatenation", "conv", "depthwise_conv", "dilated_conv",
                    "extremum", "fully_connected", "leaky_relu", "logistic", "max_pool", "mean", "move", "mul", "pad",
                    "quantize", "relu", "rows_connected", "softmax", "sub", "tanh", "transpose_conv"]
# Vellum computes them in floats.
IN_FLOATS = {"batch_matmul", "divide", "log_softmax", "squared_difference"}
IN_FLOATS_OF_16_BITS = {"add", "batch_matmul", "conv", "depthwise_conv", "dilated_conv", "fully_connected", "mean", "mul",
                        "rows_connected", "sub", "transpose_conv"}


def add_operators(maker, kinds, count, dtype=None):
    for kind in kinds:
        for i in range(count):
            maker.dtype = dtype or (np.int8 if i % 2 == 0 else np.uint8)
            in_floats = kind in (IN_FLOATS_OF_16_BITS if dtype == np.int16 else IN_FLOATS)
            maker.kind = kind + "_16" * (dtype == np.int16) + "_in_floats" * in_floats
            getattr(maker, kind)()


def make(kinds, seed, count, dtype=None, extreme=False):
    maker = Maker(seed)
    maker.extreme = extreme
    add_operators(maker, kinds, count, dtype)
    return maker


def expected(model, maker):
    interpreter = Interpreter(model_content=model, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    for detail, values in zip(interpreter.get_input_details(), maker.inputs.values()):
        interpreter.set_tensor(detail["index"], values)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


def compare(tool, kind, seed, count, dtype, extreme):
    maker = make([kind], seed, count, dtype, extreme)
    model = maker.finish()
    want = expected(model, maker)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "model.tflite").write_bytes(model)
        command = [tool, "run", str(folder / "model.tflite"), "-o", name, *os.environ.get("VELLUM_RUN", "").split()]
        for tensor, values in maker.inputs.items():
            np.save(folder / f"x{tensor}.npy", values)
            command += ["-i", f"x{tensor}={folder / f'x{tensor}.npy'}"]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode != 0:
            return f"{kind}: refused: {run.stderr.strip().splitlines()[-1]}"
        got = [np.load(folder / f"y{tensor}.npy") for tensor in maker.outputs]
    differences = [np.abs(a.astype(int) - b.astype(int)) for a, b in zip(want, got)]
    elements, differ = sum(d.size for d in differences), sum((d > 0).sum() for d in differences)
    most = max(d.max(initial=0) for d in differences)
    return (f"{kind}: {sum(bool(d.any()) for d in differences)} of {len(differences)} operators, {differ} of {elements} "
            f"elements differ, at most {most} steps")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool", nargs="?")
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--int16", action="store_true")
    parser.add_argument("--extreme", action="store_true")
    parser.add_argument("--sample")
    arguments = parser.parse_intermixed_args()
    if arguments.sample:
        maker = make(KINDS, arguments.seed, 2)
        add_operators(maker, KINDS_OF_16_BITS, 1, np.int16)
        model = maker.finish(plain=False)
        folder = pathlib.Path(arguments.sample)
        (folder / "quantised_operators.tflite").write_bytes(model)
        values = [*maker.inputs.values(), *expected(model, maker)]
        (folder / "quantised_operators.bytes").write_bytes(b"".join(v.tobytes() for v in values))
        return
    if not arguments.tool:
        sys.exit(__doc__)
    for kind in arguments.kinds or (KINDS_OF_16_BITS if arguments.int16 else KINDS):
        dtype = np.int16 if arguments.int16 else None
        print(compare(arguments.tool, kind, arguments.seed, arguments.count, dtype, arguments.extreme), flush=True)


main()
