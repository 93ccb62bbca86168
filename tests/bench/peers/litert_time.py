"""Times LiteRT's CompiledModel on a TFLite file as the other programs of this folder time their engines; timing.hpp says how to
call it and what it prints. Run it with a Python that has ai-edge-litert.
    litert_time.py MODEL INPUT.f32 OUTPUT.f32 RUNS SHAPE [--cpu | --fp16]
    litert_time.py MODEL --shape
The GPU accelerator computes in fp32, with --fp16 in fp16; --cpu takes the CPU's kernels instead. A model that the accelerator
does not take whole is an error. --shape prints the shape of the only input.
"""
import argparse
import ctypes
import json
import os
import sys
import time

import numpy
from ai_edge_litert.compiled_model import CompiledModel
from ai_edge_litert.hardware_accelerator import HardwareAccelerator
from ai_edge_litert.options import GpuOptions, Options


def layer_bytes(function):
    path = os.environ.get("VELLUM_MEMORY_LAYER")
    if not path:
        return 0
    count = getattr(ctypes.CDLL(path), function)
    count.restype = ctypes.c_uint64
    return count()


class Inference:
    def __init__(self, path, on_cpu, fp16=False):
        accelerator = HardwareAccelerator.CPU if on_cpu else HardwareAccelerator.GPU
        options = Options(hardware_accelerators=accelerator, gpu_options=GpuOptions(enforce_f32=not fp16))
        self.model = CompiledModel.from_file(path, options=options)
        if not on_cpu and not self.model.is_fully_accelerated():
            sys.exit("the accelerator does not take all operators")
        signature = next(iter(self.model.get_signature_list()))
        names = self.model.get_signature_list()[signature]
        self.input_shape = self.model.get_input_tensor_details(signature)[names["inputs"][0]]["shape"]
        details = self.model.get_output_tensor_details(signature)
        self.sizes = [(name, int(numpy.prod(details[name]["shape"]))) for name in names["outputs"]]
        self.inputs, self.outputs = self.model.create_input_buffers(0), self.model.create_output_buffers(0)

    def run(self, values):
        self.inputs[0].write(values)
        self.model.run_by_index(0, self.inputs, self.outputs)
        return {name: buffer.read(size, numpy.float32) for (name, size), buffer in zip(self.sizes, self.outputs)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("words", nargs="*", metavar="INPUT.f32 OUTPUT.f32 RUNS SHAPE")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--fp16", action="store_true")
    parser.add_argument("--shape", action="store_true")
    arguments = parser.parse_args()
    start = time.perf_counter()
    inference = Inference(arguments.model, arguments.cpu or arguments.shape, arguments.fp16)
    if arguments.shape:
        return print("x".join(map(str, inference.input_shape)))
    source, target, runs, shape = arguments.words
    values = numpy.fromfile(source, numpy.float32).reshape([int(length) for length in shape.split("x")])
    loaded = time.perf_counter()
    outputs = inference.run(values)
    first = time.perf_counter() - loaded
    numpy.concatenate([outputs[name].ravel() for name in sorted(outputs)]).tofile(target)
    loaded_bytes = layer_bytes("vellum_allocated_bytes")
    inference.run(values)
    times, cpu = [], time.process_time()
    for _ in range(int(runs)):
        begin = time.perf_counter()
        inference.run(values)
        times.append(1e3 * (time.perf_counter() - begin))
    cpu = 1e3 * (time.process_time() - cpu) / int(runs)
    times.sort()
    print(json.dumps({"min_ms": times[0], "median_ms": times[len(times) // 2], "cpu_ms": cpu, "load_ms": 1e3 * (loaded - start),
                      "first_ms": 1e3 * first, "loaded_bytes": loaded_bytes, "peak_bytes": layer_bytes("vellum_peak_bytes")}))


main()
