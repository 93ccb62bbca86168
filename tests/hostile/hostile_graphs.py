"""More systematic hostile ONNX files: functions, recurrences, scans, sequences, signal operators, and what runs on the host
because its shape depends on data. Each yields (name, bytes)."""
from onnx_writer import *  # noqa: F403

SIZES = [1 << 16, 1 << 20, (1 << 31) - 1, 1 << 40, (1 << 63) - 1, -1, 0]


def scalar(name, value, dtype=INT64):
    return tensor(name, [], [value], dtype)


def tag(number):
    return str(number).replace("-", "minus")


def function(name, inputs, outputs, nodes, domain="f"):
    """FunctionProto."""
    return (field(1, name) + fields(4, inputs) + fields(5, outputs) + fields(7, nodes) + field(9, field(1, "") + field(2, 17)) +
            field(9, field(1, "f") + field(2, 1)) + field(10, domain))


def call(name, inputs, outputs):
    return node(name, inputs, outputs) + field(7, "f")


def with_functions(nodes, functions, outputs=("y",)):
    return simple(nodes, outputs=outputs) + field(8, field(1, "f") + field(2, 1)) + fields(25, functions)


def functions():
    relu = function("a", ["p"], ["q"], [node("Relu", ["p"], ["q"])])
    yield "function_calls_itself", with_functions([call("a", ["x"], ["y"])],
                                                  [function("a", ["p"], ["q"], [call("a", ["p"], ["q"])])])
    yield "functions_call_each_other", with_functions(
        [call("a", ["x"], ["y"])], [function("a", ["p"], ["q"], [call("b", ["p"], ["q"])]),
                                    function("b", ["p"], ["q"], [call("a", ["p"], ["q"])])])
    for depth in (16, 40, 400, 5000):
        for calls in (1, 2):
            made = [function("a0", ["p"], ["q"], [node("Relu", ["p"], ["q"])])]
            for i in range(1, depth):
                inner = [call("a%d" % (i - 1), ["p"], ["q" if calls == 1 else "m"])]
                if calls == 2:
                    inner.append(call("a%d" % (i - 1), ["m"], ["q"]))
                made.append(function("a%d" % i, ["p"], ["q"], inner))
            yield "function_tower_%d_of_%d" % (depth, calls), with_functions([call("a%d" % (depth - 1), ["x"], ["y"])], made)
    chain = [node("Relu", ["p" if i == 0 else "v%d" % i], ["v%d" % (i + 1)]) for i in range(5000)]
    large = function("large", ["p"], ["q"], chain + [node("Identity", ["v5000"], ["q"])])
    yield "large_function_often", with_functions(
        [call("large", ["x" if i == 0 else "y%d" % i], ["y%d" % (i + 1)]) for i in range(1000)], [large], ["y1000"])
    yield "function_twice", with_functions([call("a", ["x"], ["y"])], [relu] * 2)
    yield "function_of_many_inputs", with_functions(
        [call("a", ["x"] * 100000, ["y"])],
        [function("a", ["p%d" % i for i in range(100000)], ["q"], [node("Relu", ["p0"], ["q"])])])
    yield "function_without_its_output", with_functions([call("a", ["x"], ["y"])], [function("a", ["p"], ["q"], [])])
    yield "function_in_branch", with_functions(
        [node("If", ["c"], ["y"], then_branch=("g", graph([call("a", ["x"], ["t"])], outputs=[value_info("t", None)])),
              else_branch=("g", graph([call("a", ["x"], ["e"])], outputs=[value_info("e", None)])))],
        [function("a", ["p"], ["q"], [node("If", ["p"], ["q"], then_branch=("g", graph(
            [call("a", ["p"], ["t"])], outputs=[value_info("t", None)])), else_branch=("g", graph([], outputs=[])))])])


def recurrences():
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        for hidden, lengths in ((4, (4096, 1 << 20, 1 << 31, "n")), (4096, (1, "n")), (1 << 14, (1, "n")), (1 << 16, (1, "n")),
                                (1 << 31, (1, "n")), ((1 << 63) - 1, (1, "n")), (-1, (1,)), (0, (1,))):
            rows = min(gates * hidden, (1 << 63) - 1)
            w_shape, w = filled("w", [1, rows, 4])
            r_shape, r = filled("r", [1, rows, hidden])
            for steps in lengths:
                yield "%s_%s_%s" % (op.lower(), tag(hidden), steps), simple(
                    [w, r, node(op, ["x", "w", "r"], ["y"], hidden_size=hidden)], [w_shape, r_shape], [("x", [steps, 1, 4])])
        for steps in (64, 4096, 1 << 20):
            x_shape, x = filled("x", [steps, 1, 4])
            w_shape, w = filled("w", [1, gates * 512, 4])
            r_shape, r = filled("r", [1, gates * 512, 512])
            yield "%s_of_constants_%d" % (op.lower(), steps), simple(
                [x, w, r, node(op, ["x", "w", "r"], ["y"], hidden_size=512)], [x_shape, w_shape, r_shape], [])
        wrong = floats("w", [1, gates * 8, 4])
        yield op.lower() + "_of_another_size", simple([node(op, ["x", "w", "w"], ["y"], hidden_size=1 << 40)], [wrong],
                                                      [("x", [2, 1, 4])])


