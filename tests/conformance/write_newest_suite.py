#!/usr/bin/env python3
"""Writes the node tests of the installed `onnx` package as files, one folder a test, as Debian's libonnx-testdata has them.

    python -m venv VENV && VENV/bin/pip install onnx pillow ml_dtypes
    VENV/bin/python tests/conformance/write_newest_suite.py SUITE
    VELLUM_ONNX_TEST_DATA=SUITE VELLUM_RESULTS=tests/conformance/newest_node_results.txt \\
        ./build/tests/conformance/onnx_conformance_device --gtest_filter='*/node'

Tests whose inputs and outputs are not tensors of numbers, and those of classic machine learning, training and text, are left out;
the script prints how many.
"""
import argparse
import pathlib
import sys

import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

OTHER_DOMAINS = {"ai.onnx.ml", "ai.onnx.preview.training", "ai.onnx.training"}
OTHER_OPERATORS = {"StringNormalizer", "StringConcat", "StringSplit", "RegexFullMatch", "TfIdfVectorizer", "Adagrad", "Adam",
                   "Momentum", "Gradient", "ImageDecoder", "SequenceMap", "ConcatFromSequence", "SplitToSequence",
                   "NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}


def is_vision(model):
    """Whether the model is in the standard domain, and its inputs and outputs are tensors of numbers."""
    if any(entry.domain in OTHER_DOMAINS for entry in model.opset_import):
        return False
    if any(node.op_type in OTHER_OPERATORS for node in model.graph.node):
        return False
    values = [*model.graph.input, *model.graph.output]
    return all(v.type.HasField("tensor_type") and v.type.tensor_type.elem_type not in (8, 14, 15) for v in values)


def write_test(case, folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    for number, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{number}"
        data.mkdir(exist_ok=True)
        for kind, tensors, infos in ("input", inputs, case.model.graph.input), ("output", outputs, case.model.graph.output):
            for i, (tensor, info) in enumerate(zip(tensors, infos)):
                proto = tensor if isinstance(tensor, onnx.TensorProto) else numpy_helper.from_array(tensor, info.name)
                (data / f"{kind}_{i}.pb").write_bytes(proto.SerializeToString())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    written = left_out = 0
    for case in collect_testcases():
        if not is_vision(case.model):
            left_out += 1
            continue
        write_test(case, arguments.folder / "node" / case.name)
        written += 1
    print(f"onnx {onnx.__version__}: {written} tests written to {arguments.folder / 'node'}, {left_out} of other kinds left out")


if __name__ == "__main__":
    sys.exit(main())
