#!/usr/bin/env python3
"""Exports small decoders by torch and transformers, and generates tokens with Vellum, ONNX Runtime and torch in double.

    tests/conformance/generated_tokens.py FOLDER                  # Llama's, OPT's, TrOCR's, SmolVLM's and Qwen2-VL's shape
    tests/conformance/generated_tokens.py FOLDER llama --tokens 64 --exporter dynamo

Needs torch, onnx, onnxruntime, transformers and the Python package of Vellum. Weights are random numbers from a seed. Each
decoder's file has inputs past.N.key and past.N.value and outputs present.N.key and present.N.value, which torch's exporter
concatenates; in Vellum they are state of a fixed capacity (SessionOptions::state_capacity), and one session runs the prompt and
all steps. Fails if a greedy token differs from that of torch in double.
"""
import argparse
import copy
import pathlib
import sys
import time
import warnings

import numpy as np
import onnxruntime
import torch
import transformers

import vellum
from decoder_cases import llama, opt, qwen2vl, smolvlm, trocr


def greedy(case, run, count):
    """The tokens that `run(inputs)`, which returns logits, generates, and the milliseconds of CPU time of each step."""
    given, past = case.prompt_inputs(run)
    tokens, times = [int(np.argmax(run(given)[0, -1]))], []
    while len(tokens) < count:
        given = case.inputs([tokens[-1]], past, run.total(past, 1))
        before = time.process_time()
        logits = run(given)
        times.append(1e3 * (time.process_time() - before))
        tokens.append(int(np.argmax(logits[0, -1])))
        past += 1
    return tokens, times


class VellumRun:
    def __init__(self, case, path, **options):
        self.case = case
        self.session = vellum.Session(str(path), state="auto", state_capacity=case.capacity, **options)

    def total(self, past, count):
        return self.case.capacity

    def __call__(self, inputs):
        return self.session.run(inputs)["logits"]


class GrowingRun:
    """Caches that the caller passes from run to run."""

    def __init__(self, case):
        self.case = case
        self.past = [np.zeros((1, case.kv[0], 0, case.kv[1]), self.dtype) for _ in case.caches]

    def total(self, past, count):
        return past + count

    def __call__(self, inputs):
        logits, *self.past = self.step(inputs)
        return logits


class OrtRun(GrowingRun):
    dtype = np.float32

    def __init__(self, case, path):
        super().__init__(case)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def step(self, inputs):
        return self.session.run(None, inputs | dict(zip(self.case.caches, self.past)))


class TorchRun(GrowingRun):
    dtype = np.float64

    def __init__(self, case):
        super().__init__(case)
        self.module = case.module.double()

    def step(self, inputs):
        def double(array):
            tensor = torch.from_numpy(np.ascontiguousarray(array))
            return tensor.double() if tensor.is_floating_point() else tensor
        with torch.no_grad():
            result = self.module(*(double(inputs[name]) for name in self.case.names), *map(double, self.past),
                                 *(double(array) for array in self.case.fixed.values()))
        return [tensor.numpy() for tensor in result]


CASES = {"llama": llama, "opt": opt, "trocr": trocr, "smolvlm": smolvlm, "qwen2vl": qwen2vl}


def picture_features(case, folder):
    """The tokens of the picture by Vellum, for a case that has one. They must be those of torch in double."""
    path = folder / f"{case.name}_pictures.onnx"
    picture = torch.from_numpy(case.picture)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(case.pictures, picture, path, dynamo=False, opset_version=17, input_names=["pixel_values"],
                          output_names=["features"])
        expected = copy.deepcopy(case.pictures).double()(picture.double()).numpy()
    features = vellum.Session(str(path)).run({"pixel_values": case.picture})["features"]
    np.testing.assert_allclose(features, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    return features


def categories(report):
    return [report.weights_bytes, report.state_bytes, report.in_out_bytes, report.allocated_bytes]


def estimated(estimate):
    return [estimate.allocated_weights, estimate.allocated_state, estimate.allocated_in_out, estimate.allocated_intermediates]


def check(case, folder, count, exporter):
    """Prints a row of docs/generate.md. Returns whether all engines generate the same tokens."""
    path = folder / f"{case.name}_{exporter}.onnx"
    if hasattr(case, "pictures"):
        case.features = picture_features(case, folder)
    case.export(path, exporter)
    run = VellumRun(case, path)
    tokens, times = greedy(case, run, count)
    shapes = {name: array.shape for name, array in case.inputs([0], 0, case.capacity).items()}
    estimate = vellum.estimate_memory(str(path), device=vellum.Device(), state="auto", state_capacity=case.capacity,
                                      input_shapes=shapes)
    # The session is prepared for the prompt, too; one of the steps alone is what the estimate is of.
    steps = vellum.Session(str(path), state="auto", state_capacity=case.capacity, input_shapes=shapes).memory()
    ort_tokens, ort_times = greedy(case, OrtRun(case, path), count)
    expected, _ = greedy(case, TorchRun(case), count)
    sizes = [f"{size:,}" + (f" ({guess:,})" if guess != size else "")
             for size, guess in zip(categories(steps), estimated(estimate))]
    row = [f"{case.name}, {exporter}", str(run.session.dispatch_count), *sizes, f"{min(times):.2f} ms", f"{min(ort_times):.2f} ms"]
    print("| " + " | ".join(row) + " |", flush=True)
    for engine, found in (("Vellum", tokens), ("ONNX Runtime", ort_tokens)):
        if found != expected:
            print(f"{case.name}, {exporter}: {engine} generates {found}, torch in double {expected}", file=sys.stderr)
    return tokens == ort_tokens == expected


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("cases", nargs="*", help=", ".join(CASES))
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--exporter", choices=("legacy", "dynamo"), help="torch's exporter; default: both, one after the other")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    transformers.logging.set_verbosity_error()
    print("| model | dispatches | weights | state | inputs, outputs | intermediates | a step | ONNX Runtime |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    exporters = [options.exporter] if options.exporter else ["legacy", "dynamo"]
    passed = True
    for name in options.cases or CASES:
        for exporter in exporters:
            torch.manual_seed(1)
            passed &= check(CASES[name](), options.folder, options.tokens, exporter)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
