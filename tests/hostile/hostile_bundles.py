"""Hostile bundles (runtime/pack/schema.fbs): with right fingerprints, so that what they describe is read."""
import struct

from flatbuffer_writer import Numbers, Objects, Scalar, Struct, Table, flatbuffer, i32, u8

ALL = (1 << 64) - 1
ODD1, ODD2 = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F


def mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & ALL
    x = (x ^ x >> 27) * 0x94D049BB133111EB & ALL
    return x ^ x >> 31


def rotated(x, bits):
    return (x << bits | x >> (64 - bits)) & ALL


def fingerprint(content):
    """platform/fingerprint.cpp."""
    first, second = [mix(i + 1) for i in range(8)], [mix(~i & ALL) for i in range(8)]
    whole = content + bytes(64 - len(content) % 64)
    for block in struct.iter_unpack("<8Q", whole):
        for i, word in enumerate(block):
            first[i] = rotated((first[i] ^ word) * ODD1 & ALL, 29) + ODD2 & ALL
            second[i] = rotated(second[i] + word * ODD2 & ALL, 31) * ODD1 & ALL
    low, high = mix(len(content)), mix(~len(content) & ALL)
    for i in range(8):
        low = mix((low ^ first[i]) * ODD2 & ALL)
        high = mix((high + second[i]) * ODD1 & ALL)
    return low, high


