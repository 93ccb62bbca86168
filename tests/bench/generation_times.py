#!/usr/bin/env python3
"""Times a step of one token of Llama's shape in Vellum and in ONNX Runtime's CPU provider, in fp32 and with weights of 4 bits.

    tests/bench/generation_times.py FOLDER [--size 200m] [--past 255] [--steps 20] [--rounds 3]

Needs onnxruntime, onnx and the Python package of Vellum; `VK_DRIVER_FILES` chooses the driver. Writes the networks with
llama_network.py. Each engine runs in a process of its own with one thread and with two (lavapipe: LP_NUM_THREADS), in turns, and
the least CPU and wall time of a step counts. Caches are state in Vellum, and inputs and outputs in ONNX Runtime. onnxruntime8
rounds activations to 8 bits (`accuracy_level` 4).
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


def timed(step, count):
    """Milliseconds of CPU and wall time of the fastest of `count` steps after two others."""
    best = [float("inf")] * 2
    for i in range(count + 2):
        begin = time.process_time(), time.perf_counter()
        step()
        now = time.process_time() - begin[0], time.perf_counter() - begin[1]
        if i >= 2:
            best = [min(a, 1e3 * b) for a, b in zip(best, now)]
    return best


def vellum_step(path):
    import numpy as np
    import vellum
    session = vellum.Session(str(path), state="auto")
    token = {"tokens": np.array([[7]], np.int64)}
    return lambda: session.run(token)["logits.y"]


def onnxruntime_step(path, threads, accuracy):
    import numpy as np
    import onnx
    import onnxruntime
    model = onnx.load(path, load_external_data=False)
    for node in model.graph.node:
        if node.op_type == "MatMulNBits":
            node.attribute.append(onnx.helper.make_attribute("accuracy_level", accuracy))
    chosen = path.with_name(f"{path.stem}_{accuracy}.onnx")
    onnx.save(model, chosen)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(chosen), options, providers=["CPUExecutionProvider"])
    inputs = {value.name: np.zeros(value.shape, np.float32) for value in session.get_inputs() if value.name != "tokens"}
    inputs["tokens"] = np.array([[7]], np.int64)
    return lambda: session.run(None, inputs)


def measure(engine, path, threads, steps):
    """In this process."""
    step = vellum_step(path) if engine == "vellum" else onnxruntime_step(path, threads, 4 if engine == "onnxruntime8" else 1)
    print(json.dumps(timed(step, steps)))


def measured(engine, path, threads, options):
    command = [sys.executable, __file__, str(path.parent), "--measure", engine, str(path), str(threads), "--steps",
               str(options.steps)]
    environment = os.environ | {"LP_NUM_THREADS": str(threads)}
    output = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(output.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--size", default="200m")
    parser.add_argument("--past", type=int, default=255)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        return measure(options.measure[0], pathlib.Path(options.measure[1]), int(options.measure[2]), options.steps)
    options.folder.mkdir(parents=True, exist_ok=True)
    print("| weights | engine | threads | CPU time | wall time |\n| --- | --- | ---: | ---: | ---: |")
    for bits, engines in ((32, ("vellum", "onnxruntime")), (4, ("vellum", "onnxruntime", "onnxruntime8"))):
        path = options.folder / f"{options.size}_{bits}.onnx"
        if not path.exists():
            subprocess.run([sys.executable, HERE / "llama_network.py", path, "--size", options.size, "--bits", str(bits),
                            "--block", "32", "--past", str(options.past), "--fixed-caches"], check=True,
                           stdout=subprocess.DEVNULL)
        best = {}
        for _ in range(options.rounds):
            for engine in engines:
                for threads in (1, 2):
                    times = measured(engine, path, threads, options)
                    key = engine, threads
                    best[key] = [min(a, b) for a, b in zip(best.get(key, times), times)]
        for (engine, threads), (cpu, wall) in best.items():
            print(f"| {'fp32' if bits == 32 else '4 bits'} | {engine} | {threads} | {cpu:.1f} ms | {wall:.1f} ms |", flush=True)


if __name__ == "__main__":
    main()
