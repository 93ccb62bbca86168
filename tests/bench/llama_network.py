#!/usr/bin/env python3
"""Writes a decoder of Llama's shape with weights of 4 or 8 bits in blocks, or in fp32, as an ONNX file with external data.

    tests/bench/llama_network.py small.onnx                              # 2 layers of width 512
    tests/bench/llama_network.py 8b.onnx --size 8b                       # 4.6 GB of weights
    tests/bench/llama_network.py 70b.onnx --size 70b --no-weights        # a sparse file in place of 40 GB

Each layer has a SimplifiedLayerNormalization, MatMulNBits of queries, keys and values, GroupQueryAttention with rotary
embeddings, an output product, and a gated MLP; the table of tokens is a GatherBlockQuantized, and the last product computes the
logits of the last token alone. Inputs are the tokens, the number of keys and each layer's cache. Weights are random numbers from
a seed; those of equal seed and position are equal whatever the number of layers, so that the first layers of two files agree.
"""
import argparse
import hashlib
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

# layers, width, heads, heads of keys and values, width of the MLP, tokens of the vocabulary: Llama 3's sizes.
SIZES = {"small": (2, 512, 8, 2, 1408, 4096), "200m": (12, 1024, 16, 4, 2816, 32000),
         "8b": (32, 4096, 32, 8, 14336, 128256), "70b": (80, 8192, 64, 8, 28672, 128256)}


