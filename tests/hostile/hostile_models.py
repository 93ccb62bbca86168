"""Systematic hostile ONNX files: each asks for absurd work or memory, contradicts itself, or is no model at all.

models() yields (family, name, content): bytes, a function that makes them, or both of that with files beside it
(hostile_files.py). Nothing here is random.
"""
import hostile_bundles
import hostile_files
import hostile_graphs
import hostile_tflite
from onnx_writer import *  # noqa: F403

HUGE = [1 << 16, 1 << 20, (1 << 31) - 1, 1 << 31, 1 << 40, (1 << 63) - 1, -1, -(1 << 63)]


def constant_growth():
    """Constants that feed operators which make large tensors."""
    one = floats("c", [1])
    for size in HUGE + [4096, 1 << 24, 1 << 28]:
        tag = str(size).replace("-", "minus")
        yield "expand_" + tag, simple([node("Expand", ["c", "s"], ["y"])], [one, ints("s", [size])], [])
        yield "expand_input_" + tag, simple([node("Expand", ["x", "s"], ["y"])], [ints("s", [size])], [("x", [1])])
        yield "tile_" + tag, simple([node("Tile", ["c", "s"], ["y"])], [one, ints("s", [size])], [])
        yield "tile_input_" + tag, simple([node("Tile", ["x", "s"], ["y"])], [ints("s", [size])], [("x", [1])])
        yield "constant_of_shape_" + tag, simple([node("ConstantOfShape", ["s"], ["y"])], [ints("s", [size])], [])
        yield "constant_of_shape_2d_" + tag, simple([node("ConstantOfShape", ["s"], ["y"])],
                                                    [ints("s", [size, size])], [])
        yield "range_" + tag, simple([node("Range", ["a", "b", "d"], ["y"])],
                                     [tensor("a", [], [0]), tensor("b", [], [size]), tensor("d", [], [1])], [])
        yield "one_hot_" + tag, simple([node("OneHot", ["i", "d", "v"], ["y"])],
                                       [ints("i", [0, 1]), tensor("d", [], [size]), ints("v", [0, 1])], [])
        yield "one_hot_input_" + tag, simple([node("OneHot", ["x", "d", "v"], ["y"])],
                                             [tensor("d", [], [size]), ints("v", [0, 1])], [("x", [4], INT64)])
        for mode in ("nearest", "linear", "cubic"):
            yield "resize_%s_%s" % (mode, tag), simple(
                [node("Resize", ["c", "", "", "s"], ["y"], mode=mode)],
                [floats("c", [1, 1, 2, 2]), ints("s", [1, 1, 2, size])], [])
            yield "resize_input_%s_%s" % (mode, tag), simple(
                [node("Resize", ["x", "", "", "s"], ["y"], mode=mode)], [ints("s", [1, 1, 4, size])])
        for mode in ("constant", "reflect", "edge", "wrap"):
            yield "pad_%s_%s" % (mode, tag), simple([node("Pad", ["c", "s"], ["y"], mode=mode)],
                                                    [one, ints("s", [0, size])], [], opset=19)
        yield "pad_empty_" + tag, simple([node("Pad", ["e", "s"], ["y"])],
                                         [tensor("e", [0, 1], [], FLOAT), ints("s", [0, 0, 0, size])], [])
        yield "eye_like_" + tag, simple([node("EyeLike", ["x"], ["y"])], [], [("x", [size, 4])])
        yield "upsample_" + tag, simple([node("Upsample", ["x"], ["y"], scales=[1.0, 1.0, float(size), 1.0])],
                                        opset=7)
        yield "depth_to_space_" + tag, simple([node("DepthToSpace", ["x"], ["y"], blocksize=size)])
        yield "reshape_" + tag, simple([node("Reshape", ["x", "s"], ["y"])], [ints("s", [size, -1])])
        yield "top_k_" + tag, simple([node("TopK", ["x", "s"], ["y", "z"])], [ints("s", [size])])
        yield "split_" + tag, simple([node("Split", ["x", "s"], ["y", "z"], axis=3)], [ints("s", [size, 4 - size])])
        yield "gather_" + tag, simple([node("Gather", ["x", "s"], ["y"])], [ints("s", [size])])
        yield "slice_" + tag, simple([node("Slice", ["x", "a", "b", "n", "d"], ["y"])],
                                     [ints("a", [-size]), ints("b", [size]), ints("n", [3]), ints("d", [size or 1])])


