#!/usr/bin/env python3
"""Times a step of GroupQueryAttention over caches in fp32, 8 and 4 bits in Vellum and in ONNX Runtime's CPU provider.

    tests/bench/integer_cache_times.py [--tokens 1024 8192] [--steps 25]

Needs onnxruntime, onnx and the Python package of Vellum; `VK_DRIVER_FILES` chooses the driver. Both engines run in turns, with one
thread in ONNX Runtime, and update their caches in place. Prints the bytes of the caches and of the intermediate tensors in Vellum,
and the least CPU time of a step. Fails if results or new integers differ.
"""
import argparse
import sys
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import vellum

HEADS, KV_HEADS, WIDTH = 16, 4, 64
FORMS = [(32, "NONE"), (8, "PER_TENSOR"), (8, "PER_CHANNEL"), (4, "PER_TENSOR"), (4, "PER_CHANNEL")]
TYPES = {32: (TensorProto.FLOAT, np.float32, 1), 8: (TensorProto.INT8, np.int8, 1), 4: (TensorProto.UINT8, np.uint8, 2)}


def cache_shape(bits, tokens):
    return [1, KV_HEADS, tokens, WIDTH // TYPES[bits][2]]


def model(bits, kind, tokens):
    value = helper.make_tensor_value_info
    inputs = [value(name, TensorProto.FLOAT, [1, 1, heads * WIDTH]) for name, heads in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS))]
    inputs += [value("last", TensorProto.INT32, [1]), value("total", TensorProto.INT32, [])]
    inputs += [value(f"past.{name}", TYPES[bits][0], cache_shape(bits, tokens)) for name in ("key", "value")]
    outputs = [value("y", TensorProto.FLOAT, [1, 1, HEADS * WIDTH])]
    outputs += [value(f"present.{name}", TYPES[bits][0], cache_shape(bits, tokens)) for name in ("key", "value")]
    names, attributes, scales = ["q", "k", "v", "past.key", "past.value", "last", "total"], {}, []
    if bits < 32:
        shape = (1,) if kind == "PER_TENSOR" else (1, KV_HEADS, 1, WIDTH)
        steps = (1 + np.random.default_rng(1).random(shape)) * (0.02 if bits == 8 else 0.3)
        scales = [numpy_helper.from_array(steps.astype(np.float32), name) for name in ("k_scale", "v_scale")]
        names += [""] * 5 + ["k_scale", "v_scale"]
        attributes = dict(k_quant_type=kind, v_quant_type=kind, kv_cache_bit_width=bits)
    node = helper.make_node("GroupQueryAttention", names, [output.name for output in outputs], domain="com.microsoft",
                            num_heads=HEADS, kv_num_heads=KV_HEADS, **attributes)
    graph = helper.make_graph([node], "attention", inputs, outputs, scales)
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)])


class OrtStep:
    def __init__(self, file, bits, tokens, given):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        self.caches = {}
        for name, array in given.items():
            self.binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
        for name in ("key", "value"):
            numbers = np.random.default_rng(3).integers(0, 256, cache_shape(bits, tokens))
            cache = onnxruntime.OrtValue.ortvalue_from_numpy((numbers - (0 if bits == 4 else 128)).astype(TYPES[bits][1]))
            self.binding.bind_ortvalue_input(f"past.{name}", cache)
            self.binding.bind_ortvalue_output(f"present.{name}", cache)
            self.caches[f"past.{name}"] = cache
        self.binding.bind_output("y")

    def __call__(self):
        self.session.run_with_iobinding(self.binding)
        return self.binding.get_outputs()[2].numpy()


def measure(bits, kind, tokens, steps):
    random = np.random.default_rng(2)
    given = {name: random.standard_normal((1, 1, heads * WIDTH), np.float32)
             for name, heads in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS))}
    given |= {"last": np.array([tokens - 1], np.int32), "total": np.array(tokens, np.int32)}
    file = model(bits, kind, tokens).SerializeToString()
    session, ort = vellum.Session(file, state="auto"), OrtStep(file, bits, tokens, given)
    session.prepare({name: array.shape for name, array in given.items()})
    for name, cache in ort.caches.items():
        session.set_state(name, cache.numpy())
    best, results = [float("inf")] * 2, [None] * 2
    for _ in range(steps):
        for i, step in enumerate((lambda: session.run(given)["y"], ort)):
            begin = time.process_time()
            results[i] = step()
            best[i] = min(best[i], 1e3 * (time.process_time() - begin))
    report = session.memory()
    print(f"| {tokens:,} | {'fp32' if bits == 32 else f'{bits} bits, {kind}'} | {report.state_bytes:,} | {report.allocated_bytes:,} | "
          f"{best[0]:.2f} ms | {best[1]:.2f} ms |", flush=True)
    same = all(np.array_equal(session.state(name), cache.numpy()) for name, cache in ort.caches.items())
    return same and np.abs(results[0] - results[1]).max() <= 1e-4 * np.abs(results[1]).max()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, nargs="+", default=[1024, 8192])
    parser.add_argument("--steps", type=int, default=25)
    options = parser.parse_args()
    print("| tokens | caches | state | intermediates | a step | ONNX Runtime |\n| ---: | --- | ---: | ---: | ---: | ---: |")
    return 0 if all([measure(*form, tokens, options.steps) for tokens in options.tokens for form in FORMS]) else 1


if __name__ == "__main__":
    sys.exit(main())
