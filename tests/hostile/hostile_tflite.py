"""Systematic hostile TFLite files: objects that many others share, graphs that call graphs, signatures and variables that
contradict each other, sparse tensors, quantisation, and options with extreme numbers. Each yields (name, bytes or a function that
makes them)."""
import struct

from flatbuffer_writer import Numbers, Objects, Scalar, Table, flatbuffer, i32, ints, u32, u64, u8

FLOAT32, FLOAT16, INT32, UINT8, INT64, BOOL, INT8, RESOURCE = 0, 1, 2, 3, 4, 6, 9, 13
ADD, CONCAT, CONV, DEPTH_TO_SPACE, DEQUANTIZE, MAX_POOL, RESHAPE = 0, 2, 3, 5, 6, 17, 22
RESIZE, SPACE_TO_DEPTH, CUSTOM, PAD, GATHER, BATCH_TO_SPACE, SPACE_TO_BATCH, TRANSPOSE = 23, 26, 32, 34, 36, 37, 38, 39
STRIDED_SLICE, TOP_K, SPLIT, SLICE, TRANSPOSE_CONV, TILE, EXPAND_DIMS, POW, PACK, ONE_HOT = 45, 48, 49, 65, 67, 69, 70, 78, 83, 85
UNPACK, FILL, RANGE, NEAREST, MIRROR_PAD, SPLIT_V, REVERSE, RELU, IF, WHILE = 88, 94, 96, 97, 100, 102, 105, 19, 118, 119
SCATTER_ND, DENSIFY, CUMSUM, CALL_ONCE, BROADCAST_TO, LESS = 122, 124, 128, 129, 130, 58
VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE, SPACE_OPTIONS = 142, 143, 144, 19
BIG = [1 << 16, 1 << 20, 1 << 30, (1 << 31) - 1, -1, 0, -(1 << 31)]


def tag(number):
    return str(number).replace("-", "minus")


def tensor(name, shape, dtype=FLOAT32, buffer=0, quantization=None, sparsity=None):
    fields = {0: ints(shape), 1: u8(dtype), 2: u32(buffer), 3: name}
    if quantization:
        fields[4] = quantization
    if sparsity:
        fields[6] = sparsity
    return Table(fields)


def scales(values, zeros=None, axis=0):
    return Table({2: Numbers("f", values), 3: Numbers("q", zeros if zeros is not None else [0] * len(values)), 6: i32(axis)})


def operator(code, inputs, outputs, options=None, custom=None):
    """code: a place in the file's list. options: (kind, {slot: value})."""
    fields = {0: u32(code), 1: inputs if isinstance(inputs, Numbers) else ints(inputs), 2: ints(outputs)}
    if options:
        fields[3], fields[4] = u8(options[0]), Table(options[1])
    if custom is not None:
        fields[5] = Numbers("B", custom)
    return Table(fields)


def graph(tensors, inputs, outputs, operators):
    return Table({0: Objects(tensors), 1: ints(inputs), 2: ints(outputs), 3: Objects(operators), 4: "g"})


def codes(numbers, custom=None):
    fields = [{0: u8(min(number, 127)), 2: i32(2 if number == CUSTOM else 1), 3: i32(number)} for number in numbers]
    for entry in fields:
        if entry[3].value == CUSTOM:
            entry[1] = custom
    return Objects(Table(entry) for entry in fields)


def file(graphs, numbers, buffers=(), signatures=None, custom=None):
    """A function that makes the file, which takes a while. numbers: of the operators. buffers: the contents of 1 and up."""
    made = Objects([Table({})] + [Table({0: Numbers("B", content)}) for content in buffers])
    fields = {0: u32(3), 1: codes(numbers, custom), 2: Objects(graphs), 3: "d", 4: made}
    if signatures is not None:
        fields[7] = Objects(signatures)
    return lambda: flatbuffer(Table(fields), b"TFL3")


def relu_graph(extra=(), shape=(4,)):
    return graph([tensor("x", shape), tensor("y", shape), *extra], [0], [1], [operator(0, [0], [1])])


def numbers(values, kind="i"):
    return struct.pack("<%d%s" % (len(values), kind), *values)


