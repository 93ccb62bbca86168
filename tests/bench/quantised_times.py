#!/usr/bin/env python3
"""Memory, dispatches and CPU time of networks in floats and as ONNX Runtime's quantisers write them, in docs/benchmarks/quantised.md.

  pip install onnx onnxruntime numpy
  tests/bench/quantised_times.py build/tools/vellum/vellum [--rounds N] [--preprocess] [NAME | MODEL.onnx]...

Names are networks that tests/backbones.sh exports. Each is quantised by quantize_static (QDQ, uint8, weights of int8 for each
channel, two random pictures) and by quantize_dynamic. The three take turns; times are the least of all rounds. With
--preprocess all three forms are of the network after quant_pre_process, which fuses LayerNormalization. The table of the page is
written only if no networks are named.
"""
import argparse
import logging
import pathlib
import tempfile

import numpy as np
import onnx
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from tables import bench, exported_network, mebibytes, run_json, table, write_between_marks

NAMES = ["mobilenet_v2", "squeezenet1_1", "resnet18"]


class Pictures(CalibrationDataReader):
    def __init__(self, model):
        entry = onnx.load(model).graph.input[0]
        self.name, self.shape = entry.name, [d.dim_value for d in entry.type.tensor_type.shape.dim]
        self.seeds = iter(range(2))

    def get_next(self):
        seed = next(self.seeds, None)
        return None if seed is None else {self.name: np.random.default_rng(seed).standard_normal(self.shape, np.float32)}


def forms_of(model, folder, preprocess):
    if preprocess:
        quant_pre_process(model, folder / "preprocessed.onnx", skip_symbolic_shape=True)
        model = folder / "preprocessed.onnx"
    static, dynamic = folder / "static.onnx", folder / "dynamic.onnx"
    quantize_static(model, static, Pictures(model), quant_format=QuantFormat.QDQ, per_channel=True,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
    quantize_dynamic(model, dynamic, weight_type=QuantType.QUInt8)
    return {"floats": model, "`quantize_static`": static, "`quantize_dynamic`": dynamic}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--preprocess", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_intermixed_args()
    logging.disable(logging.WARNING)
    rows = []
    for network in arguments.networks or NAMES:
        path = pathlib.Path(network)
        model = path if path.suffix == ".onnx" else exported_network(network) / "model.onnx"
        with tempfile.TemporaryDirectory() as scratch:
            forms = forms_of(model, pathlib.Path(scratch), arguments.preprocess)
            least = dict.fromkeys(forms, float("inf"))
            for _ in range(arguments.rounds):
                for name, form in forms.items():
                    least[name] = min(least[name], bench(arguments.tool, form, "--runs", str(arguments.runs))["cpu_ms"])
            for name, form in forms.items():
                profile = run_json(arguments.tool, "profile", form, "--runs", "1", "--json")
                rows.append([path.stem if name == "floats" else "", name, str(profile["dispatches"]),
                             mebibytes(profile["allocated_bytes"]), mebibytes(profile["peak_weights_bytes"]),
                             f"{least[name]:.0f}", f"{least[name] / least['floats']:.2f}"])
            print(*rows[-3:], sep="\n", flush=True)
    titles = ["network", "form", "dispatches", "intermediates, MiB", "weights, MiB", "ms of CPU time", "of floats"]
    if not arguments.networks:
        write_between_marks("quantised.md", "times", table(titles, rows))


main()
