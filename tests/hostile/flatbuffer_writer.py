"""Writes flatbuffers (https://flatbuffers.dev/internals) as no library would: an object that is given in several places is
stored once and referred to from each, so that a small file stands for a large one."""
import struct


class Scalar:
    """A number in a table. kind: a letter of the module struct."""
    def __init__(self, kind, value):
        self.kind, self.value = kind, value


class Struct:
    """Bytes in a table, aligned to 8."""
    def __init__(self, content):
        self.content = content


class Numbers:
    def __init__(self, kind, values):
        self.kind, self.values = kind, values


class Objects(list):
    """A vector of tables or strings."""
    __hash__ = object.__hash__


class Table:
    def __init__(self, fields):
        self.fields = fields


def u8(value):
    return Scalar("B", value & 0xFF)


def i32(value):
    return Scalar("i", value)


def u32(value):
    return Scalar("I", value)


def u64(value):
    return Scalar("Q", value)


def ints(values):
    return Numbers("i", values)


class Builder:
    """Builds from the end of the file, so that each object comes after those that refer to it."""
    def __init__(self):
        self.parts, self.size, self.known = [], 0, {}

    def push(self, content, alignment=1):
        padding = -(self.size + len(content)) % alignment
        self.parts += [bytes(padding), content]
        self.size += padding + len(content)
        return self.size

    def place(self, thing):
        """Returns the distance of an object from the end of the file."""
        if id(thing) not in self.known:
            writer = {Numbers: self.numbers, Objects: self.objects, Table: self.table, bytes: self.text, str: self.text}
            self.known[id(thing)] = (writer[type(thing)](thing), thing)  # keeps it alive: its id stays its own
        return self.known[id(thing)][0]

    def text(self, text):
        content = text.encode() if isinstance(text, str) else text
        return self.push(struct.pack("<I", len(content)) + content + bytes(-len(content) % 4 or 4), 4)

    def numbers(self, numbers):
        content = numbers.values
        if not isinstance(content, bytes):
            content = struct.pack("<%d%s" % (len(content), numbers.kind), *content)
        width = struct.calcsize("<" + numbers.kind)
        self.push(content + bytes(-len(content) % 4), max(width, 4))
        return self.push(struct.pack("<I", len(numbers.values)))

    def objects(self, objects):
        placed = [self.place(each) for each in objects]
        self.push(b"", 4)
        begin = self.size + 4 * len(placed)  # the distance of the first offset
        offsets = [begin - 4 * i - at for i, at in enumerate(placed)]
        self.push(struct.pack("<%dI" % len(offsets), *offsets))
        return self.push(struct.pack("<I", len(placed)))

    def table(self, table):
        placed = {slot: self.place(value) for slot, value in table.fields.items() if not isinstance(value, (Scalar, Struct))}

        def width(slot):
            value = table.fields[slot]
            return 8 if isinstance(value, Struct) else struct.calcsize(value.kind) if isinstance(value, Scalar) else 4
        at, where = 4, {}
        for slot in sorted(table.fields, key=width):
            at += -at % width(slot)
            where[slot] = at
            value = table.fields[slot]
            at += len(value.content) if isinstance(value, Struct) else width(slot)
        at += -at % 8
        self.push(b"", 8)
        content, begin = bytearray(at), self.size + at
        for slot, value in table.fields.items():
            if isinstance(value, Scalar):
                struct.pack_into("<" + value.kind, content, where[slot], value.value)
            elif isinstance(value, Struct):
                content[where[slot]:where[slot] + len(value.content)] = value.content
            else:
                struct.pack_into("<I", content, where[slot], begin - where[slot] - placed[slot])
        slots = max(table.fields, default=-1) + 1
        vtable = struct.pack("<%dH" % (2 + slots), 4 + 2 * slots, at, *[where.get(slot, 0) for slot in range(slots)])
        vtable = bytes(-len(vtable) % 8) + vtable
        struct.pack_into("<i", content, 0, 4 + 2 * slots)
        self.push(bytes(content))
        self.push(vtable)
        return begin


def flatbuffer(root, identifier):
    builder = Builder()
    at = builder.place(root)
    builder.push(b"", 64)
    builder.push(bytes(56))
    builder.push(struct.pack("<I", builder.size + 8 - at) + identifier)
    return b"".join(reversed(builder.parts))
