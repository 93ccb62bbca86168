"""Systematic hostile ONNX files, continued: weights in other files, names, quantisation in blocks, resizing, attention.
Yields (name, bytes), or (name, (bytes, {name of a file beside it: bytes, FIFO, or the target of a link})).
"""
from onnx_writer import *  # noqa: F403

FIFO = object()
SIZES = [1 << 16, 1 << 31, 1 << 40, (1 << 63) - 1, -1, 0]
UINT4, INT4 = 21, 22


def tag(number):
    return str(number).replace("-", "minus")


def external(name, dims, dtype=FLOAT, location="w", **keys):
    entries = [("location", location)] + [(key, str(value)) for key, value in keys.items()]
    return (fields(1, dims) + field(2, dtype) + field(8, name) +
            b"".join(field(13, field(1, key) + field(2, value)) for key, value in entries) + field(14, 1))


def weights_elsewhere():
    def one(*arguments, files=None, **keys):
        return simple([node("Add", ["x", "c"], ["y"])], [external("c", *arguments, **keys)], [("x", [4])]), files or {}
    few = bytes(16)
    for count in (1000, 40000):
        for dims, dtype, size in (([15000], FLOAT, 60000), ([1 << 16], FLOAT, 1 << 18), ([60000], BOOL, 60000),
                                  ([1 << 18], BOOL, 1 << 18), ([1 << 18], INT4, 1 << 17), ([1 << 25], INT4, 1 << 24)):
            yield "same_%d_of_%d_%d" % (count, size, dtype), (simple(
                [node("Relu", ["x"], ["y"])], [external("c%d" % i, dims, dtype) for i in range(count)]), {"w": b"\2" * size})
    yield "fifo", one([4], files={"w": FIFO})
    yield "link_outside", one([4], files={"w": "/proc/self/mem"})
    yield "link_to_itself", one([4], files={"w": "w"})
    yield "link_to_device", one([4], files={"w": "/dev/zero"})
    yield "of_a_fifo_behind_a_link", one([4], files={"w": "v", "v": FIFO})
    for location in ("/proc/self/mem", "/dev/zero", "/dev/stdin", ".", "", "..", "../w", "a/../../w", "w\0", "\n", "w/", "//w",
                     "w" * 300, "w/" * 100000, "w" * (10 << 20), "\xff\xfe".encode("latin1").decode("latin1")):
        yield "at_" + "".join(c if c.isalnum() else "_" for c in location[:20]) + "_%d" % len(location), one(
            [4], location=location, files={"w": few})
    for number in SIZES + [4, 15, 16, 17, 1 << 64, 10**30]:
        yield "offset_" + tag(number), one([4], offset=number, files={"w": few})
        yield "length_" + tag(number), one([4], length=number, files={"w": few})
        yield "both_" + tag(number), one([4], offset=number, length=number, files={"w": few})
        yield "dims_" + tag(number), one([min(number, (1 << 63) - 1)], files={"w": few})
    yield "twice_located", (simple([node("Add", ["x", "c"], ["y"])], [external("c", [4]) + field(13, field(
        1, "location") + field(2, "/etc/passwd"))], [("x", [4])]), {"w": few})