def body(nodes, inputs, outputs):
    return ("g", graph(nodes, inputs=[value_info(name, None) for name in inputs],
                       outputs=[value_info(name, None) for name in outputs], name="body"))


def scans():
    for length in (1000, 100000, 1 << 20, 1 << 31, "n"):
        for kind, inner in (("add", node("Add", ["s", "e"], ["t"])), ("grow", node("Concat", ["s", "s"], ["t"], axis=0))):
            yield "scan_%s_%s" % (kind, length), simple(
                [node("Scan", ["c", "x"], ["last", "y"], num_scan_inputs=1, body=body([inner, node("Relu", ["t"], ["u"])],
                                                                                     ["s", "e"], ["t", "u"]))],
                [floats("c", [4])], [("x", [length, 4])])
    for number in SIZES + [2, 3]:
        inner = body([node("Add", ["s", "e"], ["t"]), node("Relu", ["t"], ["u"])], ["s", "e"], ["t", "u"])
        yield "scan_inputs_" + tag(number), simple([node("Scan", ["c", "x"], ["last", "y"], num_scan_inputs=number, body=inner)],
                                                   [floats("c", [4])], [("x", [3, 4])])
        for key in ("scan_input_axes", "scan_output_axes", "scan_input_directions", "scan_output_directions"):
            yield "scan_%s_%s" % (key, tag(number)), simple(
                [node("Scan", ["c", "x"], ["last", "y"], num_scan_inputs=1, body=inner, **{key: [number]})],
                [floats("c", [4])], [("x", [3, 4])])
    nested = node("Scan", ["s", "e"], ["t", "u"], num_scan_inputs=1, body=body(
        [node("Add", ["a", "b"], ["d"]), node("Relu", ["d"], ["r"])], ["a", "b"], ["d", "r"]))
    yield "scan_in_scan", simple([node("Scan", ["c", "x"], ["last", "y"], num_scan_inputs=1,
                                       body=body([nested], ["s", "e"], ["t", "u"]))], [floats("c", [])], [("x", [3000, 3000])])


def sequences():
    for length in (1000, 100000, 1 << 20, 1 << 31):
        split = node("SplitToSequence", ["x"], ["s"], axis=0, keepdims=1)
        yield "split_to_sequence_%d" % length, simple(
            [split, node("ConcatFromSequence", ["s"], ["y"], axis=0)], [], [("x", [length, 2])])
        yield "sequence_length_%d" % length, simple([split, node("SequenceLength", ["s"], ["y"])], [], [("x", [length, 2])])
        yield "sequence_at_%d" % length, simple([split, node("SequenceAt", ["s", "i"], ["y"])], [scalar("i", -length)],
                                                [("x", [length, 2])])
    for index in SIZES:
        yield "sequence_at_" + tag(index), simple([node("SequenceConstruct", ["x", "x"], ["s"]),
                                                   node("SequenceAt", ["s", "i"], ["y"])], [scalar("i", index)])
        yield "split_sizes_" + tag(index), simple([node("SplitToSequence", ["x", "i"], ["s"], axis=0),
                                                   node("SequenceAt", ["s", "z"], ["y"])], [scalar("i", index), scalar("z", 0)])
    for count in (1000, 20000):
        inserts = [node("SequenceEmpty", [], ["s0"])] + [node("SequenceInsert", ["s%d" % i, "x"], ["s%d" % (i + 1)])
                                                         for i in range(count)]
        yield "sequence_inserts_%d" % count, simple(inserts + [node("ConcatFromSequence", ["s%d" % count], ["y"], axis=0)])
        copies = [node("SequenceConstruct", ["x"] * count, ["s"])] + [
            node("SequenceErase", ["s" if i == 0 else "e%d" % i], ["e%d" % (i + 1)]) for i in range(count)]
        yield "sequence_erases_%d" % count, simple(copies + [node("SequenceLength", ["e%d" % count], ["y"])])
    yield "sequence_as_tensor", simple([node("SequenceConstruct", ["x", "x"], ["s"]), node("Relu", ["s"], ["y"])])
    yield "sequence_of_itself", simple([node("SequenceConstruct", ["s"], ["s"]), node("SequenceLength", ["s"], ["y"])])


