"""Pools, reductions and normalisations, for quantised_operators.py."""
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from quantised_model import QuantisedModel


class Reductions(QuantisedModel):
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

    def arg(self):
        shape, axis = self.image(), self.below(0, 4)
        x = self.input(shape)
        y = self.model.tensor([s for i, s in enumerate(shape) if i != axis], np.int32)
        self.outputs.append(y)
        self.kinds.append(self.kind)
        name = ["ARG_MAX", "ARG_MIN"][self.below(0, 2)]
        self.op(name, [x, self.model.constant([axis], np.int32)], [y], ["ArgMaxOptions", "ArgMinOptions"][name == "ARG_MIN"],
                outputType=schema.TensorType.INT32)

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