def bundle(model, data=b"", version=1):
    def made():
        text = flatbuffer(model, b"VLMP")
        begin = -(-(64 + len(text)) // 64) * 64
        content = data + bytes(-len(data) % 64)
        head = struct.pack("<8sIIQQQQQQ", b"VELLUMPK", version, 0x01020304, len(text), begin, len(content), 0, *fingerprint(text))
        return head + text + bytes(begin - 64 - len(text)) + content
    return made


def blob(offset, content, size=None):
    return Struct(struct.pack("<4Q", offset, len(content) if size is None else size, *fingerprint(content)))


def value(name, shape=(4,), constant=None, known=1):
    fields = {0: name, 1: u8(0), 2: Numbers("q", shape), 3: u8(known)}
    if constant:
        fields[4] = constant
    return Table(fields)


def constant(shape, place):
    return Table({0: u8(0), 1: Numbers("q", shape), 2: place})


def node(kind, inputs, outputs, attributes=(), branches=None):
    fields = {0: "n", 1: kind, 2: i32(17), 3: Numbers("I", inputs), 4: Numbers("I", outputs), 5: Objects(attributes)}
    if branches:
        fields[6] = Objects(branches)
    return Table(fields)


def graph(values, nodes, inputs=(0,), outputs=(1,)):
    return Table({0: "g", 1: Objects(values), 2: Objects(nodes), 3: Numbers("I", inputs), 4: Numbers("I", outputs)})


def model(the_graph, **more):
    return Table({0: the_graph, 2: "made", **more.get("fields", {})})


def bundles():
    x, y, relu = value("x"), value("y"), node("Relu", [0], [1])
    yield "good", bundle(model(graph([x, y], [relu])))
    for count in (100, 10000):
        name = "_%d" % count
        yield "one_value" + name, bundle(model(graph([x, y] + [value("v")] * count, [relu])))
        long = value("v" * 100000)
        yield "one_long_value" + name, bundle(model(graph([x, y] + [long] * count, [relu])))
        text = "v" * 100000
        yield "one_long_name" + name, bundle(model(graph([x, y] + [value(text) for _ in range(count)], [relu])))
        dims = Numbers("q", [1] * 10000)
        shaped = [Table({0: "v", 1: u8(0), 2: dims, 3: u8(1)}) for _ in range(count)]
        yield "one_shape" + name, bundle(model(graph([x, y] + shaped, [relu])))
        data = bytes(1 << 16)
        print_ = blob(0, data)
        same = [value("c%d" % i, (1 << 14,), constant((1 << 14,), print_)) for i in range(count)]
        yield "one_blob" + name, bundle(model(graph([x, y] + same, [relu])), data)
        parts = [blob(0, data[:size], size) for size in range(64, 1 << 13, 64)]
        over = [value("c%d" % i, (16 * (i % len(parts) + 1),), constant((16 * (i % len(parts) + 1),), parts[i % len(parts)]))
                for i in range(count)]
        yield "overlapping_blobs" + name, bundle(model(graph([x, y] + over, [relu])), data)
        strings = Objects(["s"] * 10000)
        texts = [Table({0: "a", 1: u8(5), 7: strings}) for _ in range(count)]
        yield "one_list_of_texts" + name, bundle(model(graph([x, y], [node("Relu", [0], [1], texts)])))
        many = Numbers("q", [1] * 100000)
        yield "one_list_of_numbers" + name, bundle(model(graph([x, y], [node("Relu", [0], [1], [
            Table({0: "a%d" % i, 1: u8(3), 5: many}) for i in range(count)])])))
        weights = [Table({0: text, 1: blob(0, b"")}) for _ in range(count)]
        yield "one_weight_name" + name, bundle(model(graph([x, y], [relu]), fields={4: Objects(weights)}))
    for wide in (2, 100, 1000):
        for depth in (2, 8, 14, 29, 40):
            inner = graph([x, y], [relu])
            for _ in range(depth):
                choice = node("If", [0, 0, 0], [1], (), [inner, inner])
                inner = graph([value("x"), value("y")], [choice] * (wide if wide > 2 else 1))
            yield "branches_%d_wide_%d_deep" % (wide, depth), bundle(model(inner))
    for number in (1 << 16, 1 << 31, 0xFFFFFFFE, 0xFFFFFFFF):
        for where in ("input", "output", "node"):
            yield "%s_%d" % (where, number), bundle(model(graph(
                [x, y], [node("Relu", [number if where == "node" else 0], [1])], [number if where == "input" else 0],
                [number if where == "output" else 1])))
    for number in (-(1 << 63), -2, 1 << 31, 1 << 62, (1 << 63) - 1):
        yield "dimension_%d" % number, bundle(model(graph([value("x", (number, 4)), y], [relu])))
        yield "constant_dimension_%d" % number, bundle(model(graph([x, y, value("c", (4,), constant((number,), blob(0, bytes(
            64))))], [relu])), bytes(64))
        for kind in ("states", "axes", "reversed"):
            attributes = [Table({0: "states", 1: u8(0), 2: Scalar("q", 1)}), Table({0: kind, 1: u8(0 if kind == "states" else 3), 2: Scalar(
                "q", number), 5: Numbers("q", [number])})]
            yield "loop_%s_%d" % (kind, number), bundle(model(graph([x, y], [node("Loop", [0, 0, 0], [1], attributes, [graph(
                [x, y, value("z")], [relu], (0, 1, 2), (1, 2))])])))
    for offset, size in ((0, 1 << 40), (1 << 63, 64), (64, 0), (128, 0), (ALL, ALL), (32, 16)):
        yield "blob_at_%d_of_%d" % (offset, size), bundle(model(graph([x, y, value("c", (4,), constant((4,), blob(
            offset, b"", size)))], [relu])), bytes(64))
    yield "no_graph", bundle(Table({2: "made"}))
    yield "no_values", bundle(model(Table({})))
    yield "strange_kind", bundle(model(graph([x, y], [node("K" * 100000 + "\n", [0], [1])])))
    yield "strange_attribute", bundle(model(graph([x, y], [node("Relu", [0], [1], [Table({0: "a\n" * 100000, 1: u8(9)})])])))
    for number, dtype in enumerate((12, 13, 255)):
        yield "type_%d" % dtype, bundle(model(graph([Table({0: "x", 1: u8(dtype), 2: Numbers("q", [4]), 3: u8(1)}), y], [relu])))
        yield "version_%d" % (number * 7), bundle(model(graph([x, y], [relu])), b"", number * 7)
    tflite = bytes(4) + b"TFL3" + bytes(56)
    yield "tflite", bundle(Table({1: blob(0, tflite), 2: "made"}), tflite)
    yield "tflite_outside", bundle(Table({1: blob(64, b"", 1 << 40), 2: "made"}), tflite)


def families():
    return (bundles,)
