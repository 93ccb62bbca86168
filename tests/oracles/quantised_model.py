"""The TFLite file of quantised operators, and the random tensors that they share, for quantised_operators.py."""
import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from litert_operators import Model

CODES, OPTIONS = schema.BuiltinOperator, schema.BuiltinOptions
VERSIONS = {"CONV_2D": 3, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": 4, "HARD_SWISH": 1, "PRELU": 1, "RELU_N1_TO_1": 1,
            "TRANSPOSE_CONV": 3, "LEAKY_RELU": 2, "RESIZE_BILINEAR": 3}


class QuantisedModel:
    """A model of operators without connections. Classes derived from it add operators with random parameters."""

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