def shared_tensors():
    """A file of 5 MB whose tensors would take gigabytes."""
    megabyte = bytes(1 << 20)
    for count in (1000, 100000):
        bound = "_%d" % count
        for dtype, size, kind in ((FLOAT32, 1 << 18, "float"), (INT8, 1 << 20, "int")):
            each = tensor("c", [size], dtype, 1, scales([0.5]) if dtype == INT8 else None)
            yield "one_constant_%s%s" % (kind, bound), file([relu_graph([each] * count)], [RELU], [megabyte])
        yield "one_name" + bound, file([relu_graph([tensor("c", [4])] * count)], [RELU])
        yield "one_long_name" + bound, file([relu_graph([tensor("n" * (1 << 20), [4])] * count)], [RELU])
        yield "one_scale" + bound, file(
            [relu_graph([tensor("c", [1 << 16], INT8, 1, scales([0.5] * (1 << 16)))] * count)], [RELU], [bytes(1 << 16)])
        yield "one_shape" + bound, file([relu_graph([tensor("c", [1] * 100000)] * count)], [RELU])
    for levels in ([("dense", (1 << 31) - 1), ("dense", 0)], [("dense", (1 << 31) - 1)] * 2 + [("dense", 0)],
                   [("dense", 1), ("dense", (1 << 31) - 1), ("dense", 0)]):
        dims = [size for _, size in levels]
        yield "sparse_empty_" + "x".join(map(tag, dims)), file(
            [relu_graph([tensor("s", dims, UINT8, 1, None, sparsity(levels))])], [RELU], [bytes(4)])
    for count in (1, 20, 100000):
        levels = [("dense", 1), ("csr", [0, 1 << 15], list(range(1 << 15)))]
        blocks = [tensor("s", [1, 1 << 26], FLOAT32, 1, None, sparsity(levels))] * count
        yield "sparse_large_%d" % count, file([relu_graph(blocks)], [RELU], [bytes(4 << 15)])


def sparsity(levels):
    dimensions = []
    for level in levels:
        if level[0] == "dense":
            dimensions.append(Table({0: u8(0), 1: i32(level[1])}))
        else:
            dimensions.append(Table({0: u8(1), 1: i32(0), 2: u8(1), 3: Table({0: ints(level[1])}), 4: u8(1),
                                     5: Table({0: ints(level[2])})}))
    return Table({0: ints(range(len(levels))), 2: Objects(dimensions)})