def signals():
    """Operators that make large tensors, or much work, of a number or two."""
    for size in SIZES + [4096, 1 << 13]:
        for window in ("HannWindow", "HammingWindow", "BlackmanWindow"):
            yield "%s_%s" % (window.lower(), tag(size)), simple([node(window, ["n"], ["y"])], [scalar("n", size)], [])
        yield "mel_" + tag(size), simple([node("MelWeightMatrix", ["a", "b", "r", "l", "h"], ["y"])],
                                         [scalar("a", size), scalar("b", size), scalar("r", 8000), floats("l", []),
                                          floats("h", [], 4000.0)], [])
        yield "dft_" + tag(size), simple([node("DFT", ["x", "n"], ["y"])], [scalar("n", size)], [("x", [1, 4, 1])], opset=20)
        yield "dft_long_" + tag(size), simple([node("DFT", ["x"], ["y"])], [], [("x", [1, size, 1])], opset=20)
        yield "stft_" + tag(size), simple([node("STFT", ["x", "s", "", "n"], ["y"])], [scalar("s", 1), scalar("n", size)],
                                          [("x", [1, 1 << 16, 1])])
        yield "stft_step_" + tag(size), simple([node("STFT", ["x", "s", "", "n"], ["y"])], [scalar("s", size), scalar("n", 16)],
                                               [("x", [1, 1 << 16, 1])])
        yield "random_" + tag(size), simple([node("RandomNormal", [], ["y"], shape=[size, 4])], [], [])
        yield "random_dead_" + tag(size), simple([node("RandomUniform", [], ["r"], shape=[size]), node("Relu", ["x"], ["y"])])
        yield "bernoulli_" + tag(size), simple([node("Bernoulli", ["x"], ["y"])], [], [("x", [size])])
        yield "crop_" + tag(size), simple([node("CenterCropPad", ["x", "s"], ["y"])], [ints("s", [1, 1, size, size])], opset=18)
        yield "col2im_" + tag(size), simple([node("Col2Im", ["x", "s", "b"], ["y"])],
                                            [ints("s", [size, size]), ints("b", [1, 1])], [("x", [1, 1, 16])], opset=18)
        yield "affine_grid_" + tag(size), simple([node("AffineGrid", ["x", "s"], ["y"])], [ints("s", [1, 1, size, size])],
                                                 [("x", [1, 2, 3])], opset=20)
        yield "unpool_" + tag(size), simple([node("MaxUnpool", ["x", "i", "s"], ["y"], kernel_shape=[2, 2])],
                                            [ints("s", [1, 1, size, size])], [("x", [1, 1, 2, 2]), ("i", [1, 1, 2, 2], INT64)])
        yield "det_" + tag(size), simple([node("Det", ["x"], ["y"])], [], [("x", [size, size])])
        yield "trilu_large_" + tag(size), simple([node("Trilu", ["x"], ["y"])], [], [("x", [size, size])])
        yield "linear_attention_" + tag(size), simple([node("LinearAttention", ["x", "x", "x"], ["y"], q_num_heads=1,
                                                            kv_num_heads=1)], [], [("x", [1, size, 4])], opset=25)
        yield "attention_" + tag(size), simple([node("Attention", ["x", "x", "x"], ["y"], q_num_heads=1, kv_num_heads=1)], [],
                                               [("x", [1, size, 4])], opset=23)
        yield "attention_heads_" + tag(size), simple([node("Attention", ["x", "x", "x"], ["y"], q_num_heads=size,
                                                           kv_num_heads=size)], [], [("x", [1, 4, 4])], opset=23)
        yield "scatter_nd_" + tag(size), simple(
            [node("ConstantOfShape", ["s"], ["d"]), node("ScatterND", ["d", "i", "u"], ["y"])],
            [ints("s", [size]), tensor("i", [1, 1], [0]), floats("u", [1])], [])
        yield "compress_" + tag(size), simple([node("ConstantOfShape", ["s"], ["d"]), node("Cast", ["d"], ["b"], to=BOOL),
                                               node("Compress", ["x", "b"], ["y"])], [ints("s", [size])])
        yield "deform_" + tag(size), simple([node("DeformConv", ["x", "w", "o"], ["y"], kernel_shape=[1, 1], offset_group=size)],
                                            [floats("w", [1, 1, 1, 1])], [("x", [1, 1, 4, 4]), ("o", [1, 2, 4, 4])], opset=19)
    for n in (256, 1024, 4096):
        a_shape, a = filled("a", [n, n])
        yield "det_of_constants_%d" % n, simple([a, node("Det", ["a"], ["y"])], [a_shape], [])
        yield "cum_prod_%d" % n, simple([a, node("CumSum", ["a", "ax"], ["m"]), node("CumSum", ["m", "ax"], ["y"])],
                                        [a_shape, scalar("ax", 0)], [])
        yield "gather_of_constants_%d" % n, simple([a, node("Cast", ["a"], ["i"], to=INT64), node("Gather", ["a", "i"], ["y"])],
                                                   [a_shape], [])
        yield "gather_nd_of_constants_%d" % n, simple(
            [a, node("Cast", ["a"], ["i"], to=INT64), node("GatherND", ["i", "i"], ["y"])], [a_shape], [])
        yield "where_of_constants_%d" % n, simple(
            [a, node("Unsqueeze", ["a", "ax"], ["b"]), node("Add", ["a", "b"], ["y"])], [a_shape, ints("ax", [1])], [])
        yield "one_hot_of_constants_%d" % n, simple(
            [a, node("Cast", ["a"], ["i"], to=INT64), node("OneHot", ["i", "d", "v"], ["y"])],
            [a_shape, scalar("d", n), ints("v", [0, 1])], [])


