#!/usr/bin/env python3
"""Writes EfficientNet-Lite0's weights, as torch saved them, as an ONNX file, with Python's standard library alone.

    efficientnet_lite_to_onnx.py WEIGHTS.pth MODEL.onnx

The file has one input, float32 [1, 3, 224, 224], normalised with ImageNet's mean and deviation, and one output, the scores of
ImageNet's 1,000 classes before softmax. Batch normalisation is folded into the convolutions. The same input gives the same
bytes.
"""
import array
import collections
import math
import pathlib
import pickle
import sys

sys.dont_write_bytecode = True
from onnx_writer import model, node, tensor, value_info  # noqa: E402

SIDE, EPSILON = 224, 1e-3
# Repetitions, stride of the first block, factor of expansion; the shapes of the weights say the rest:
# https://github.com/tensorflow/tpu/blob/master/models/official/efficientnet/lite/efficientnet_lite_builder.py
STAGES = [(1, 1, 1), (2, 2, 6), (2, 2, 6), (3, 2, 6), (3, 1, 6), (4, 2, 6), (1, 1, 6)]

Weights = collections.namedtuple("Weights", "shape values")


# ---- torch's files before version 1.6: pickles one after the other, then the values of each storage -------------------

class Reader(pickle.Unpickler):
    """Makes nothing but tensors and dictionaries, whatever the file asks for."""

    def __init__(self, file):
        super().__init__(file)
        self.storages = {}  # by key: type code and length

    def find_class(self, module, name):
        known = {("collections", "OrderedDict"): collections.OrderedDict, ("torch", "FloatStorage"): "f",
                 ("torch", "LongStorage"): "q",
                 ("torch._utils", "_rebuild_tensor_v2"): lambda *described: described[:4]}
        if (module, name) not in known:
            raise pickle.UnpicklingError(f"the file asks for {module}.{name}, which weights do not need")
        return known[module, name]

    def persistent_load(self, described):
        kind, code, key, _, length, _ = described
        if kind != "storage":
            raise pickle.UnpicklingError(f"the file refers to a {kind}")
        self.storages[key] = code, length
        return key


def in_order(values, offset, shape, strides):
    """The elements of a tensor in the order of its indices; these weights are stored in TensorFlow's order."""
    positions = [offset]
    for size, stride in zip(shape, strides):
        positions = [position + i * stride for position in positions for i in range(size)]
    return [values[position] for position in positions]


def read_weights(path):
    with path.open("rb") as file:
        for _ in range(3):  # a magic number, the version, the sizes of types
            Reader(file).load()
        reader = Reader(file)
        described = reader.load()
        values = {}
        for key in Reader(file).load():
            code, length = reader.storages[key]
            file.read(8)  # the length again
            values[key] = array.array(code, file.read(length * array.array(code).itemsize))
    return {name: Weights(list(shape), in_order(values[key], offset, shape, strides))
            for name, (key, offset, shape, strides) in described.items()}


# ---- The network -----------------------------------------------------------------------------------------------------

class Network:
    def __init__(self, weights):
        self.weights, self.nodes, self.tensors = weights, [], []
        self.last, self.channels, self.side = "image", 3, SIDE

    def constant(self, name, shape, values):
        self.tensors.append(tensor(name, shape, array.array("f", values).tobytes()))
        return name

    def apply(self, kind, inputs, output, **attributes):
        self.nodes.append(node(kind, inputs, output, **attributes))
        self.last = output

    def convolution(self, name, normalisation, stride=1, depthwise=False, activation=True):
        """A convolution with its batch normalisation and ReLU6; the padding is "same" as TensorFlow has it."""
        shape, kernel = self.weights[name + ".weight"]
        scale, shift, mean, variance = (self.weights[f"{normalisation}.{part}"].values
                                        for part in ("weight", "bias", "running_mean", "running_var"))
        factors = [scale[i] / math.sqrt(variance[i] + EPSILON) for i in range(shape[0])]
        size = math.prod(shape[1:])
        folded = (kernel[i] * factors[i // size] for i in range(len(kernel)))
        bias = (shift[i] - mean[i] * factors[i] for i in range(shape[0]))
        window, output_side = shape[2], -(-self.side // stride)
        padding = max(0, (output_side - 1) * stride + window - self.side)
        before, after = padding // 2, padding - padding // 2
        inputs = [self.last, self.constant(name + ".weight", shape, folded), self.constant(name + ".bias", shape[:1], bias)]
        self.apply("Conv", inputs, name, kernel_shape=[window, window], strides=[stride, stride],
                   pads=[before, before, after, after], group=shape[0] if depthwise else 1)
        self.side, self.channels = output_side, shape[0]
        if activation:
            self.apply("Clip", [self.last, "zero", "six"], name + ".relu6")

    def block(self, name, stride, expansion):
        first, channels = self.last, self.channels
        if expansion > 1:
            self.convolution(name + "._expand_conv", name + "._bn0")
        self.convolution(name + "._depthwise_conv", name + "._bn1", stride, depthwise=True)
        self.convolution(name + "._project_conv", name + "._bn2", activation=False)
        if stride == 1 and channels == self.channels:
            self.apply("Add", [self.last, first], name)


def convert(path):
    network = Network(read_weights(path))
    network.constant("zero", [], [0])
    network.constant("six", [], [6])
    network.convolution("_conv_stem", "_bn0", 2)
    index = 0
    for repetitions, stride, expansion in STAGES:
        for repetition in range(repetitions):
            network.block(f"_blocks.{index}", 1 if repetition else stride, expansion)
            index += 1
    network.convolution("_conv_head", "_bn1")
    network.apply("GlobalAveragePool", [network.last], "means")
    network.apply("Flatten", ["means"], "features", axis=1)
    dense = [network.constant("_fc." + part, *network.weights["_fc." + part]) for part in ("weight", "bias")]
    network.apply("Gemm", ["features", *dense], "scores", transB=1)
    return model("efficientnet_lite0", network.nodes, network.tensors, value_info("image", [1, 3, SIDE, SIDE]),
                 value_info("scores", [1, len(network.weights["_fc.bias"].values)]))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    pathlib.Path(sys.argv[2]).write_bytes(convert(pathlib.Path(sys.argv[1])))