def shared_operators():
    for count in (1000, 30000):
        bound = "_%d" % count
        for inputs in (1000, 1 << 20):
            one = operator(1, ints([0] * inputs), [2], (10, {0: i32(0)}))
            several = [operator(0, [0], [1])] + [one] * count
            yield "one_concat_of_%d%s" % (inputs, bound), file(
                [graph([tensor("x", [4]), tensor("y", [4]), tensor("z", [4])], [0], [1], several)], [RELU, CONCAT])
        yield "one_unknown" + bound, file(
            [graph([tensor("x", [4]), tensor("y", [4])], [0], [1], [operator(0, [0], [1])] * count)], [CUSTOM],
            custom="c" * (4 << 20))
        handle = operator(1, [], [2], (111, {1: "v" * (1 << 20)}))
        yield "one_variable" + bound, file(
            [graph([tensor("x", [4]), tensor("y", [4]), tensor("h", [], RESOURCE)], [0], [1],
                   [operator(0, [0], [1])] + [handle] * count)], [RELU, VAR_HANDLE])
        outputs = [tensor("y%d" % i, [1 << 18]) for i in range(count)]
        many = [tensor("x", [1 << 18]), tensor("h", [1 << 18], FLOAT16, 1), tensor("s", [1 << 18], INT32, 2)]
        yield "dequantise_one" + bound, file(
            [graph(many + outputs, [], [3], [operator(0, [1], [3 + i]) for i in range(count)])], [DEQUANTIZE],
            [bytes(1 << 19)])
        for name, code, arguments in (("reshape", RESHAPE, [0, 2]), ("transpose", TRANSPOSE, [0, 2]), ("tile", TILE, [0, 2]),
                                      ("broadcast", BROADCAST_TO, [0, 2]), ("fill", FILL, [2, 0])):
            yield "%s_by_one%s" % (name, bound), file(
                [graph(many + outputs, [0], [3], [operator(0, arguments, [3 + i]) for i in range(count)])], [code],
                [bytes(1 << 19), numbers([1] * (1 << 18))])
        new_shape = Table({0: ints([1] * (1 << 18))})
        reshapes = []
        for i in range(count):
            reshapes.append(operator(0, [0], [3 + i], (17, {})))
            reshapes[-1].fields[4] = new_shape
        yield "reshape_by_option" + bound, file([graph(many + outputs, [0], [3], reshapes)], [RESHAPE], [bytes(1 << 19), bytes(1 << 20)])
        pictures = [tensor("x", [1, 8, 8, 16]), tensor("w", [16, 32, 32, 16], FLOAT32, 1)]
        results = [tensor("y%d" % i, [1, 8, 8, 16]) for i in range(count)]
        conv = (1, {0: u8(0), 1: i32(1), 2: i32(1)})
        yield "conv_by_one" + bound, file(
            [graph(pictures + results, [0], [2], [operator(0, [0, 1], [2 + i], conv) for i in range(count)])], [CONV],
            [bytes(1 << 20)])
        zeros = [tensor("i", [1, 1], INT32, 1), tensor("u", [1]), tensor("s", [1], INT32, 2)]
        yield "scatter" + bound, file(
            [graph(zeros + outputs, [1], [3], [operator(0, [0, 1, 2], [3 + i]) for i in range(count)])], [SCATTER_ND],
            [numbers([0]), numbers([1 << 26])])
        flexible = bytes(1 << 18)
        yield "one_custom" + bound, file(
            [graph([tensor("x", [1, 8, 8, 4]), tensor("y", [1, 8, 8, 4])], [0], [1],
                   [operator(0, [0, 0], [1], None, flexible)] * count)], [CUSTOM], custom="TransformTensorBilinear")
    for outer in (1000, 16000):
        # A vector of offsets to one vector: FlexBuffers, sizes in 4 bytes.
        inner = numbers([outer]) + bytes(4 * outer) + bytes([4 << 2 | 2] * outer)  # bytes of kind int
        offsets = b"".join(struct.pack("<I", len(inner) + 4 + 4 * i - 4) for i in range(outer))
        body = inner + numbers([outer]) + offsets + bytes([10 << 2 | 2] * outer)
        body += bytes(-len(body) % 4)
        root = numbers([len(body) - len(inner) - 4]) + bytes([10 << 2 | 2, 4])
        yield "flexible_product_%d" % outer, file(
            [graph([tensor("x", [1, 8, 8, 4]), tensor("y", [1, 8, 8, 4])], [0], [1],
                   [operator(0, [0, 0], [1], None, body + root)])], [CUSTOM], custom="TransformTensorBilinear")


def calls(kind, then, other):
    return (92 if kind == IF else 93, {0: i32(then), 1: i32(other)})


