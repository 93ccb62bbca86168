"""Functions of one and of two tensors, element by element, for quantised_operators.py."""
import numpy as np
from quantised_model import QuantisedModel


class Elementwise(QuantisedModel):
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

    def plain_pair(self, name, options, scale_of):
        shape = self.image()
        other = [shape, [1, 1, 1, shape[3]], [shape[3]], [1]][self.below(0, 4)]
        a, b = self.input(shape), self.input(other)
        y = self.output(shape, np.float32(scale_of(self.quantisation(a)[0], self.quantisation(b)[0]) *
                                          self.factor(-1.5, 1)))
        self.op(name, [a, b], [y], options)

    def squared_difference(self):
        self.dtype = np.int8
        self.plain_pair("SQUARED_DIFFERENCE", "SquaredDifferenceOptions", lambda a, b: max(a, b) ** 2 * 60)

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

    def inverse_root(self):
        self.dtype = np.int8
        shape = self.image()
        x = self.input(shape, zero=-128, values=np.maximum(self.bytes(shape), -127))
        self.op("RSQRT", [x], [self.output(shape, np.float32(1 / (self.quantisation(x)[0] ** 0.5 * self.below(30, 250))))])

    def relu(self):
        self.unary(["RELU", "RELU6", "RELU_N1_TO_1"][self.below(0, 2 if self.dtype == np.int16 else 3)])

    def prelu(self):
        shape = self.image()
        x = self.input(shape)
        alpha = self.model.tensor([1, 1, shape[3]], self.dtype, self.bytes([1, 1, shape[3]]), self.scale(0.002, 0.01),
                                  self.zero())
        self.op("PRELU", [x, alpha], [self.output(shape, np.float32(self.quantisation(x)[0] * np.exp(
            self.random.uniform(-1, 1))))])

    def quantize(self):
        shape = self.image()
        x = self.input(shape)
        other = [np.int8, np.int16 if self.dtype == np.int16 else np.uint8][self.below(0, 2)]
        scale = np.float32(self.quantisation(x)[0] * self.factor(-1, 1))
        if self.dtype == np.int16 and other == np.int8:
            scale *= 256
        zero = 0 if other == np.int16 else int(self.random.integers(*((-128, 128) if other == np.int8 else (0, 256))))
        self.op("QUANTIZE", [x], [self.output(shape, scale, zero, other)])