def data_dependent():
    """Behind NonZero the shapes depend on data; it finds every element."""
    ones = [node("Less", ["x", "most"], ["is"]), node("NonZero", ["is"], ["found"])]
    count = [node("Shape", ["found"], ["dims"]), node("Gather", ["dims", "one"], ["n"])]
    limit = [floats("most", [], 1e38), ints("one", [1])]
    for length in (1000, 1 << 17, 1 << 22):
        inputs = [("x", [length])]
        name = "_%d" % length
        yield "found" + name, simple(ones + [node("Cast", ["found"], ["y"], to=FLOAT)], limit, inputs)
        yield "found_squared" + name, simple(
            ones + count + [node("Concat", ["n", "n"], ["s"], axis=0), node("ConstantOfShape", ["s"], ["y"])], limit, inputs)
        yield "found_cubed" + name, simple(
            ones + count + [node("Mul", ["n", "n"], ["m"]), node("Mul", ["n", "m"], ["s"]), node("Expand", ["x0", "s"], ["y"])],
            limit + [floats("x0", [1])], inputs)
        yield "found_range" + name, simple(
            ones + count + [node("Mul", ["n", "n"], ["m"]), node("Squeeze", ["m"], ["e"]), node("Range", ["a", "e", "d"], ["y"])],
            limit + [scalar("a", 0), scalar("d", 1)], inputs)
        yield "found_tiles" + name, simple(ones + count + [node("Tile", ["x", "n"], ["y"])], limit, inputs)
        yield "found_one_hot" + name, simple(
            ones + count + [node("Squeeze", ["n"], ["e"]), node("OneHot", ["found", "e", "v"], ["y"])],
            limit + [ints("v", [0, 1])], inputs)
        yield "found_products" + name, simple(
            ones + [node("Cast", ["found"], ["f"], to=FLOAT), node("Transpose", ["f"], ["t"], perm=[1, 0]),
                    node("MatMul", ["t", "f"], ["y"])], limit, inputs)
        yield "found_layers" + name, simple(
            ones + [node("Cast", ["found"], ["f"], to=FLOAT), node("Transpose", ["f"], ["t"], perm=[1, 0]),
                    node("MatMul", ["t", "w"], ["m"]), node("Relu", ["m"], ["y"])], limit + [floats("w", [1, 512])], inputs)
        yield "found_convolved" + name, simple(
            ones + [node("Cast", ["found"], ["f"], to=FLOAT), node("Reshape", ["f", "s"], ["i"]),
                    node("Conv", ["i", "w"], ["y"], pads=[64, 64, 64, 64])],
            limit + [ints("s", [-1, 1, 1, 1]), floats("w", [16, 1, 3, 3])], inputs)
        yield "found_kept" + name, simple(
            ones + [node("Cast", ["found"], ["f"], to=FLOAT), node("TopK", ["f", "k"], ["v", "y"])],
            limit + [ints("k", [1 << 40])], inputs)
        yield "found_padded" + name, simple(
            ones + count + [node("Concat", ["n", "n"], ["p"], axis=0), node("Pad", ["x", "p"], ["y"])], limit, inputs)
        yield "found_unique" + name, simple(
            ones + [node("Unique", ["found"], ["y"], axis=1)], limit, inputs)
    for count_kind, trip in (("endless", (1 << 63) - 1), ("long", 1 << 33), ("without", None)):
        for kind, inner in (("same", node("Abs", ["v"], ["w"])), ("grow", node("Concat", ["v", "v"], ["w"], axis=0))):
            loop_body = ("g", graph([inner, node("ReduceMax", ["v"], ["m"], keepdims=0), node("Less", ["m", "top"], ["d"])],
                                    inputs=[value_info("i", [], INT64), value_info("c", [], BOOL), value_info("v", None)],
                                    outputs=[value_info("d", None), value_info("w", None)], name="body"))
            yield "loop_by_data_%s_%s" % (kind, count_kind), simple(
                [node("Loop", ["trip" if trip else "", "", "x"], ["y"], body=loop_body)],
                [floats("top", [], 3.0), scalar("trip", trip or 0)], [("x", [128])])
    boxes = [("b", [1, 2000, 4]), ("s", [1, 80, 2000])]
    yield "nms_of_all", simple(
        [node("NonMaxSuppression", ["b", "s", "k", "iou", "least"], ["y"])],
        [ints("k", [(1 << 63) - 1]), floats("iou", [1], 2.0), floats("least", [1], -1.0)], boxes)
    yield "nms_layers", simple(
        [node("NonMaxSuppression", ["b", "s", "k", "iou", "least"], ["i"]), node("Cast", ["i"], ["f"], to=FLOAT),
         node("MatMul", ["f", "w"], ["y"])],
        [ints("k", [2000]), floats("iou", [1], 2.0), floats("least", [1], -1.0), floats("w", [3, 4096])], boxes)
    yield "nms_roi_align", simple(
        [node("NonMaxSuppression", ["b", "s", "k", "iou", "least"], ["i"]), node("Squeeze", ["b", "ax"], ["all"]),
         node("Gather", ["i", "two"], ["at"], axis=1), node("Gather", ["all", "at"], ["rois"]),
         node("Mul", ["at", "nil"], ["bi"]),
         node("RoiAlign", ["img", "rois", "bi"], ["y"], output_height=64, output_width=64, sampling_ratio=4000)],
        [ints("k", [2000]), floats("iou", [1], 2.0), floats("least", [1], -1.0), ints("ax", [0]), scalar("two", 2),
         scalar("nil", 0)], boxes + [("img", [1, 64, 8, 8])])


