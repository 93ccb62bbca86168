"""Writes ONNX files field by field (onnx.proto), so that they may hold what no library would write."""
import struct

FLOAT, UINT8, INT8, INT32, INT64, BOOL, FLOAT16, DOUBLE = 1, 2, 3, 6, 7, 9, 10, 11
ELEMENT_BYTES = {FLOAT: 4, UINT8: 1, INT8: 1, INT32: 4, INT64: 8, BOOL: 1, FLOAT16: 2, DOUBLE: 8}
PACK = {FLOAT: "f", UINT8: "B", INT8: "b", INT32: "i", INT64: "q", BOOL: "B", DOUBLE: "d"}


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while True:
        byte = number & 0x7F
        number >>= 7
        out.append(byte | (0x80 if number else 0))
        if not number:
            return bytes(out)


def field(number, value):
    """A field of a message: integers as varints, floats as fixed 32, strings and messages by length."""
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(number, values):
    return b"".join(field(number, value) for value in values)


def tensor(name, dims, values=None, dtype=INT64, raw=None):
    """TensorProto. `values`: numbers, or None for zeros of the given dims."""
    if raw is None:
        if values is None:
            count = 1
            for dim in dims:
                count *= dim
            raw = bytes(count * ELEMENT_BYTES[dtype])
        else:
            raw = struct.pack("<%d%s" % (len(values), PACK[dtype]), *values)
    return fields(1, dims) + field(2, dtype) + field(8, name) + field(9, raw)


def attribute(name, value):
    """AttributeProto: int, float, str, list of ints or floats, or ("t", tensor) or ("g", graph)."""
    head = field(1, name)
    if isinstance(value, float):
        return head + field(2, value) + field(20, 1)
    if isinstance(value, int):
        return head + field(3, value) + field(20, 2)
    if isinstance(value, str):
        return head + field(4, value) + field(20, 3)
    if isinstance(value, tuple) and value[0] == "t":
        return head + field(5, value[1]) + field(20, 4)
    if isinstance(value, tuple):
        return head + field(6, value[1]) + field(20, 5)
    if value and isinstance(value[0], float):
        return head + fields(7, value) + field(20, 6)
    return head + fields(8, value) + field(20, 7)


def node(op, inputs, outputs, name="", **attributes):
    message = fields(1, inputs) + fields(2, outputs) + field(3, name or outputs[0] if outputs else name) + field(4, op)
    return message + b"".join(field(5, attribute(key, value)) for key, value in attributes.items())


def value_info(name, dims, dtype=FLOAT):
    """ValueInfoProto. dims None: no shape; a dimension that is a str is named."""
    tensor_type = field(1, dtype)
    if dims is not None:
        shape = b"".join(field(1, field(2, dim) if isinstance(dim, str) else field(1, dim)) for dim in dims)
        tensor_type += field(2, shape)
    return field(1, name) + field(2, field(1, tensor_type))


def graph(nodes, inputs=(), outputs=(), constants=(), name="hostile", extra=b""):
    return (fields(1, nodes) + field(2, name) + fields(5, constants) + fields(11, inputs) + fields(12, outputs) + extra)


def model(the_graph, opset=17, ir=8, extra=b""):
    return field(1, ir) + field(7, the_graph) + field(8, field(1, "") + field(2, opset)) + extra


def simple(nodes, constants=(), inputs=(("x", [1, 1, 4, 4]),), outputs=("y",), opset=17):
    """A model whose inputs are (name, dims) or (name, dims, dtype)."""
    return model(graph(nodes, [value_info(*entry) for entry in inputs],
                       [value_info(name, None) for name in outputs], constants), opset)


def ints(name, values):
    return tensor(name, [len(values)], [max(-(1 << 63), min(value, (1 << 63) - 1)) for value in values])


def floats(name, dims, value=1.0):
    count = 1
    for dim in dims:
        count *= dim
    return tensor(name, dims, [value] * count, FLOAT)


def filled(name, dims):
    """Nodes and constants of a large constant from a small file: ConstantOfShape."""
    return ints(name + "_shape", dims), node("ConstantOfShape", [name + "_shape"], [name])
