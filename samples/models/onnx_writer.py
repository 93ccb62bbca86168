"""Writes the parts of an ONNX file with Python's standard library alone, for the converters beside it.

The same parts give the same bytes.
"""

FLOAT, OPSET, IR_VERSION = 1, 13, 8

# ---- Protocol buffers: https://protobuf.dev/programming-guides/encoding, fields of onnx.proto ------------------------

def varint(value):
    result = bytearray()
    while value > 127:
        result.append(value & 127 | 128)
        value >>= 7
    return bytes(result + bytes([value]))


def field(number, value):
    """Integers are varints, everything else is its bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    if isinstance(value, list):
        return field(1, name) + b"".join(field(8, element) for element in value) + field(20, 7)
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, 2)
    return field(1, name) + field(4, value) + field(20, 3)


def node(kind, inputs, output, **attributes):
    return (b"".join(field(1, name) for name in inputs) + field(2, output) + field(3, output) + field(4, kind)
            + b"".join(field(5, attribute(*item)) for item in attributes.items()))


def tensor(name, shape, data):
    return b"".join(field(1, size) for size in shape) + field(2, FLOAT) + field(8, name) + field(9, data)


def value_info(name, shape):
    """An input or output; a size that is a name is open."""
    dimensions = (field(2, size) if isinstance(size, str) else field(1, size) for size in shape)
    described = b"".join(field(1, dimension) for dimension in dimensions)
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, described)))


def model(name, nodes, tensors, first, last):
    """The file of a graph with one input and one output."""
    graph = (b"".join(field(1, data) for data in nodes) + field(2, name) + b"".join(field(5, data) for data in tensors)
             + field(11, first) + field(12, last))
    return field(1, IR_VERSION) + field(7, graph) + field(8, field(1, "") + field(2, OPSET))