def strange_types():
    text = fields(1, [1]) + field(2, 8) + field(8, "c") + field(6, "text")
    yield "string_input", simple([node("Identity", ["x"], ["y"])], inputs=[("x", [1], 8)])
    yield "string_cast", simple([node("Cast", ["x"], ["y"], to=8)])
    yield "strings_concat", simple([node("StringConcat", ["c", "c"], ["y"])], [text], [], opset=20)
    yield "many_strings", simple([node("Identity", ["c"], ["y"])],
                                 [fields(1, [1000000]) + field(2, 8) + field(8, "c") + field(6, "a") * 1000000], [])
    sequence_type = field(2, field(4, field(1, field(1, field(1, 1)))))
    yield "sequence_input", model(graph([node("SequenceLength", ["x"], ["y"])], [field(1, "x") + sequence_type],
                                        [value_info("y", None)]))
    for depth in (10, 90, 5000):
        deep = field(1, field(1, 1))
        for _ in range(depth):
            deep = field(4, field(1, deep))
        yield "type_nested_%d" % depth, model(graph([node("Identity", ["x"], ["y"])], [field(1, "x") + field(2, deep)],
                                                    [value_info("y", None)]))
    for dims, at in (([1 << 40], [1 << 39]), ([4], [1 << 40]), ([4], [-1]), ([1 << 31, 1 << 31], [5]), ([0], [0])):
        sparse = (field(1, tensor("v", [len(at)], [1.0] * len(at), FLOAT)) + field(2, tensor("i", [len(at)], at)) +
                  fields(3, dims))
        name = "x".join(tag(dim) for dim in dims) + "_at_" + tag(at[0])
        yield "sparse_" + name, model(graph([node("Relu", ["v"], ["y"])], [], [value_info("y", None)], extra=field(15, sparse)))
        yield "sparse_constant_" + name, simple(
            [node("Constant", [], ["c"]) + field(5, field(1, "sparse_value") + field(22, sparse) + field(20, 11)),
             node("Relu", ["c"], ["y"])], inputs=[])


def families():
    return (functions, recurrences, scans, sequences, signals, data_dependent, strange_types)