def graphs_in_graphs():
    for kind, name in ((IF, "if"), (WHILE, "while")):
        for wide in (10, 100000):
            ends = [tensor("c", [], BOOL), tensor("x", [4]), tensor("y", [4])]
            inputs = [0, 1] if kind == IF else [1]
            leaf = graph([tensor("x", [4]), tensor("y", [4])] + [tensor("t", [4])] * wide, [0], [1], [operator(1, [0], [1])])
            for depth in (1, 14, 15, 40):
                def level(i):
                    return graph(ends, inputs if i == 0 else [1], [2],
                                 [operator(2, [1, 1], [0]), operator(0, inputs, [2], calls(kind, i + 1, i + 1))][i == 0:])
                yield "%s_doubling_%d_%d" % (name, depth, wide), file([level(i) for i in range(depth)] + [leaf],
                                                                      [kind, RELU, LESS])
        for called in (0, 1, 7, -1):
            ends = [tensor("c", [], BOOL), tensor("x", [4]), tensor("y", [4])]
            one = graph(ends, [0, 1], [2], [operator(0, [0, 1], [2], calls(kind, called, called))])
            yield "%s_of_graph_%s" % (name, tag(called)), file([one, one], [kind])
    state = [tensor("x", [4]), tensor("y", [4])]
    true = graph([tensor("x", [4]), tensor("y", [], BOOL), tensor("t", [], BOOL, 1)], [0], [1], [operator(2, [2, 2], [1])])
    grow = graph([tensor("x", [4]), tensor("y", [8])], [0], [1], [operator(1, [0, 0], [1], (10, {0: i32(0)}))])
    for name, body in (("same", relu_graph()), ("growing", grow)):
        endless = graph(state, [0], [1], [operator(3, [0], [1], calls(WHILE, 1, 2))])
        body.fields[3][0].fields[0] = u32(0 if name == "same" else 1)
        yield "while_true_" + name, file([endless, true, body], [RELU, CONCAT, 86, WHILE], [b"\1"])
        nested = graph(state, [0], [1], [operator(3, [0], [1], calls(WHILE, 1, 0))])
        yield "while_in_itself_" + name, file([nested, true, body], [RELU, CONCAT, 86, WHILE], [b"\1"])
    for inputs in (1000, 30000):
        wide = [tensor("x%d" % i, [4]) for i in range(2 * inputs)]
        ends = list(range(inputs)), list(range(inputs, 2 * inputs))
        body = graph(wide, *ends, [operator(0, [i], [i + inputs]) for i in range(inputs)])
        cond = graph(wide[:inputs] + [tensor("c", [], BOOL), tensor("t", [], BOOL, 1)], ends[0], [inputs],
                     [operator(2, [inputs + 1] * 2, [inputs])])
        yield "while_of_%d_states" % inputs, file(
            [graph(wide, *ends, [operator(3, *ends, calls(WHILE, 1, 2))]), cond, body], [RELU, CONCAT, 86, WHILE], [b"\1"])


def signature(key, graph_index, inputs=(), outputs=()):
    return Table({0: Objects(inputs), 1: Objects(outputs), 2: key, 4: u32(graph_index)})


def named(name, index):
    return Table({0: name, 1: u32(index)})


def signatures():
    whole = [named("a", 0)], [named("b", 1)]
    for count in (10, 1000, 30000):
        for key in ("k", "k" * (1 << 20)):
            one = signature(key, 0, *whole)
            yield "same_%d_of_%d" % (len(key), count), file([relu_graph()], [RELU], (), [one] * count)
        maps = [named("a%d" % i, 0) for i in range(count)], [named("b%d" % i, 1) for i in range(count)]
        yield "names_of_one_%d" % count, file([relu_graph()], [RELU], (), [signature("k", 0, *maps)])
        yield "one_name_of_one_%d" % count, file([relu_graph()], [RELU], (), [signature(
            "k", 0, [named("a" * (1 << 20), 0)] * count, [named("b", 1)])])
        wide = [tensor("x%d" % i, [4]) for i in range(2 * count)]
        ends = list(range(count)), list(range(count, 2 * count))
        maps = [[named("n%d" % i, i) for i in side] for side in ends]
        yield "wide_%d" % count, file([graph(wide, *ends, [operator(0, [i], [i + count]) for i in range(count)])], [RELU], (),
                                      [signature("k", 0, *maps)])
    for index in (1, 1 << 31, 0xFFFFFFFF):
        yield "of_graph_%d" % index, file([relu_graph()], [RELU], (), [signature("k", index, *whole)])
        yield "of_tensor_%d" % index, file([relu_graph()], [RELU], (), [signature("k", 0, [named("a", index)])])
    yield "swapped", file([relu_graph()], [RELU], (), [signature("k", 0, whole[1], whole[0])])
    yield "names_swapped", file([relu_graph()], [RELU], (), [signature("k", 0, [named("y", 0)], [named("x", 1)])])
    yield "twice_default", file([relu_graph()], [RELU], (), [signature("serving_default", i, *whole) for i in (0, 5)])
    yield "without_parts", file([relu_graph()], [RELU], (), [Table({}), Table({4: u32(9)})])
    yield "strange_key", file([relu_graph()], [RELU], (), [signature("a\nb\0c", 7, *whole)])