def names():
    long = "n" * (10 << 20)
    yield "long_node", simple([node("Relu", ["x"], ["y"], name=long)])
    yield "long_value", simple([node("Relu", ["x"], [long]), node("Abs", [long], ["y"])])
    yield "long_operator", simple([node(long, ["x"], ["y"])])
    yield "long_missing", simple([node("Relu", [long], ["y"])])
    yield "long_input", simple([node("Conv", [long, long], ["y"])], inputs=[(long, [4])])
    yield "long_dimension", simple([node("Relu", ["x"], ["y"])], inputs=[("x", [long, 4])])
    yield "long_attribute", simple([node("Relu", ["x"], ["y"], **{long: 1})])
    yield "long_text", simple([node("Conv", ["x", "x"], ["y"], auto_pad=long)])
    yield "long_constant", simple([node("Add", ["x", long], ["y"])], [tensor(long, [1 << 40], [1.0], FLOAT)])
    yield "long_constant_that_fits", simple([node("MatMul", ["x", long], ["y"])], [floats(long, [7])])
    yield "long_equation", simple([node("Einsum", ["x"], ["y"], equation="ab" * (5 << 20))])
    yield "lines", simple([node("Conv\n\r\0", ["x\n"], ["y\n"], name="a\nb\x1b[31m")])
    yield "lines_in_names", simple([node("Conv", ["x\n", "x\n"], ["y"], name="a\nb\x1b[31m")], inputs=[("x\n", [4])])
    for count in (1000, 100000):
        yield "constants_%d" % count, simple([node("Relu", ["x"], ["y"])], [floats("c%d" % i, []) for i in range(count)])
        yield "inputs_%d" % count, simple([node("Relu", ["x"], ["y"])], inputs=[("x", [4])] + [
            ("x%d" % i, [4]) for i in range(count)])
        yield "attributes_%d" % count, simple([node("Relu", ["x"], ["y"], **{"a%d" % i: 1 for i in range(count)})])
        yield "attribute_ints_%d" % count, simple([node("Transpose", ["x"], ["y"], perm=[1] * count)])
        yield "dims_%d" % count, simple([node("Reshape", ["x", "s"], ["y"])], [ints("s", [1] * count)])
        yield "expand_dims_%d" % count, simple([node("Expand", ["x", "s"], ["y"])], [ints("s", [1] * count)])
        yield "unsqueeze_dims_%d" % count, simple([node("Unsqueeze", ["x", "s"], ["y"])], [ints("s", list(range(count)))])
        yield "input_dims_%d" % count, simple([node("Relu", ["x"], ["y"])], inputs=[("x", [1] * count)])
        yield "axes_%d" % count, simple([node("ReduceSum", ["x", "s"], ["y"])], [ints("s", list(range(count)))])
        yield "inputs_of_one_%d" % count, simple([node("Relu", ["x"] * count, ["y"])])
        yield "outputs_of_one_%d" % count, simple([node("Relu", ["x"], ["y"] + ["z%d" % i for i in range(count)])])
        yield "operators_%d" % count, simple([node("Kind%d" % i, ["x"], ["y%d" % i]) for i in range(count)])
        yield "opsets_%d" % count, simple([node("Relu", ["x"], ["y"])]) + b"".join(
            field(8, field(1, "d%d" % i) + field(2, 1)) for i in range(count))
        yield "same_chain_%d" % count, simple(
            [node("Add", ["x" if i == 0 else "v%d" % i, "x"], ["v%d" % (i + 1)], name="same") for i in range(count)] +
            [node("Identity", ["v%d" % count], ["y"])])


