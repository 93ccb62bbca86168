#!/usr/bin/python3
"""Writes an ONNX network with as many bytes of weights as asked for, to see weights stream.

OUT/model.onnx has LAYERS fully connected layers of 4096 x 4096 floats (64 MiB each) with Relu and a shortcut, so that
values neither fade nor explode; the weights, seeded, are beside it in OUT/weights.bin and are written a layer at a time.
Needs Debian's python3-onnx and python3-numpy.
"""
import argparse
import pathlib

import numpy
from onnx import TensorProto, helper

WIDTH = 4096


def weight(name, offset, length):
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[WIDTH, WIDTH])
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "weights.bin"), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path, metavar="OUT")
    parser.add_argument("--gib", type=float, default=4, help="bytes of weights (default: 4 GiB)")
    parser.add_argument("--rows", type=int, default=8, help="rows of the input (default: 8)")
    arguments = parser.parse_args()
    layer_bytes = WIDTH * WIDTH * 4
    layers = max(1, round(arguments.gib * 2**30 / layer_bytes))
    arguments.out.mkdir(parents=True, exist_ok=True)

    random = numpy.random.default_rng(1)
    nodes, weights = [], []
    bound = numpy.float32((3 / WIDTH) ** 0.5 / layers**0.5)
    with open(arguments.out / "weights.bin", "wb") as file:
        for i in range(layers):
            values = random.random((WIDTH, WIDTH), dtype=numpy.float32)
            values *= 2 * bound
            values -= bound
            values.tofile(file)
            weights.append(weight(f"w{i}", i * layer_bytes, layer_bytes))
            nodes += [helper.make_node("Gemm", [f"x{i}", f"w{i}"], [f"a{i}"], f"layer{i}", transB=1),
                      helper.make_node("Relu", [f"a{i}"], [f"b{i}"], f"relu{i}"),
                      helper.make_node("Add", [f"x{i}", f"b{i}"], [f"x{i + 1}"], f"shortcut{i}")]
    shape = [arguments.rows, WIDTH]
    graph = helper.make_graph(nodes, "large",
                              [helper.make_tensor_value_info("x0", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info(f"x{layers}", TensorProto.FLOAT, shape)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    (arguments.out / "model.onnx").write_bytes(model.SerializeToString())
    numpy.save(arguments.out / "input.npy", random.standard_normal(shape, dtype=numpy.float32))
    print(f"{arguments.out}/model.onnx: {layers} layers, {layers * layer_bytes} bytes of weights")


if __name__ == "__main__":
    main()
