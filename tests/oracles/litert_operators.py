#!/usr/bin/env python3
"""Prints what LiteRT's reference kernels compute for single operators: the values that tests of TFLite operators record.

  pip install ai-edge-litert numpy
  python3 tests/oracles/litert_operators.py [detection ...]
"""
import sys

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from flatbuffers import flexbuffers

CUSTOM = schema.BuiltinOperator.CUSTOM
TYPES = {np.dtype(np.float32): schema.TensorType.FLOAT32, np.dtype(np.int32): schema.TensorType.INT32,
         np.dtype(np.int8): schema.TensorType.INT8, np.dtype(np.uint8): schema.TensorType.UINT8,
         np.dtype(np.int16): schema.TensorType.INT16, np.dtype(np.int64): schema.TensorType.INT64,
         np.dtype(bool): schema.TensorType.BOOL, np.dtype(np.complex64): schema.TensorType.COMPLEX64}


class Model:
    """A model of one graph."""

    def __init__(self):
        self.model = schema.ModelT()
        self.model.version = 3
        self.model.buffers = [schema.BufferT()]
        self.model.operatorCodes = []
        self.graph = schema.SubGraphT()
        self.graph.tensors, self.graph.operators = [], []
        self.graph.inputs, self.graph.outputs = [], []
        self.model.subgraphs = [self.graph]

    def tensor(self, shape, dtype=np.float32, data=None, scale=None, zero=0, variable=False):
        entry = schema.TensorT()
        entry.shape, entry.type = list(shape), TYPES[np.dtype(dtype)]
        entry.name = f"t{len(self.graph.tensors)}"
        entry.isVariable = variable
        entry.buffer = 0
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data, dtype).tobytes(), np.uint8)
            self.model.buffers.append(buffer)
            entry.buffer = len(self.model.buffers) - 1
        if scale is not None:
            entry.quantization = schema.QuantizationParametersT()
            scales = np.atleast_1d(np.asarray(scale, np.float32))
            entry.quantization.scale = scales
            entry.quantization.zeroPoint = np.broadcast_to(np.int64(zero), scales.shape)
        self.graph.tensors.append(entry)
        return len(self.graph.tensors) - 1

    def constant(self, values, dtype=np.float32, scale=None, zero=0):
        values = np.asarray(values, dtype)
        return self.tensor(values.shape, dtype, values, scale, zero)

    def op(self, code, inputs, outputs, options_type=0, options=None, custom=None, custom_options=None, version=1):
        entry = schema.OperatorCodeT()
        entry.builtinCode, entry.deprecatedBuiltinCode, entry.version = code, min(code, 127), version
        entry.customCode = custom
        self.model.operatorCodes.append(entry)
        op = schema.OperatorT()
        op.opcodeIndex = len(self.model.operatorCodes) - 1
        op.inputs, op.outputs = list(inputs), list(outputs)
        op.builtinOptionsType, op.builtinOptions = options_type, options
        if custom_options is not None:
            op.customOptions = np.frombuffer(bytes(flexbuffers.Dumps(custom_options)), np.uint8)
        self.graph.operators.append(op)

    def run(self, inputs, outputs, runs=1):
        """inputs: {tensor: values}. Returns the outputs of each run, one after the other."""
        self.graph.inputs, self.graph.outputs = list(inputs), list(outputs)
        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        interpreter = Interpreter(model_content=bytes(builder.Output()),
                                  experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
        interpreter.allocate_tensors()
        for detail, values in zip(interpreter.get_input_details(), inputs.values()):
            interpreter.set_tensor(detail["index"], np.asarray(values, detail["dtype"]).reshape(detail["shape"]))
        results = []
        for _ in range(runs):
            interpreter.invoke()
            results += [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]
        return results


def show(name, values):
    values = np.asarray(values)
    if np.iscomplexobj(values):
        values = np.stack([values.real, values.imag], -1)
    text = ", ".join(f"{v:.9g}" for v in values.reshape(-1).tolist())
    print(f"{name} {list(values.shape)}: {{{text}}}")


# Five boxes, of which 0 and 1, and 2 and 3, overlap. Two boxes have equal scores.
BOXES = [[[0.5, 0.5, 0, 0, 9], [1, 0, 0.5, -0.5, 9], [0, 0, 1, 1, 9], [0.2, -0.1, 1.2, 0.9, 9], [-3, 2, 0, 2, 9]]]
ANCHORS = [[0.25, 0.25, 0.5, 0.5], [0.25, 0.25, 0.5, 0.5], [0.75, 0.5, 0.25, 0.5], [0.75, 0.5, 0.25, 0.5],
           [0.5, 0.75, 0.25, 0.25]]
SCORES = [[[0.0, 0.875, 0.5], [0.9, 0.25, 0.75], [0.1, 0.5, 0.625], [0.0, 0.625, 0.375], [0.2, 0.5, 0.5]]]


def detection():
    for regular, classes_each, background, most in ((False, 1, 1, 4), (False, 2, 1, 2), (False, 3, 0, 3), (True, 1, 1, 5),
                                                    (True, 1, 0, 3)):
        model = Model()
        scores = np.asarray(SCORES)[:, :, 1 - background:]
        b, s = model.tensor([1, 5, 5]), model.tensor(scores.shape)
        a = model.constant(ANCHORS)
        outputs = [model.tensor([]) for _ in range(4)]
        options = {"max_detections": most, "max_classes_per_detection": classes_each, "use_regular_nms": regular,
                   "detections_per_class": 2, "nms_score_threshold": 0.4, "nms_iou_threshold": 0.5,
                   "num_classes": 2, "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0}
        model.op(CUSTOM, [b, s, a], outputs, custom="TFLite_Detection_PostProcess", custom_options=options)
        print(f"detection regular={regular} classes_each={classes_each} background={background} max={most}")
        results = model.run({b: BOXES, s: scores}, outputs)
        for name, values in zip(("boxes", "classes", "scores", "count"), results):
            show("  " + name, values)


def fourier():
    """Rows of 3 x 5, padded or cut to the size of the transform."""
    x = np.asarray([[1, 2, -1, 0.5, 3], [0, -2, 1, 4, 1], [2, 2, 0, -1, -3]], np.float32)
    for size in ((1, 8), (4, 4), (2, 2)):
        model = Model()
        i, c = model.tensor([3, 5]), model.tensor([size[0], size[1] // 2 + 1], np.complex64)
        length = model.tensor([size[0], size[1] // 2 + 1])
        model.op(131, [i, model.constant(size, np.int32)], [c], 105, schema.Rfft2dOptionsT())
        model.op(135, [c], [length], 0, None)
        print(f"fourier {size}")
        spectrum, absolute = model.run({i: x}, [c, length])
        show("  spectrum", spectrum)
        show("  absolute", absolute)


def values(shape, seed):
    """Numbers in eighths in -1...1, as tests make them."""
    count = int(np.prod(shape))
    return (((np.arange(count) * 7 + seed * 5) % 17 - 8) / 8).astype(np.float32).reshape(shape)


def lstm():
    steps, batches, width, cells = 3, 2, 3, 2
    for name in ("plain", "coupled with peepholes", "time major", "int8 weights", "clipped cells"):
        coupled, time_major, hybrid = name.startswith("coupled"), name == "time major", name == "int8 weights"
        model = Model()
        x = model.tensor([steps, batches, width] if time_major else [batches, steps, width])

        def matrix(shape, seed):
            if not hybrid:
                return model.constant(values(shape, seed))
            return model.constant(np.round(values(shape, seed) * 8), np.int8, 0.125)

        inputs = [x] + [matrix([cells, width], g) for g in range(4)]
        inputs += [matrix([cells, cells], 4 + g) for g in range(4)]
        inputs += [model.constant(values([cells], 8 + g)) if coupled else -1 for g in range(3)]
        inputs += [model.constant(values([cells], 11 + g)) for g in range(4)]
        if coupled:
            inputs[1] = inputs[5] = inputs[9] = inputs[12] = -1
        inputs += [-1, -1] + [model.tensor([batches, cells], variable=True) for _ in range(2)] + [-1] * 4
        y = model.tensor([steps, batches, cells] if time_major else [batches, steps, cells])
        options = schema.UnidirectionalSequenceLSTMOptionsT()
        options.fusedActivationFunction = 4  # tanh
        options.timeMajor = time_major
        options.cellClip = 0.125 if name == "clipped cells" else 0.0
        model.op(44, inputs, [y], 71, options)
        given = values([steps, batches, width], 20)
        print(f"lstm {name}")
        for i, result in enumerate(model.run({x: given if time_major else given.transpose(1, 0, 2)}, [y], runs=2)):
            show(f"  run {i}", result)


def integers(shape, factor, seed):
    """Bytes, as tests make them."""
    return ((np.arange(int(np.prod(shape))) * factor + seed * 29) % 251 - 125).astype(np.int8).reshape(shape)


def integer_lstm():
    """Inputs and states of int8, cells of int16."""
    steps, batches, width, cells = 4, 2, 3, 2
    for coupled in (False, True):
        model = Model()
        state_scale, state_zero = 0.0078125, 3
        x = model.tensor([steps, batches, width], np.int8, scale=0.03, zero=-7)
        inputs = [x] + [model.constant(integers([cells, width], 37, g), np.int8, 0.01 + 0.001 * g) for g in range(4)]
        inputs += [model.constant(integers([cells, cells], 53, g), np.int8, 0.02 - 0.001 * g) for g in range(4)]
        inputs += [-1] * 3
        inputs += [model.constant([100 * g, -50 * g], np.int32, np.float32(0.03) * np.float32(0.01 + 0.001 * g)) for g in range(4)]
        if coupled:
            inputs[1] = inputs[5] = inputs[12] = -1
        inputs += [-1, -1, model.tensor([batches, cells], np.int8, scale=state_scale, zero=state_zero, variable=True),
                   model.tensor([batches, cells], np.int16, scale=2.0 ** -11, variable=True)] + [-1] * 4
        y = model.tensor([steps, batches, cells], np.int8, scale=state_scale, zero=state_zero)
        options = schema.UnidirectionalSequenceLSTMOptionsT()
        options.fusedActivationFunction, options.timeMajor = 4, True
        options.cellClip = 0.75 if coupled else 0.0
        model.op(44, inputs, [y], 71, options, version=3)
        between = [model.tensor([], np.int16, scale=2.0 ** -12) for _ in range(4)]
        between.append(model.tensor([], np.int8, scale=state_scale, zero=state_zero))
        model.graph.operators[-1].intermediates = between
        for run, result in enumerate(model.run({x: integers([steps, batches, width], 71, 1)}, [y], runs=2)):
            show(f"integer lstm coupled={coupled} run {run}", result)


def hybrid():
    """Floats and int8 weights, with one scale or one for each channel."""
    scales = [0.0625, 0.03125, 0.125]

    def weights(model, shape, seed, scale, axis=0):
        w = model.constant(np.round(values(shape, seed) * 8) * 12, np.int8, scale)
        model.graph.tensors[w].quantization.quantizedDimension = axis
        return w

    for asymmetric in (False, True):
        model = Model()
        x, y = model.tensor([1, 6]), model.tensor([1, 3])
        options = schema.FullyConnectedOptionsT()
        options.asymmetricQuantizeInputs = asymmetric
        bias = model.constant(values([3], 3))
        model.op(9, [x, weights(model, [3, 6], 1, 0.0625), bias], [y], 8, options, version=9)
        show(f"hybrid row asymmetric={asymmetric}", model.run({x: values([1, 6], 2) + 0.25}, [y])[0])
    for name, shape, scale, axis in (("conv", [3, 2, 2, 3], 0.0625, 0), ("conv of channels", [3, 2, 2, 3], scales, 0),
                                     ("depthwise", [1, 2, 2, 3], scales, 3)):
        model = Model()
        x, y = model.tensor([1, 2, 3, 3]), model.tensor([1, 1, 2, 3])
        depthwise = name == "depthwise"
        options = schema.DepthwiseConv2DOptionsT() if depthwise else schema.Conv2DOptionsT()
        options.padding = 1
        options.strideH = options.strideW = options.dilationHFactor = options.dilationWFactor = options.depthMultiplier = 1
        inputs = [x, weights(model, shape, 1, scale, axis), model.constant(values([3], 3))]
        model.op(4 if depthwise else 3, inputs, [y], 2 if depthwise else 1, options, version=6 if depthwise else 5)
        show(f"hybrid {name}", model.run({x: values([1, 2, 3, 3], 2) + 0.25}, [y])[0])


def volumes():
    """Convolutions of 2x3x2 elements with two channels."""
    given = values([1, 2, 3, 2, 2], 1)
    for code, name, size in ((132, "conv", [1, 2, 2, 2, 3]), (141, "transposed", [1, 2, 6, 2, 3])):
        model = Model()
        x, y = model.tensor(given.shape), model.tensor(size)
        kernel = model.constant(values([2, 3, 1, 2, 3] if code == 132 else [2, 3, 1, 3, 2], 2))
        options = schema.Conv3DOptionsT()
        options.strideH, options.fusedActivationFunction = 2, int(code == 132)
        options.strideD = options.strideW = options.dilationDFactor = options.dilationHFactor = options.dilationWFactor = 1
        before = [] if code == 132 else [model.constant(size, np.int32)]
        inputs = [x, kernel] if code == 132 else [kernel, x]
        model.op(code, before + inputs + [model.constant(values([3], 3))], [y], 106, options)
        show(name, model.run({x: given}, [y])[0])


def rnn():
    for time_major in (False, True):
        model = Model()
        x = model.tensor([3, 2, 3] if time_major else [2, 3, 3])
        inputs = [x] + [model.constant(values(shape, i)) for i, shape in enumerate(([2, 3], [2, 2], [2]))]
        inputs.append(model.tensor([2, 2], variable=True))
        y = model.tensor([3, 2, 2] if time_major else [2, 3, 2])
        options = schema.SequenceRNNOptionsT()
        options.timeMajor, options.fusedActivationFunction = time_major, 1 if time_major else 4
        model.op(35, inputs, [y], 31, options)
        for i, result in enumerate(model.run({x: values([2, 3, 3], 7)}, [y], runs=2)):
            show(f"rnn time_major={time_major} run {i}", result)
    model = Model()
    x, y = model.tensor([2, 3]), model.tensor([2, 2])
    inputs = [x] + [model.constant(values(shape, i)) for i, shape in enumerate(([2, 3], [2, 2], [2]))]
    options = schema.RNNOptionsT()
    options.fusedActivationFunction = 4
    model.op(24, inputs + [model.tensor([2, 2], variable=True)], [y], 7, options)
    for i, result in enumerate(model.run({x: values([2, 3], 7)}, [y], runs=2)):
        show(f"rnn of a step, run {i}", result)


def svdf():
    """Two units of two filters each, which remember three steps."""
    for is_integer in (False, True):
        model = Model()
        options = schema.SVDFOptionsT()
        options.rank, options.fusedActivationFunction = 2, int(is_integer)
        if is_integer:
            x, y = model.tensor([1, 3], np.int8, scale=0.0625, zero=-3), model.tensor([1, 2], np.int8, scale=0.05, zero=7)
            inputs = [x, model.constant(integers([4, 3], 37, 1), np.int8, 0.0078125),
                      model.constant(integers([4, 3], 53, 2).astype(np.int16) * 8, np.int16, 0.0009765625),
                      model.constant([3000, -2000], np.int32, np.float32(0.001) * np.float32(0.0009765625)),
                      model.tensor([1, 12], np.int16, scale=0.001, variable=True)]
            given = integers([1, 3], 71, 3)
        else:
            x, y = model.tensor([2, 3]), model.tensor([2, 2])
            inputs = [x] + [model.constant(values(shape, i)) for i, shape in enumerate(([4, 3], [4, 3], [2]))]
            inputs.append(model.tensor([2, 12], variable=True))
            given = values([2, 3], 7)
        model.op(27, inputs, [y], 6, options, version=3 if is_integer else 1)
        for i, result in enumerate(model.run({x: given}, [y], runs=3)):
            show(f"svdf integers={is_integer} run {i}", result)


CASES = {"detection": detection, "fourier": fourier, "hybrid": hybrid, "integer_lstm": integer_lstm, "lstm": lstm,
         "rnn": rnn, "svdf": svdf, "volumes": volumes}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or CASES:
        CASES[chosen]()
