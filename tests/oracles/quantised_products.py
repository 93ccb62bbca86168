"""Convolutions and matrix products, for quantised_operators.py."""
import numpy as np
from quantised_model import QuantisedModel


class Products(QuantisedModel):
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

    def fully_connected(self):
        rows, k, m = self.below(1, 6), self.below(1, 70), self.below(1, 20)
        x = self.input([rows, k])
        weights, bias, scale = self.weights([m, k], m, x, k, None)
        y = self.output([rows, m], scale)
        self.op("FULLY_CONNECTED", [x, weights, bias], [y], "FullyConnectedOptions",
                fusedActivationFunction=self.activation())

    def rows_connected(self):
        a, b, k, m = self.below(1, 4), self.below(1, 5), self.below(1, 70), self.below(1, 20)
        x = self.input([a, b, k])
        weights, bias, scale = self.weights([m, k], m, x, k, None if self.below(0, 2) else 0)
        keep = bool(self.below(0, 2))
        y = self.output([a, b, m] if keep else [a * b, m], scale)
        self.op("FULLY_CONNECTED", [x, weights] + ([bias] if self.below(0, 2) else []), [y], "FullyConnectedOptions",
                fusedActivationFunction=self.activation(), keepNumDims=keep)

    def batch_matmul_by_constant(self):
        self.batch_matmul(by_constants=1)

    def batch_matmul_by_constants(self):
        self.batch_matmul(by_constants=2)

    # by_constants: 0, b is computed; 1, it is a constant matrix; 2, it is one for each batch.
    def batch_matmul(self, by_constants=0):
        if self.dtype == np.uint8:
            self.dtype = np.int8  # LiteRT has no uint8
        batch, m, k, n = self.below(2 if by_constants == 2 else 1, 4), self.below(1, 9), self.below(1, 70), self.below(1, 20)
        b_shapes = [[[k, n], [batch, k, n], [1, k, n]], [[k, n], [1, k, n]], [[batch, k, n]]][by_constants]
        a_shape, b_shape = [[batch, m, k], [batch, 1, m, k]][self.below(0, 2)], b_shapes[self.below(0, len(b_shapes))]
        whole = [*(a_shape[:-2] if len(a_shape) == 3 else [batch, max([1, *b_shape[:-2]])]), m, n]
        adjoint = [bool(self.below(0, 2)), bool(self.below(0, 2))]
        if adjoint[0]:
            a_shape[-2:] = a_shape[:-3:-1]
        if adjoint[1]:
            b_shape[-2:] = b_shape[:-3:-1]
        a = self.input(a_shape)
        if by_constants:
            b = self.model.tensor(b_shape, self.dtype, self.bytes(b_shape), self.scale(), self.zero())
        else:
            b = self.input(b_shape)
        most = 75 if self.dtype == np.int8 else 20000
        scale = self.quantisation(a)[0] * self.quantisation(b)[0] * most * k ** 0.5
        y = self.output(whole, np.float32(scale * self.factor(-1.5, 1)))
        self.op("BATCH_MATMUL", [a, b], [y], "BatchMatMulOptions", adjX=adjoint[0], adjY=adjoint[1])