def variables():
    def model(assigned, dims, times=1, once=1, state_dims=None, buffer=1):
        main = [operator(0, [], [0], (111, {1: "v"})), operator(1, [0], [1]), operator(2, [1, 1], [2])]
        if assigned:
            main.append(operator(3, [0, 2], []))
        reset = [operator(0, [], [0], (111, {1: "v"}))] + [operator(3, [0, 1], [])] * times
        tensors = [tensor("h", [], RESOURCE), tensor("s", dims), tensor("y", dims)]
        initial = [tensor("h", [], RESOURCE), tensor("i", state_dims or dims, FLOAT32, buffer)]
        return file([graph(tensors, [], [2], main + [operator(4, [], [], (103, {0: i32(1)}))] * once),
                     graph(initial, [], [], reset)],
                    [VAR_HANDLE, READ_VARIABLE, ADD, ASSIGN_VARIABLE, CALL_ONCE], [bytes(1 << 20)])
    for assigned in (False, True):
        name = "assigned_" if assigned else "constant_"
        for size in BIG + [1 << 18, 1 << 28]:
            yield name + "zeros_" + tag(size), model(assigned, [size], 1, 0)
            yield name + "zeros_squared_" + tag(size), model(assigned, [size, size], 1, 0)
            yield name + "initial_" + tag(size), model(assigned, [size])
            yield name + "of_another_size_" + tag(size), model(assigned, [size], 1, 1, [1 << 18])
        for times in (1000, 100000):
            for once in (1, 100000):
                yield name + "initial_%d_times_%d" % (times, once), model(assigned, [1 << 18], times, once)
        yield name + "without_buffer", model(assigned, [4], 1, 1, None, 9)
    for count in (1000, 30000):
        handles = [tensor("h%d" % i, [], RESOURCE) for i in range(count)]
        states = [tensor("s%d" % i, [1 << 26]) for i in range(count)]
        makes = [operator(0, [], [i], (111, {1: "v%d" % i})) for i in range(count)]
        reads = [operator(1, [i], [count + i]) for i in range(count)]
        yield "many_read_%d" % count, file([graph(handles + states, [], [count], makes + reads)], [VAR_HANDLE, READ_VARIABLE])
        assigns = [operator(3, [i, count + i], []) for i in range(count)]
        yield "many_assigned_%d" % count, file([graph(handles + states, [], [count], makes + reads + assigns)],
                                               [VAR_HANDLE, READ_VARIABLE, ADD, ASSIGN_VARIABLE])
        small = [tensor("t%d" % i, [4]) for i in range(count)]
        yield "many_small_%d" % count, file([graph(handles + small, [], [count], makes + reads + assigns)],
                                            [VAR_HANDLE, READ_VARIABLE, ADD, ASSIGN_VARIABLE])
    handle = [tensor("h", [], RESOURCE), tensor("x", [4]), tensor("y", [4])]
    yield "handle_as_tensor", file([graph(handle, [1], [2], [operator(0, [], [0], (111, {1: "v"})), operator(1, [0, 1], [2])])],
                                   [VAR_HANDLE, ADD])
    yield "handle_as_output", file([graph(handle, [1], [0], [operator(0, [], [0], (111, {1: "v"}))])], [VAR_HANDLE])
    yield "handle_of_nothing", file([graph(handle, [1], [2], [operator(0, [0], [2])])], [READ_VARIABLE])
    yield "assigns_itself_before", file([graph(handle, [], [2], [
        operator(0, [], [0], (111, {1: "v"})), operator(2, [0, 2], []), operator(1, [0], [2])])],
        [VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE])