def blocks():
    """Quantisation per tensor, per channel and per block."""
    for size in SIZES + [1, 2, 3, 16]:
        for axis in (1, 0, -1, 7, 1 << 40):
            name = "_%s_%s" % (tag(size), tag(axis))
            keys = dict(block_size=size, axis=axis)
            for dims in ([], [1], [2, 4], [4, 2], [0, 4]):
                shape = "x".join(map(str, dims))
                yield "dequantise%s_by_%s" % (name, shape), simple(
                    [node("DequantizeLinear", ["c", "s"], ["d"], **keys), node("Add", ["x", "d"], ["y"])],
                    [tensor("c", [4, 4], [1] * 16, INT8), floats("s", dims)], [("x", [4, 4])], opset=21)
                yield "quantise%s_by_%s" % (name, shape), simple(
                    [node("QuantizeLinear", ["x", "s"], ["y"], **keys)], [floats("s", dims)], [("x", [4, 4])], opset=21)
        w_shape, w = filled("w", [1 << 12, 1 << 12])
        s_shape, s = filled("s", [1 << 12, 1 << 8])
        yield "large_blocks_" + tag(size), simple(
            [w, s, node("Cast", ["w"], ["i"], to=INT8), node("DequantizeLinear", ["i", "s"], ["d"], block_size=size, axis=1),
             node("MatMul", ["x", "d"], ["y"])], [w_shape, s_shape], [("x", [4, 1 << 12])], opset=21)
        yield "n_bits_" + tag(size), simple(
            [node("MatMulNBits", ["x", "b", "s"], ["y"], K=size, N=4, bits=4, block_size=16) + field(7, "com.microsoft")],
            [tensor("b", [4, 1, 8], [0] * 32, UINT8), floats("s", [4])], [("x", [4, 16])])
        yield "n_bits_of_block_" + tag(size), simple(
            [node("MatMulNBits", ["x", "b", "s"], ["y"], K=16, N=4, bits=size, block_size=size) + field(7, "com.microsoft")],
            [tensor("b", [4, 1, 8], [0] * 32, UINT8), floats("s", [4])], [("x", [4, 16])])
    for dtype in range(0, 30):
        yield "type_%d" % dtype, simple([node("DequantizeLinear", ["c", "s"], ["d"]), node("Add", ["x", "d"], ["y"])],
                                        [tensor("c", [8], None, dtype, raw=bytes(8)), floats("s", [])], [("x", [8])], opset=23)
        yield "quantise_to_%d" % dtype, simple([node("QuantizeLinear", ["x", "s"], ["y"], output_dtype=dtype)],
                                               [floats("s", [])], [("x", [8])], opset=23)
        yield "cast_to_%d" % dtype, simple([node("Cast", ["x"], ["d"], to=dtype), node("Cast", ["d"], ["y"], to=FLOAT)],
                                           inputs=[("x", [8])], opset=23)
    for value in (0.0, -1.0, float("nan"), float("inf"), 1e-45, 3e38):
        scale = floats("s", [], value)
        for op in ("QLinearConv", "QLinearMatMul", "QLinearAdd"):
            inputs = {"QLinearConv": ["x", "s", "z", "w", "s", "z", "s", "z"], "QLinearAdd": ["x", "s", "z", "x", "s", "z", "s", "z"],
                      "QLinearMatMul": ["x", "s", "z", "x", "s", "z", "s", "z"]}[op]
            yield "%s_scale_%s" % (op.lower(), value), simple(
                [node(op, inputs, ["y"]) + (field(7, "com.microsoft") if op == "QLinearAdd" else b"")],
                [scale, tensor("z", [], [3], UINT8), tensor("w", [1, 1, 3, 3], [1] * 9, UINT8)], [("x", [1, 1, 4, 4], UINT8)])
        yield "pair_scale_%s" % value, simple(
            [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["d"]),
             node("Conv", ["d", "w"], ["c"]), node("Relu", ["c"], ["r"]), node("QuantizeLinear", ["r", "s", "z"], ["e"]),
             node("DequantizeLinear", ["e", "s", "z"], ["y"])], [scale, tensor("z", [], [3], UINT8), floats("w", [1, 1, 3, 3])])


def resizes():
    for value in (1e-45, 1e-30, 1e-6, 1e-3, 3.9, 1e6, 1e30, 3e38, float("nan"), float("inf"), -1.0, 0.0):
        for mode in ("linear", "cubic", "nearest"):
            for antialias in (0, 1):
                for coordinates in ("half_pixel", "align_corners", "tf_crop_and_resize", "half_pixel_symmetric"):
                    name = "%s_%s_%d_%s" % (mode, coordinates, antialias, value)
                    roi = [floats("r", [8], value)] if coordinates == "tf_crop_and_resize" else []
                    yield name, simple(
                        [node("Resize", ["x", "r" if roi else "", "s"], ["y"], mode=mode, antialias=antialias,
                              coordinate_transformation_mode=coordinates)],
                        [tensor("s", [4], [1.0, 1.0, value, 1.0], FLOAT)] + roi, [("x", [1, 1, 64, 4])], opset=19)
        yield "coefficient_%s" % value, simple(
            [node("Resize", ["x", "", "s"], ["y"], mode="cubic", cubic_coeff_a=value, exclude_outside=1)],
            [tensor("s", [4], [1.0, 1.0, 1.5, 1.0], FLOAT)], opset=19)
    for size in SIZES + [1, 3, 4097]:
        for policy in ("stretch", "not_larger", "not_smaller"):
            for antialias in (0, 1):
                yield "to_%s_%s_%d" % (tag(size), policy, antialias), simple(
                    [node("Resize", ["x", "", "", "s"], ["y"], mode="linear", antialias=antialias, axes=[2, 3],
                          keep_aspect_ratio_policy=policy)], [ints("s", [size, 3])], [("x", [1, 1, 4096, 4])], opset=19)
                i_shape, image = filled("i", [1, 1, 4096, 1024])
                yield "constant_to_%s_%s_%d" % (tag(size), policy, antialias), simple(
                    [image, node("Resize", ["i", "", "", "s"], ["y"], mode="linear", antialias=antialias, axes=[2, 3],
                                 keep_aspect_ratio_policy=policy)], [i_shape, ints("s", [size, 3])], [], opset=19)
        yield "axes_" + tag(size), simple([node("Resize", ["x", "", "", "s"], ["y"], axes=[size, size])], [ints("s", [4, 4])],
                                          opset=19)