def constant_work():
    """Small files of constants whose products take minutes."""
    for n in (256, 1024, 4096, 16384):
        shape_a, a = filled("a", [n, n])
        yield "matmul_of_constants_%d" % n, simple([a, node("MatMul", ["a", "a"], ["y"])], [shape_a], [])
        yield "gemm_of_constants_%d" % n, simple([a, node("Gemm", ["a", "a"], ["y"])], [shape_a], [])
        yield "einsum_of_constants_%d" % n, simple(
            [a, node("Einsum", ["a", "a"], ["y"], equation="ij,jk->ik")], [shape_a], [])
        yield "einsum_outer_%d" % n, simple([a, node("Einsum", ["a", "a"], ["y"], equation="ij,kl->")], [shape_a], [])
        yield "matmul_chain_%d" % n, simple(
            [a] + [node("MatMul", ["a" if i == 0 else "m%d" % i, "a"], ["m%d" % (i + 1)]) for i in range(64)] +
            [node("Identity", ["m64"], ["y"])], [shape_a], [])
        bytes_shape, of_bytes = filled("b", [n, n])
        yield "matmul_integer_%d" % n, simple(
            [of_bytes, node("Cast", ["b"], ["b8"], to=UINT8), node("MatMulInteger", ["b8", "b8"], ["y"])],
            [bytes_shape], [])
        boxes_shape, boxes = filled("boxes", [1, n, 4])
        scores_shape, scores = filled("scores", [1, 64, n])
        yield "nms_%d" % n, simple(
            [boxes, scores, node("NonMaxSuppression", ["boxes", "scores", "most", "iou", "least"], ["y"])],
            [boxes_shape, scores_shape, ints("most", [n]), floats("iou", [1], 2.0), floats("least", [1], -1.0)], [])
        for extra, kernel in (("", [n, n]), ("_1d", [n])):
            image_shape, image = filled("i", [1, 1] + kernel)
            for op in ("MaxPool", "AveragePool", "LpPool"):
                yield "%s%s_%d" % (op.lower(), extra, n), simple(
                    [image, node(op, ["i"], ["y"], kernel_shape=kernel, pads=[k // 2 for k in kernel] * 2)],
                    [image_shape], [])
            weights_shape, weights = filled("w", [1, 1] + kernel)
            conv = dict(kernel_shape=kernel, pads=[k // 2 for k in kernel] * 2)
            yield "conv%s_%d" % (extra, n), simple(
                [image, weights, node("Conv", ["i", "w"], ["y"], **conv)], [image_shape, weights_shape], [])
            yield "conv_transpose%s_%d" % (extra, n), simple(
                [image, weights, node("ConvTranspose", ["i", "w"], ["y"], kernel_shape=kernel)],
                [image_shape, weights_shape], [])
        lrn_shape, lrn = filled("l", [1, n, 64])
        yield "lrn_%d" % n, simple([lrn, node("LRN", ["l"], ["y"], size=2 * n)], [lrn_shape], [])
        roi_shape, rois = filled("rois", [n, 4])
        batch_shape, batches = filled("bi", [n])
        x_shape, x = filled("f", [1, 16, 8, 8])
        yield "roi_align_%d" % n, simple(
            [rois, batches, x, node("Cast", ["bi"], ["bi64"], to=INT64),
             node("RoiAlign", ["f", "rois", "bi64"], ["y"], output_height=64, output_width=64, sampling_ratio=256)],
            [roi_shape, batch_shape, x_shape], [])
        yield "top_k_of_constants_%d" % n, simple([a, node("TopK", ["a", "k"], ["v", "y"])],
                                                  [shape_a, ints("k", [n])], [])
        yield "unique_%d" % n, simple([a, node("Unique", ["a"], ["y"], axis=0)], [shape_a], [])
        yield "non_zero_%d" % n, simple([a, node("NonZero", ["a"], ["y"])], [shape_a], [])
        yield "cum_sum_%d" % n, simple([a, node("CumSum", ["a", "ax"], ["y"])], [shape_a, tensor("ax", [], [0])], [])
        grid_shape, grid = filled("g", [1, n, n, 2])
        yield "grid_sample_%d" % n, simple([x, grid, node("GridSample", ["f", "g"], ["y"])], [x_shape, grid_shape],
                                           [], opset=20)
    for kernel in (10**3, 10**6, 10**9, (1 << 63) - 1):
        for op in ("MaxPool", "AveragePool", "LpPool"):
            pads = dict(kernel_shape=[kernel, kernel], pads=[kernel - 1] * 4)
            yield "%s_kernel_%d" % (op.lower(), kernel), simple([node(op, ["c"], ["y"], **pads)],
                                                               [floats("c", [1, 1, 4, 4])], [])
            yield "%s_kernel_input_%d" % (op.lower(), kernel), simple([node(op, ["x"], ["y"], **pads)])
            yield "%s_kernel_same_%d" % (op.lower(), kernel), simple(
                [node(op, ["x"], ["y"], kernel_shape=[kernel, kernel], auto_pad="SAME_UPPER")])


def many_nodes():
    """Chains and fans."""
    for n in (1000, 16000, 200000):
        yield "relu_chain_%d" % n, simple(
            [node("Relu", ["x" if i == 0 else "v%d" % i], ["v%d" % (i + 1)], name="n%d" % i) for i in range(n)] +
            [node("Identity", ["v%d" % n], ["y"])])
        yield "dead_nodes_%d" % n, simple(
            [node("Expand", ["c", "s"], ["v%d" % i], name="n%d" % i) for i in range(n)] +
            [node("Identity", ["x"], ["y"])], [floats("c", [1]), ints("s", [1 << 20])])
        yield "constant_chain_%d" % n, simple(
            [node("Neg", ["c" if i == 0 else "v%d" % i], ["v%d" % (i + 1)], name="n%d" % i) for i in range(n)] +
            [node("Add", ["x", "v%d" % n], ["y"])], [floats("c", [1])])
    for n in (1000, 16000):
        fan = [node("Sigmoid", ["x"], ["v%d" % i], name="n%d" % i) for i in range(n)]
        yield "concat_%d" % n, simple(fan + [node("Concat", ["v%d" % i for i in range(n)], ["y"], axis=0)])
        yield "sum_%d" % n, simple(fan + [node("Sum", ["v%d" % i for i in range(n)], ["y"])])
        yield "outputs_%d" % n, simple(fan, outputs=["v%d" % i for i in range(n)])
        yield "split_outputs_%d" % n, simple(
            [node("Split", ["x"], ["v%d" % i for i in range(n)], axis=0)] + [node("Identity", ["v0"], ["y"])],
            inputs=[("x", [n, 4])])
        yield "growing_constants_%d" % n, simple(
            [node("Expand", ["c", "s"], ["v%d" % i], name="n%d" % i) for i in range(n)] +
            [node("Sum", ["v%d" % i for i in range(n)], ["y"])], [floats("c", [1]), ints("s", [1 << 20])], [])
    for n in (8, 64, 512):
        doubling = [node("Concat", ["c" if i == 0 else "v%d" % i] * 2, ["v%d" % (i + 1)], axis=0) for i in range(n)]
        yield "doubling_%d" % n, simple(doubling + [node("Identity", ["v%d" % n], ["y"])], [floats("c", [1])], [])
        yield "doubling_dead_%d" % n, simple(doubling + [node("Identity", ["x"], ["y"])], [floats("c", [1])])
        octupling = [node("Concat", ["c" if i == 0 else "v%d" % i] * 8, ["v%d" % (i + 1)], axis=0) for i in range(n)]
        yield "octupling_%d" % n, simple(octupling + [node("Identity", ["v%d" % n], ["y"])], [floats("c", [1])], [])
        doubling_input = [node("Concat", ["x" if i == 0 else "v%d" % i] * 2, ["v%d" % (i + 1)], axis=0)
                          for i in range(n)]
        yield "doubling_input_%d" % n, simple(doubling_input + [node("Identity", ["v%d" % n], ["y"])])
    yield "concat_repeats", simple([node("Concat", ["x"] * 20000, ["y"], axis=0)])


def branch_of(depth, kind):
    inner = [node("Identity", ["x"], ["b%d" % depth])] if depth == 0 else [
        node(kind, ["cond"] if kind == "If" else ["trip", "cond", "x"], ["b%d" % depth],
             **({"then_branch": ("g", branch_of(depth - 1, kind)), "else_branch": ("g", branch_of(0, kind))}
                if kind == "If" else {"body": ("g", branch_of(depth - 1, kind))}))]
    return graph(inner, outputs=[value_info("b%d" % depth, None)], name="g%d" % depth)


def nesting():
    for depth in (1, 5, 15, 30, 100, 400):
        for kind in ("If", "Loop"):
            for constant in (True, False):
                name = "%s_nested_%d%s" % (kind.lower(), depth, "" if constant else "_computed")
                body = {"then_branch": ("g", branch_of(depth, kind)), "else_branch": ("g", branch_of(0, kind))}
                if kind == "Loop":
                    body = {"body": ("g", branch_of(depth, kind))}
                nodes = [node(kind, ["cond"] if kind == "If" else ["trip", "cond", "x"], ["y"], **body)]
                constants = [tensor("trip", [], [1 << 40])]
                inputs = [("x", [1, 4])]
                if constant:
                    constants.append(tensor("cond", [], [1], BOOL))
                else:
                    inputs.append(("cond", [], BOOL))
                yield name, simple(nodes, constants, inputs)
    # Both branches of each If have one: twice the nodes at each depth.
    for depth in (4, 12):
        def both(level):
            if level == 0:
                return graph([node("Identity", ["x"], ["l"])], outputs=[value_info("l", None)])
            return graph([node("If", ["cond"], ["l%d" % level], then_branch=("g", both(level - 1)),
                               else_branch=("g", both(level - 1)))], outputs=[value_info("l%d" % level, None)])
        yield "if_doubling_%d" % depth, simple(
            [node("If", ["cond"], ["y"], then_branch=("g", both(depth)), else_branch=("g", both(depth)))],
            [tensor("cond", [], [1], BOOL)])


def body_of(nodes, stacks=(), state="y"):
    inputs = [value_info("i", [], INT64), value_info("c", [], BOOL), value_info("v", None)]
    return graph(nodes, inputs=inputs, outputs=[value_info(name, None) for name in ("c", state, *stacks)], name="body")


def loops():
    for count in HUGE + [1000, 100000]:
        tag = str(count).replace("-", "minus")
        constants = [tensor("trip", [], [max(-(1 << 63), count)]), tensor("cond", [], [1], BOOL), floats("one", [1, 4])]
        for start in ("x", "one"):
            for kind, inner in (("add", node("Add", ["v", "v"], ["y"])), ("grow", node("Concat", ["v", "v"], ["y"], axis=0)),
                                ("insert", node("SequenceInsert", ["v", "x"], ["y"]))):
                begin = [node("SequenceEmpty", [], ["s"])] if kind == "insert" else []
                loop = node("Loop", ["trip", "cond", "s" if begin else start], ["last"], body=("g", body_of([inner])))
                end = node("SequenceLength", ["last"], ["z"]) if begin else node("Relu", ["last"], ["z"])
                yield "loop_%s_%s_%s" % (kind, start, tag), simple([*begin, loop, end], constants, outputs=["z"])
        stacked = [node("Add", ["v", "v"], ["y"]), node("Relu", ["y"], ["r"])]
        yield "loop_stack_" + tag, simple([node("Loop", ["trip", "cond", "x"], ["last", "z"],
                                                body=("g", body_of(stacked, ["r"])))], constants, outputs=["z"])
    # Each iteration has a loop of its own.
    inner = node("Loop", ["trip", "cond", "v"], ["y"], body=("g", graph(
        [node("Relu", ["w"], ["u"])],
        inputs=[value_info("j", [], INT64), value_info("d", [], BOOL), value_info("w", None)],
        outputs=[value_info("d", None), value_info("u", None)], name="inner")))
    yield "loop_in_loop", simple([node("Loop", ["trip", "cond", "x"], ["z"], body=("g", body_of([inner])))],
                                 [tensor("trip", [], [5000]), tensor("cond", [], [1], BOOL)], outputs=["z"])


def contradictions():
    x = floats("c", [2, 2])
    yield "cycle", simple([node("Relu", ["b"], ["a"]), node("Relu", ["a"], ["b"]), node("Add", ["a", "x"], ["y"])])
    yield "self_cycle", simple([node("Relu", ["y"], ["y"])])
    yield "duplicate_output", simple([node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["y"])])
    yield "duplicate_input", simple([node("Relu", ["x"], ["y"])], inputs=[("x", [1]), ("x", [2])])
    yield "duplicate_constant", simple([node("Add", ["c", "x"], ["y"])], [x, x], [("x", [2, 2])])
    yield "input_as_output", simple([], outputs=["x"])
    yield "output_twice", simple([node("Relu", ["x"], ["y"])], outputs=["y", "y"])
    yield "missing_value", simple([node("Relu", ["nowhere"], ["y"])])
    yield "no_nodes", simple([], [x], [], ["c"])
    yield "empty_names", simple([node("Relu", [""], [""])])
    yield "no_outputs", model(graph([node("Relu", ["x"], ["y"])], [value_info("x", [1])]))
    yield "names_with_newlines", simple([node("Relu", ["x\ny"], ["y"], name="a\nb")])
    yield "long_name", simple([node("Relu", ["x"], ["y"], name="n" * 1000000)])
    yield "unknown_operator", simple([node("Evil", ["x"], ["y"])])
    yield "unknown_operator_with_newline", simple([node("Ev\nil", ["x"], ["y"])])
    yield "other_domain", simple([node("Relu", ["x"], ["y"]) + field(7, "evil")])
    for number in (-1, 0, 14, 16, 99, (1 << 31) - 1):
        yield "element_type_%d" % number, simple([node("Relu", ["x"], ["y"])], inputs=[("x", [1], number)])
        yield "constant_type_%d" % number, simple([node("Add", ["x", "c"], ["y"])],
                                                  [field(1, 1) + field(2, number) + field(8, "c") + field(9, bytes(4))])
    for opset in (-1, 0, 1, 5, 99, (1 << 62)):
        yield "opset_%d" % opset, simple([node("Relu", ["x"], ["y"])], opset=opset)
    for dims in ([1 << 62, 4], [1 << 31, 1 << 31], [0, 1 << 62], [-1, 4], [1 << 40]):
        tag = "x".join(str(dim) for dim in dims)
        yield "constant_dims_" + tag, simple([node("Relu", ["c"], ["y"])],
                                             [fields(1, dims) + field(2, FLOAT) + field(8, "c")], [])
        yield "input_dims_" + tag, simple([node("Relu", ["x"], ["y"])], inputs=[("x", dims)])
        yield "input_shape_" + tag, simple([node("Shape", ["x"], ["y"])], inputs=[("x", dims)])
    yield "rank_1000", simple([node("Relu", ["x"], ["y"])], inputs=[("x", [1] * 1000)])
    yield "rank_100000", simple([node("Relu", ["x"], ["y"])], inputs=[("x", [1] * 100000)])
    yield "rank_of_constant", simple([node("ConstantOfShape", ["s"], ["a"]), node("Transpose", ["a"], ["y"])],
                                     [ints("s", [1] * 100000)], [])
    yield "raw_too_short", simple([node("Relu", ["c"], ["y"])], [tensor("c", [100], raw=bytes(8), dtype=FLOAT)], [])
    yield "raw_too_long", simple([node("Relu", ["c"], ["y"])], [tensor("c", [1], raw=bytes(800), dtype=FLOAT)], [])
    external = field(13, field(1, "location") + field(2, "weights.bin"))
    for key, value in (("offset", "18446744073709551615"), ("length", "-1"), ("length", "99999999999"), ("offset", "x")):
        more = external + field(13, field(1, key) + field(2, value)) + field(14, 1)
        yield "external_%s_%s" % (key, value), simple(
            [node("Relu", ["c"], ["y"])], [fields(1, [100]) + field(2, FLOAT) + field(8, "c") + more], [])
    for place in ("/etc/passwd", "../../../../etc/passwd", "/dev/zero", "missing", ".", "a\nb", "a" * 5000):
        more = field(13, field(1, "location") + field(2, place)) + field(14, 1)
        yield "external_at_%s" % place[:20].replace("/", "_").replace("\n", "_"), simple(
            [node("Relu", ["c"], ["y"])], [fields(1, [100]) + field(2, FLOAT) + field(8, "c") + more], [])
    sparse = field(15, field(1, tensor("v", [1], [1.0], FLOAT)) + field(2, tensor("i", [1], [1 << 40])) +
                   fields(3, [1 << 40]))
    yield "sparse_initializer", model(graph([node("Relu", ["v"], ["y"])], [], [value_info("y", None)], extra=sparse))
    yield "sparse_constant", simple([node("Constant", [], ["y"]) + field(5, field(1, "sparse_value") + field(20, 11))],
                                    inputs=[])
    yield "strings", simple([node("Identity", ["c"], ["y"])],
                            [fields(1, [1]) + field(2, 8) + field(8, "c") + field(6, "text")], [])
    yield "segment", simple([node("Relu", ["c"], ["y"])],
                            [tensor("c", [1], [1.0], FLOAT) + field(3, field(1, 0) + field(2, 1 << 40))], [])


def repeated_fields():
    count = 1000000
    yield "many_dims", simple([node("Relu", ["c"], ["y"])],
                              [fields(1, [1] * count) + field(2, FLOAT) + field(8, "c") + field(9, bytes(4))], [])
    yield "many_ints", simple([node("Transpose", ["x"], ["y"], perm=[0] * count)])
    yield "many_pads", simple([node("MaxPool", ["x"], ["y"], kernel_shape=[1] * count)])
    yield "many_inputs", simple([node("Relu", ["x"] * count, ["y"])])
    yield "many_outputs", simple([node("Relu", ["x"], ["y"] + [""] * count)])
    yield "many_outputs_of_split", simple([node("Split", ["x"], ["y"] + [""] * 100000)])
    yield "many_attributes", simple([node("Relu", ["x"], ["y"]) + field(5, attribute("a", 1)) * 200000])
    yield "many_metadata", simple([node("Relu", ["x"], ["y"])]) + field(14, field(1, "k") + field(2, "v")) * 200000
    yield "many_opsets", simple([node("Relu", ["x"], ["y"])]) + field(8, field(1, "d") + field(2, 1)) * 200000
    yield "many_functions", simple([node("Relu", ["x"], ["y"])]) + field(25, field(1, "f")) * 200000
    yield "many_graphs", simple([node("Relu", ["x"], ["y"])]) * 1000
    yield "many_empty_constants", simple([node("Relu", ["x"], ["y"])], [tensor("c%d" % i, [0], [], FLOAT)
                                                                      for i in range(100000)])
    yield "einsum_long", simple([node("Einsum", ["x"], ["y"], equation="a" * count + "->a")], inputs=[("x", [1])])
    yield "einsum_commas", simple([node("Einsum", ["x"] * 1000, ["y"], equation="," .join("a" * 1000) + "->a")],
                                  inputs=[("x", [4])])
    for n in (10, 26, 52):
        letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[:n]
        yield "einsum_sum_%d" % n, simple([node("Einsum", ["x"], ["y"], equation=letters + "->")],
                                          inputs=[("x", [2] * n)])


def attributes():
    """Each attribute of windows and moves with extreme values."""
    for size in HUGE + [0]:
        tag = str(size).replace("-", "minus")
        weights = floats("w", [1, 1, 3, 3])
        for key in ("strides", "dilations"):
            yield "conv_%s_%s" % (key, tag), simple([node("Conv", ["x", "w"], ["y"], **{key: [size, size]})], [weights])
            yield "pool_%s_%s" % (key, tag), simple([node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2],
                                                          **{key: [size, size]})])
            yield "conv_transpose_%s_%s" % (key, tag), simple(
                [node("ConvTranspose", ["x", "w"], ["y"], **{key: [size, size]})], [weights])
        yield "conv_pads_" + tag, simple([node("Conv", ["x", "w"], ["y"], pads=[size] * 4)], [weights])
        yield "conv_group_" + tag, simple([node("Conv", ["x", "w"], ["y"], group=size)], [weights])
        yield "conv_transpose_output_" + tag, simple(
            [node("ConvTranspose", ["x", "w"], ["y"], output_shape=[size, size])], [weights])
        yield "conv_transpose_padding_" + tag, simple(
            [node("ConvTranspose", ["x", "w"], ["y"], output_padding=[size, size])], [weights])
        yield "lrn_size_" + tag, simple([node("LRN", ["x"], ["y"], size=size)])
        yield "lp_pool_p_" + tag, simple([node("LpPool", ["x"], ["y"], kernel_shape=[2, 2], p=size)])
        yield "axis_" + tag, simple([node("Softmax", ["x"], ["y"], axis=size)])
        yield "concat_axis_" + tag, simple([node("Concat", ["x", "x"], ["y"], axis=size)])
        yield "flatten_axis_" + tag, simple([node("Flatten", ["x"], ["y"], axis=size)])
        yield "cast_to_" + tag, simple([node("Cast", ["x"], ["y"], to=size)])
        yield "group_norm_" + tag, simple([node("GroupNormalization", ["x", "s", "s"], ["y"], num_groups=size)],
                                          [floats("s", [1])], opset=21)
        yield "space_to_depth_" + tag, simple([node("SpaceToDepth", ["x"], ["y"], blocksize=size)])
        yield "roi_align_size_" + tag, simple(
            [node("RoiAlign", ["x", "r", "b"], ["y"], output_height=size, output_width=size, sampling_ratio=size)],
            [floats("r", [1, 4]), ints("b", [0])])
        yield "squeeze_" + tag, simple([node("Squeeze", ["x", "s"], ["y"])], [ints("s", [size])])
        yield "unsqueeze_" + tag, simple([node("Unsqueeze", ["x", "s"], ["y"])], [ints("s", [size])])
        yield "cum_sum_axis_" + tag, simple([node("CumSum", ["x", "s"], ["y"])], [tensor("s", [], [size])])
        yield "trilu_" + tag, simple([node("Trilu", ["x", "s"], ["y"])], [tensor("s", [], [size])])
        yield "bit_shift_" + tag, simple([node("BitShift", ["x", "s"], ["y"], direction="LEFT")],
                                         [tensor("s", [1], [size])], inputs=[("x", [4], INT64)])
        yield "max_unpool_" + tag, simple([node("MaxUnpool", ["x", "i", "s"], ["y"], kernel_shape=[2, 2])],
                                          [tensor("i", [1, 1, 4, 4]), ints("s", [1, 1, size, size])])
        yield "scatter_" + tag, simple([node("ScatterND", ["x", "i", "u"], ["y"])],
                                       [tensor("i", [1, 1], [size]), floats("u", [1, 1, 4, 4])])
    for value in (float("nan"), float("inf"), -float("inf"), 1e38, 1e-45, 0.0, -1.0):
        tag = str(value)
        yield "epsilon_" + tag, simple([node("InstanceNormalization", ["x", "s", "s"], ["y"], epsilon=value)],
                                       [floats("s", [1])])
        yield "scales_" + tag, simple([node("Resize", ["x", "", "s"], ["y"], mode="linear")],
                                      [tensor("s", [4], [1.0, 1.0, value, value], FLOAT)])
        yield "leaky_" + tag, simple([node("LeakyRelu", ["x"], ["y"], alpha=value)])
        yield "rois_" + tag, simple([node("RoiAlign", ["x", "r", "b"], ["y"])],
                                    [floats("r", [1, 4], value), ints("b", [0])])
        yield "range_step_" + tag, simple(
            [node("Range", ["a", "b", "d"], ["y"])],
            [tensor("a", [], [0.0], FLOAT), tensor("b", [], [1.0], FLOAT), tensor("d", [], [value], FLOAT)], [])


def no_models():
    good = simple([node("Conv", ["x", "w"], ["y"])], [floats("w", [1, 1, 3, 3])])
    for cut in (0, 1, 2, 8, len(good) // 2, len(good) - 1):
        yield "truncated_%d" % cut, good[:cut]
    for at in range(0, len(good), 7):
        yield "flipped_%d" % at, good[:at] + bytes([good[at] ^ 0xFF]) + good[at + 1:]
    yield "zeros", bytes(1000)
    yield "ones", b"\xff" * 1000
    yield "text", b"this is no model\n" * 100
    yield "zip", b"PK\x03\x04" + bytes(100)
    yield "tflite_head", bytes(4) + b"TFL3" + bytes(100)
    yield "tflite_ones", b"\xff\xff\xff\xff" + b"TFL3" + b"\xff" * 1000
    yield "length_bomb", b"\x3a\xff\xff\xff\xff\x0f"
    yield "deep_message", b"\x3a" * 1000
    deep = b""
    for _ in range(5000):
        deep = field(7, deep)[:1 << 20]
    yield "deep_groups", deep


def models(only=""):
    """`only` is a part of "FAMILY/NAME"."""
    families = (constant_growth, constant_work, many_nodes, nesting, loops, contradictions, repeated_fields, attributes,
                no_models, *hostile_graphs.families(), *hostile_files.families(), *hostile_tflite.families(),
                *hostile_bundles.families())
    for family in families:
        if "/" in only and not family.__name__.endswith(only.split("/")[0]):
            continue
        for name, content in family():
            if only in family.__name__ + "/" + name:
                yield family.__name__, name, content