def options():
    """Operators on images and shapes with each extreme number."""
    picture = tensor("x", [1, 8, 8, 4])
    for size in BIG:
        name = "_" + tag(size)
        pool = (5, {0: u8(0), 1: i32(size), 2: i32(size), 3: i32(size), 4: i32(size)})
        one = [picture, tensor("y", [1, 8, 8, 4])]
        for code in (MAX_POOL, 1):
            yield "pool_%d%s" % (code, name), file([graph(one, [0], [1], [operator(0, [0], [1], pool)])], [code])
        for custom in ("MaxPoolingWithArgmax2D", "MaxUnpooling2D", "Convolution2DTransposeBias"):
            yield custom.lower() + name, file(
                [graph([picture, tensor("i", [1, 8, 8, 4]), tensor("y", [1, 8, 8, 4]), tensor("w", [4, 1, 1, 4], FLOAT32, 1)],
                       [0, 1], [2], [operator(0, [0, 3 if "Bias" in custom else 1], [2], None,
                                              numbers([1, size, size, size, size, 0]))])], [CUSTOM], [bytes(64)], None, custom)
        weights = tensor("w", [4, 1, 1, 4], FLOAT32, 1)
        for slot in (1, 2, 4, 5):
            conv = {0: u8(0), 1: i32(1), 2: i32(1)}
            conv[slot] = i32(size)
            yield "conv_%d%s" % (slot, name), file(
                [graph([picture, weights, tensor("y", [1, 8, 8, 4])], [0], [2], [operator(0, [0, 1], [2], (1, conv))])], [CONV],
                [bytes(64)])
        transposed = (49, {0: u8(0), 1: i32(size), 2: i32(size)})
        sized = [tensor("s", [4], INT32, 2), weights, picture, tensor("y", [1, 8, 8, 4])]
        for extent in (8, size):
            yield "transpose_conv%s_to_%s" % (name, tag(extent)), file(
                [graph(sized, [2], [3], [operator(0, [0, 1, 2], [3], transposed if extent == 8 else (49, {
                    0: u8(0), 1: i32(1), 2: i32(1)}))])], [TRANSPOSE_CONV], [bytes(64), numbers([1, extent, extent, 4])])
        for code, kind in ((DEPTH_TO_SPACE, 94), (SPACE_TO_DEPTH, 19)):
            yield "blocks_%d%s" % (code, name), file(
                [graph(one, [0], [1], [operator(0, [0], [1], (kind, {0: i32(size)}))])], [code])
        for code in (RESIZE, NEAREST):
            yield "resize_%d%s" % (code, name), file(
                [graph(one + [tensor("s", [2], INT32, 1)], [0], [1], [operator(0, [0, 2], [1])])], [code],
                [numbers([size, size])])
        by_four = [tensor("s", [4], INT32, 1)]
        for code in (TILE, BROADCAST_TO, RESHAPE, TRANSPOSE, FILL, REVERSE):
            yield "by_shape_%d%s" % (code, name), file(
                [graph(one + by_four, [0], [1], [operator(0, [2, 0] if code == FILL else [0, 2], [1])])], [code],
                [numbers([size, 1, size, 1])])
        for code in (PAD, 60, MIRROR_PAD):
            yield "pad_%d%s" % (code, name), file(
                [graph(one + [tensor("s", [4, 2], INT32, 1)], [0], [1],
                       [operator(0, [0, 2], [1], (77, {0: u8(1)}) if code == MIRROR_PAD else None)])], [code],
                [numbers([0, 0, size, size, 0, size, 0, 0])])
        for code in (SPACE_TO_BATCH, BATCH_TO_SPACE):
            yield "batch_%d%s" % (code, name), file(
                [graph(one + [tensor("b", [2], INT32, 1), tensor("p", [2, 2], INT32, 2)], [0], [1],
                       [operator(0, [0, 2, 3], [1])])], [code], [numbers([size, size]), numbers([0, size, size, 0])])
        yield "slice" + name, file([graph(one + by_four + by_four, [0], [1], [operator(0, [0, 2, 3], [1])])], [SLICE],
                                   [numbers([size] * 4)])
        yield "strided_slice" + name, file(
            [graph(one + by_four * 3, [0], [1], [operator(0, [0, 2, 3, 4], [1], (32, {
                slot: i32(size) for slot in range(5)}))])], [STRIDED_SLICE], [numbers([size] * 4)])
        single = [tensor("s", [], INT32, 1), tensor("t", [], INT32, 2)]
        for code, inputs, kind in ((TOP_K, [0, 2], None), (SPLIT, [2, 0], (35, {0: i32(size)})), (CUMSUM, [0, 2], None),
                                   (EXPAND_DIMS, [0, 2], None), (RANGE, [3, 2, 3], None), (GATHER, [0, 2], (23, {0: i32(size)}))):
            yield "by_number_%d%s" % (code, name), file(
                [graph(one + single, [0], [1], [operator(0, inputs, [1], kind)])], [code], [numbers([size]), numbers([1])])
        yield "one_hot" + name, file(
            [graph([tensor("x", [4], INT32), tensor("y", [4, 4])] + single, [0], [1],
                   [operator(0, [0, 2, 3, 3], [1], (61, {0: i32(-1)}))])], [ONE_HOT], [numbers([size]), numbers([1])])
        for code, kind in ((PACK, 59), (UNPACK, 64)):
            yield "pack_%d%s" % (code, name), file(
                [graph(one, [0], [1], [operator(0, [0], [1], (kind, {0: i32(size), 1: i32(size)}))])], [code])
        yield "scatter" + name, file(
            [graph([tensor("i", [1, 1], INT32, 1), tensor("u", [1]), tensor("s", [1], INT32, 1), tensor("y", [4])], [1], [3],
                   [operator(0, [0, 1, 2], [3])])], [SCATTER_ND], [numbers([size])])
        yield "shape" + name, file([relu_graph(shape=[size])], [RELU])
        yield "shape_squared" + name, file([relu_graph(shape=[size, size, size, size])], [RELU])
        yield "buffer" + name, file([relu_graph([tensor("c", [4], FLOAT32, size & 0xFFFFFFFF)])], [RELU])
        outside = Objects([Table({}), Table({1: u64(size & (1 << 64) - 1), 2: u64(16)})])
        yield "outside" + name, flatbuffer(Table({0: u32(3), 1: codes([RELU]), 2: Objects([relu_graph([tensor(
            "c", [4], FLOAT32, 1)])]), 4: outside}), b"TFL3")