def modifier(nodes, inputs=("p",), outputs=("q",)):
    return ("g", graph(nodes, [value_info(name, None) for name in inputs], [value_info(name, None) for name in outputs]))


def attentions():
    def flex(**keys):
        return node("FlexAttention", ["x", "x", "x"], ["y"], **keys) + field(7, "ai.onnx.preview")

    def whole(nodes, dims=(1, 2, 4, 4)):
        return simple(nodes, inputs=[("x", list(dims))], opset=25) + field(8, field(1, "ai.onnx.preview") + field(2, 1))
    yield "of_nothing", whole([flex(score_mod=modifier([], outputs=()))])
    yield "without_output", whole([flex(score_mod=modifier([]))])
    yield "of_two", whole([flex(score_mod=modifier([node("Add", ["p", "o"], ["q"])], ("p", "o")))])
    yield "of_outer", whole([flex(score_mod=modifier([node("Add", ["p", "x"], ["q"])]))])
    yield "of_output", whole([flex(score_mod=modifier([node("Add", ["p", "y"], ["q"])]))])
    yield "no_graph", whole([flex(score_mod=3)])
    for count in (1000, 50000):
        chain = [node("Abs", ["p" if i == 0 else "v%d" % i], ["v%d" % (i + 1)]) for i in range(count)]
        long = modifier(chain + [node("Identity", ["v%d" % count], ["q"])])
        yield "long_%d" % count, whole([flex(score_mod=long, prob_mod=long)])
        yield "many_%d" % count, whole([node("FlexAttention", ["x"] * 3, ["y%d" % i if i else "y"]) + field(
            7, "ai.onnx.preview") for i in range(count)])
    for depth in (2, 8, 20, 30):
        inner = node("Relu", ["p"], ["q"])
        for _ in range(depth):
            inner = node("FlexAttention", ["p"] * 3, ["q"], score_mod=modifier([inner]), prob_mod=modifier(
                [node("Relu", ["p"], ["q"])])) + field(7, "ai.onnx.preview")
        yield "nested_%d" % depth, whole([flex(score_mod=modifier([inner]))])
    for value in (0.0, float("nan"), 1e38, -1.0):
        yield "scale_%s" % value, whole([flex(scale=value)])
    for size in [1 << 12] + SIZES[1:]:  # the work of an inference has no limit
        for axis in range(4):
            dims = [1, 2, 4, 4]
            dims[axis] = size
            yield "flex_%s_at_%d" % (tag(size), axis), whole([flex()], dims)
            yield "whole_%s_at_%d" % (tag(size), axis), whole([node("Attention", ["x", "x", "x"], ["y"])], dims)
            yield "linear_%s_at_%d" % (tag(size), axis), whole([node("LinearAttention", ["x", "x", "x"], ["y"])], dims)
        for key in ("q_num_heads", "kv_num_heads", "softmax_precision", "qk_matmul_output_mode", "is_causal", "chunk_size",
                    "softcap"):
            number = float(size) if key == "softcap" else size
            yield "%s_%s" % (key, tag(size)), whole([node("Attention", ["x", "x", "x"], ["y"], **{key: number})], (1, 4, 8))
            yield "linear_%s_%s" % (key, tag(size)), whole(
                [node("LinearAttention", ["x", "x", "x"], ["y"], **{key: number})], (1, 4, 8))
        shape, constant = filled("k", [1, 2, 2048, 64])
        yield "constants_%s" % tag(size), simple(
            [constant, node("LinearAttention", ["k", "k", "k"], ["y"], chunk_size=size)], [shape], [], opset=25)
    for rule in ("linear", "gated", "delta", "gated_delta", "x"):
        for heads in (1, 2, 8, 1 << 40):
            shape, constant = filled("k", [1, 4096, 512])
            yield "constant_%s_%d" % (rule, heads), simple(
                [constant, node("LinearAttention", ["k", "k", "k", "", "k", "k"], ["y", "state"], update_rule=rule,
                                q_num_heads=heads, kv_num_heads=heads)], [shape], [], opset=25)


def families():
    return weights_elsewhere, names, blocks, resizes, attentions
