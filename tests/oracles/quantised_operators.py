#!/usr/bin/env python3
"""Compares single quantised operators of random shapes and scales with LiteRT's reference kernels.

  pip install ai-edge-litert numpy
  tests/oracles/quantised_operators.py build/tools/vellum/vellum [--int16] [--extreme] [--seed N] [--count N] [KIND ...]

All operators of a kind are one TFLite file, without connections. Prints for each kind how many operators and elements
differ, and the greatest difference in steps. `--sample FOLDER` writes the file, the inputs and LiteRT's outputs that
tests/kernels/litert_integers_test.cpp reads, and needs no tool. Options for `vellum run` go to VELLUM_RUN ("--storage buffer").
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from quantised_elementwise import Elementwise
from quantised_movement import Movement
from quantised_products import Products
from quantised_reductions import Reductions


class Maker(Products, Elementwise, Reductions, Movement):
    """Adds operators with random parameters to one model. A kind is the name of a method."""


KINDS = ["add", "arg", "average_pool", "batch_matmul", "batch_matmul_by_constant", "batch_matmul_by_constants",
         "comparison", "concatenation", "conv", "depthwise_conv", "dilated_conv", "divide", "extremum",
         "fully_connected", "function_of_int8", "gelu", "grouped_conv", "hard_swish", "inverse_root",
         "l2_normalization", "leaky_relu", "log_softmax", "logistic", "max_pool", "mean", "move", "mul", "pad", "prelu",
         "quantize", "reduce_max", "reduce_min", "relu", "resize_bilinear", "rows_connected", "softmax", "sqrt",
         "squared_difference", "sub", "sum", "tanh", "transpose_conv"]
KINDS_OF_16_BITS = ["add", "average_pool", "batch_matmul", "concatenation", "conv", "depthwise_conv", "dilated_conv",
                    "extremum", "fully_connected", "leaky_relu", "logistic", "max_pool", "mean", "move", "mul", "pad",
                    "quantize", "relu", "rows_connected", "softmax", "sub", "tanh", "transpose_conv"]
# Vellum computes them in floats.
IN_FLOATS = {"batch_matmul_by_constants", "divide", "log_softmax"}
IN_FLOATS_OF_16_BITS = {"add", "batch_matmul", "mul", "sub"}


def add_operators(maker, kinds, count, dtype=None):
    for kind in kinds:
        for i in range(count):
            maker.dtype = dtype or (np.int8 if i % 2 == 0 else np.uint8)
            in_floats = kind in (IN_FLOATS_OF_16_BITS if dtype == np.int16 else IN_FLOATS)
            maker.kind = kind + "_16" * (dtype == np.int16) + "_in_floats" * in_floats
            getattr(maker, kind)()


def make(kinds, seed, count, dtype=None, extreme=False):
    maker = Maker(seed)
    maker.extreme = extreme
    add_operators(maker, kinds, count, dtype)
    return maker


def expected(model, maker):
    interpreter = Interpreter(model_content=model, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    for detail, values in zip(interpreter.get_input_details(), maker.inputs.values()):
        interpreter.set_tensor(detail["index"], values)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]


def compare(tool, kind, seed, count, dtype, extreme):
    maker = make([kind], seed, count, dtype, extreme)
    model = maker.finish()
    want = expected(model, maker)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "model.tflite").write_bytes(model)
        command = [tool, "run", str(folder / "model.tflite"), "-o", name, *os.environ.get("VELLUM_RUN", "").split()]
        for tensor, values in maker.inputs.items():
            np.save(folder / f"x{tensor}.npy", values)
            command += ["-i", f"x{tensor}={folder / f'x{tensor}.npy'}"]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode != 0:
            return f"{kind}: refused: {run.stderr.strip().splitlines()[-1]}"
        got = [np.load(folder / f"y{tensor}.npy") for tensor in maker.outputs]
    differences = [np.abs(a.astype(int) - b.astype(int)) for a, b in zip(want, got)]
    elements, differ = sum(d.size for d in differences), sum((d > 0).sum() for d in differences)
    most = max(d.max(initial=0) for d in differences)
    return (f"{kind}: {sum(bool(d.any()) for d in differences)} of {len(differences)} operators, {differ} of {elements} "
            f"elements differ, at most {most} steps")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool", nargs="?")
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--int16", action="store_true")
    parser.add_argument("--extreme", action="store_true")
    parser.add_argument("--sample")
    arguments = parser.parse_intermixed_args()
    if arguments.sample:
        maker = make(KINDS, arguments.seed, 2)
        add_operators(maker, KINDS_OF_16_BITS, 1, np.int16)
        model = maker.finish(plain=False)
        folder = pathlib.Path(arguments.sample)
        (folder / "quantised_operators.tflite").write_bytes(model)
        values = [*maker.inputs.values(), *expected(model, maker)]
        (folder / "quantised_operators.bytes").write_bytes(b"".join(v.tobytes() for v in values))
        return
    if not arguments.tool:
        sys.exit(__doc__)
    for kind in arguments.kinds or (KINDS_OF_16_BITS if arguments.int16 else KINDS):
        dtype = np.int16 if arguments.int16 else None
        print(compare(arguments.tool, kind, arguments.seed, arguments.count, dtype, arguments.extreme), flush=True)


main()