def quantisation():
    for value in (0.0, -1.0, float("nan"), float("inf"), 1e-45, 3e38, 3.4e38):
        q = scales([value])
        yield "scale_%s" % value, file([graph([tensor("x", [4], INT8, 0, q), tensor("y", [4], INT8, 0, q)], [0], [1],
                                              [operator(0, [0], [1])])], [RELU])
        yield "constant_scale_%s" % value, file(
            [graph([tensor("x", [4], INT8, 0, scales([1.0])), tensor("y", [4], INT8, 0, scales([1.0])),
                    tensor("c", [4], INT8, 1, q)], [0], [1], [operator(0, [0, 2], [1])])], [ADD], [bytes([1, 2, 3, 250])])
    for zero in (-129, 128, 1 << 40, -(1 << 63), (1 << 63) - 1):
        for dtype in (INT8, UINT8, INT32, 7, INT64, 17):
            q = scales([0.5], [zero])
            yield "zero_%s_%d" % (tag(zero), dtype), file(
                [graph([tensor("x", [4], dtype, 0, q), tensor("y", [4], dtype, 0, q)], [0], [1], [operator(0, [0], [1])])],
                [RELU])
    for axis in (-5, -1, 1, 4, 1 << 30):
        for count in (2, 4, 1 << 16):
            q = scales([0.5] * count, None, axis)
            yield "axis_%s_of_%d" % (tag(axis), count), file(
                [graph([tensor("x", [1, 8, 8, 4], INT8, 0, scales([0.5])), tensor("w", [4, 1, 1, 4], INT8, 1, q),
                        tensor("y", [1, 8, 8, 4], INT8, 0, scales([0.25]))], [0], [2],
                       [operator(0, [0, 1], [2], (1, {0: u8(0), 1: i32(1), 2: i32(1)}))])], [CONV], [bytes(range(16))])
    yield "no_zeros", file([graph([tensor("x", [4], INT8, 0, scales([0.5] * 4, [])), tensor("y", [4])], [0], [1],
                                  [operator(0, [0], [1])])], [DEQUANTIZE])
    yield "many_zeros", file([graph([tensor("x", [4], INT8, 0, scales([0.5], [0] * 100000)), tensor("y", [4])], [0], [1],
                                    [operator(0, [0], [1])])], [DEQUANTIZE])
    details = Table({2: Numbers("f", [0.5]), 4: Scalar("B", 1)})
    yield "of_its_own", file([relu_graph([tensor("c", [4], INT8, 1, details)])], [RELU], [bytes(4)])


def families():
    return (shared_tensors, shared_operators, graphs_in_graphs, signatures, variables, options, quantisation)