class Writer:
    """The graph, and its weights one after another in one file of external data."""

    def __init__(self, path, options):
        self.path, self.options = path, options
        self.data = path.with_suffix(".data")
        self.file = open(self.data, "wb")
        self.at = 0
        self.nodes, self.initializers = [], []

    def tensor(self, name, dtype, shape, make):
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        self.at = -(-self.at // 4096) * 4096
        if self.options.no_weights:
            # Equal constants are compared to their ends, which would read all of them.
            self.file.seek(self.at)
            self.file.write(hashlib.sha256(name.encode()).digest()[:size])
            self.file.truncate(self.at + size)
        else:
            self.file.seek(self.at)
            # A seed of its own for each name.
            random = np.random.Generator(np.random.SFC64([self.options.seed, *name.encode()]))
            self.file.write(make(random).astype(dtype, copy=False).tobytes())
        value = TensorProto(name=name, data_type=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), dims=shape,
                            data_location=TensorProto.EXTERNAL)
        for key, text in (("location", self.data.name), ("offset", str(self.at)), ("length", str(size))):
            value.external_data.add(key=key, value=text)
        self.initializers.append(value)
        self.at += size
        return name

    def small(self, name, array):
        self.initializers.append(onnx.numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, op, inputs, outputs, domain="", **attributes):
        self.nodes.append(helper.make_node(op, inputs, outputs, name=outputs[0], domain=domain, **attributes))
        return outputs[0]

    def packed(self, name, rows, columns):
        """Integers and scales of `columns` rows of `rows` weights, about 1 / sqrt(rows) in size."""
        bits, block = self.options.bits, self.options.block
        blocks = -(-rows // block)
        largest = 2.0 ** (bits - 1) * np.sqrt(rows)
        data = self.tensor(f"{name}.weight", np.uint8, [columns, blocks, block * bits // 8],
                           lambda random: np.frombuffer(random.bytes(columns * blocks * block * bits // 8), np.uint8))
        scales = self.tensor(f"{name}.scales", self.options.dtype, [columns * blocks],
                             lambda random: (0.5 + random.random(columns * blocks, np.float32)) / largest)
        return data, scales

    def floats(self, name, rows, columns):
        most = np.sqrt(3.0 / rows)
        return self.tensor(f"{name}.weight", self.options.dtype, [rows, columns],
                           lambda random: most * (2.0 * random.random((rows, columns), np.float32) - 1.0))

    def product(self, x, name, rows, columns):
        if self.options.bits == 32:
            return self.node("MatMul", [x, self.floats(name, rows, columns)], [f"{name}.y"])
        data, scales = self.packed(name, rows, columns)
        return self.node("MatMulNBits", [x, data, scales], [f"{name}.y"], "com.microsoft", K=rows, N=columns,
                         bits=self.options.bits, block_size=self.options.block)


def add_layer(writer, x, i, options):
    width, head = options.width, options.width // options.heads
    kv = options.kv_heads * head
    scale = lambda what: writer.small(f"{what}.scale", np.ones(width, options.dtype))
    normal = lambda value, what: writer.node("SimplifiedLayerNormalization", [value, scale(what)], [f"{what}.y"], epsilon=1e-5,
                                             axis=-1)
    at = f"layer{i}"
    y = normal(x, f"{at}.attention_norm")
    q, k, v = (writer.product(y, f"{at}.{name}", width, columns) for name, columns in (("q", width), ("k", kv), ("v", kv)))
    outputs = [f"{at}.attention", f"present.{i}.key", f"present.{i}.value"]
    writer.node("GroupQueryAttention", [q, k, v, f"past.{i}.key", f"past.{i}.value", "lengths", "total", "cosines", "sines"],
                outputs, "com.microsoft", num_heads=options.heads, kv_num_heads=options.kv_heads, do_rotary=1)
    x = writer.node("Add", [x, writer.product(outputs[0], f"{at}.o", width, width)], [f"{at}.residual"])
    y = normal(x, f"{at}.mlp_norm")
    gate, up = (writer.product(y, f"{at}.{name}", width, options.mlp) for name in ("gate", "up"))
    silu = writer.node("Mul", [gate, writer.node("Sigmoid", [gate], [f"{at}.sigmoid"])], [f"{at}.silu"])
    gated = writer.node("Mul", [silu, up], [f"{at}.gated"])
    return writer.node("Add", [x, writer.product(gated, f"{at}.down", options.mlp, width)], [f"{at}.output"])


def write_embedding(writer, options):
    if options.bits == 32:
        table = writer.floats("embedding", options.vocabulary, options.width)
        return writer.node("Gather", [table, "tokens"], ["embedding.y"])
    table, scales = writer.packed("embedding", options.width, options.vocabulary)
    # GatherBlockQuantized has a matrix of bytes, and its default zero point is that of MatMulNBits.
    writer.initializers[0].dims[:] = [options.vocabulary, options.width * options.bits // 8]
    writer.initializers[1].dims[:] = [options.vocabulary, -(-options.width // options.block)]
    return writer.node("GatherBlockQuantized", [table, "tokens", scales], ["embedding.y"], "com.microsoft", bits=options.bits,
                       block_size=options.block, gather_axis=0, quantize_axis=1)


def write(options):
    path = pathlib.Path(options.model)
    writer = Writer(path, options)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(options.dtype))
    head = options.width // options.heads
    length = options.past if options.fixed_caches else options.past + options.tokens
    x = write_embedding(writer, options)
    angles = np.arange(length)[:, None] / 500000.0 ** (np.arange(head // 2)[None] * 2 / head)
    writer.small("cosines", np.cos(angles).astype(options.dtype))
    writer.small("sines", np.sin(angles).astype(options.dtype))
    writer.small("lengths", np.array([length - 1], np.int32))
    writer.small("total", np.array(length, np.int32))
    for i in range(options.layers):
        x = add_layer(writer, x, i, options)
    x = writer.node("Slice", [x] + [writer.small(f"last.{name}", np.array([value], np.int64))
                                    for name, value in (("begin", -1), ("end", np.iinfo(np.int64).max), ("axis", 1))], ["last"])
    x = writer.node("SimplifiedLayerNormalization", [x, writer.small("norm.scale", np.ones(options.width, options.dtype))],
                    ["norm.y"], epsilon=1e-5, axis=-1)
    writer.product(x, "logits", options.width, options.vocabulary)
    writer.file.truncate(writer.at)
    writer.file.close()

    cache = lambda name, count: helper.make_tensor_value_info(name, kind, [1, options.kv_heads, count, head])
    inputs = [helper.make_tensor_value_info("tokens", TensorProto.INT64, [1, options.tokens])]
    outputs = [helper.make_tensor_value_info("logits.y", kind, [1, 1, options.vocabulary])]
    for i in range(options.layers):
        for what in ("key", "value"):
            inputs.append(cache(f"past.{i}.{what}", options.past))
            outputs.append(cache(f"present.{i}.{what}", length))
    graph = helper.make_graph(writer.nodes, "llama", inputs, outputs, writer.initializers)
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21),
                                                                    helper.make_opsetid("com.microsoft", 1)])
    path.write_bytes(model.SerializeToString())
    print(f"{path}: {options.layers} layers, {writer.at} bytes of weights"
          f"{' that are not written' if options.no_weights else ''} in {writer.data.name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--size", choices=SIZES, default="small")
    for name, what in (("layers", "layers"), ("width", "width"), ("heads", "heads of queries"), ("kv-heads", "heads of keys"),
                       ("mlp", "width of the MLP"), ("vocabulary", "tokens of the table")):
        parser.add_argument(f"--{name}", type=int, help=f"{what}; default: those of --size")
    parser.add_argument("--bits", type=int, choices=(4, 8, 32), default=4, help="32: floats of --dtype")
    parser.add_argument("--block", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=1, help="of a run")
    parser.add_argument("--past", type=int, default=64, help="tokens in the cache")
    parser.add_argument("--fixed-caches", action="store_true",
                        help="caches keep their length: the new tokens are the last of --past tokens, and caches may be state")
    parser.add_argument("--dtype", choices=("float32", "float16"), default="float32")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-weights", action="store_true", help="leave the external data sparse")
    options = parser.parse_args()
    for name, value in zip(("layers", "width", "heads", "kv_heads", "mlp", "vocabulary"), SIZES[options.size]):
        if getattr(options, name) is None:
            setattr(options, name, value)
    write(options)


if __name__ == "__main__":
    sys.exit(main())
