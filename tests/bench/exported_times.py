#!/usr/bin/python3
"""Times current exports of r3d_18, maxvit_t, SegFormer-B0 and Faster R-CNN beside torch and ONNX Runtime on the CPU, and writes
the table of docs/benchmarks/exports.md.

exported_times.py BUILD_FOLDER --out FOLDER [--rounds N] [--write] [NAME...]

Run it with a Python that has torch and torchvision; with onnxruntime it is timed, too. Weights are seeded
(tests/oracles/export_backbones.py says how), and the result of each network is compared with torch in double before anything
is timed. Each round runs all engines once, in turn, so that they meet the same machine. `before` is Vellum without the passes
that are named in BEFORE.
"""
import argparse
import copy
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import numpy
import torch
import torchvision
from PIL import Image

import tables

sys.path.insert(0, str(tables.ROOT / "tests/oracles"))
import check_detector  # noqa: E402
from compare_backbone import LARGEST_ERROR, distance  # noqa: E402
from export_architecture import randomise_constants  # noqa: E402
from export_backbones import SPREAD, calibrate, crops, randomise  # noqa: E402
from segformer import Segformer  # noqa: E402

DETECTOR = "fasterrcnn_mobilenet_v3_large_320_fpn"
NETWORKS = {"r3d_18": (torchvision.models.video.r3d_18, (3, 16, 112, 112)), "maxvit_t": (torchvision.models.maxvit_t, (3, 224, 224)),
            "segformer_b0": (Segformer, (3, 512, 512)), DETECTOR: (None, (3, 320, 320))}
BEFORE = {"r3d_18": ["volumes_to_frames"], "maxvit_t": ["fuse_attention", "gather_rows", "tokens_to_matrices"],
          "segformer_b0": ["fuse_attention", "gather_rows", "tokens_to_matrices", "transpose_pictures"]}


def picture(photo, shape, generator):
    if len(shape) == 4:
        return crops(photo, shape[1], shape[2], generator).transpose(0, 1)[None]
    return crops(photo, 1, shape[1], generator)


def make(name, photo):
    """The network, and one input as a batch or, of the detector, as the list that it takes."""
    constructor, shape = NETWORKS[name]
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(1)
    if constructor is None:
        with torch.no_grad():
            return check_detector.NETWORKS[name](shape[1], photo, generator), [picture(photo, shape, generator)[0]]
    network = constructor().eval() if constructor is Segformer else constructor(weights=None).eval()
    randomise_constants(network)
    randomise(network)
    calibrate(network, (picture(photo, shape, generator),), SPREAD)
    return network, picture(photo, shape, generator)


def export(name, folder, photo):
    """The network and its input; writes model.onnx and input.npy."""
    network, value = make(name, photo)
    folder.mkdir(parents=True, exist_ok=True)
    is_detector = isinstance(value, list)
    numpy.save(folder / "input.npy", (value[0] if is_detector else value).numpy())
    if not (folder / "model.onnx").exists():
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # remarks on shapes that are taken as constant, as is wanted here
            outputs = list(network(value)[0]) if is_detector else ["output"]
            torch.onnx.export(network, (value,), str(folder / "model.onnx"), opset_version=11 if is_detector else 17,
                              input_names=["input"], output_names=outputs)
    return network, value


def error_of(tool, folder, network, value):
    """The largest difference from torch in double; exits where the results differ."""
    exact = copy.deepcopy(network).double()
    with torch.no_grad(), tempfile.TemporaryDirectory() as scratch:
        subprocess.run([tool, "run", folder / "model.onnx", "-i", f"input={folder / 'input.npy'}", "-o", scratch,
                        "--wait-limit", "900"], check=True, capture_output=True)
        read = lambda output: numpy.load(pathlib.Path(scratch) / f"{output}.npy")
        if isinstance(value, list):
            want = {key: tensor.numpy() for key, tensor in exact([value[0].double()])[0].items()}
            wrong = check_detector.differs({key: read(key) for key in want}, want)
            if wrong:
                sys.exit(f"{folder.name}: {wrong}")
            return max(distance(read(key), want[key]) for key in ("boxes", "scores"))
        error = distance(read("output"), exact(value.double()).numpy())
    if error > LARGEST_ERROR:
        sys.exit(f"{folder.name}: off by {error:.1e}")
    return error


def cores():
    return len(os.sched_getaffinity(0))


def timed(run):
    """(milliseconds, milliseconds of processor time) of one call."""
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return 1e3 * (time.perf_counter() - wall), 1e3 * (time.process_time() - cpu)


def runtime_session(model):
    try:
        import onnxruntime
    except ImportError:
        return None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = cores()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def vellum(tool, folder, *options, warm_up="1"):
    got = tables.bench(tool, folder / "model.onnx", "--runs", "1", "--warm-up", warm_up, "--wait-limit", "900", *options)
    return got["min_ms"], got["cpu_ms"]


def measure(tool, name, folder, photo, rounds):
    network, value = export(name, folder, photo)
    result = {"network": name, "error": error_of(tool, folder, network, value)}
    session = runtime_session(folder / "model.onnx")
    array = numpy.load(folder / "input.npy")
    engines = {"torch": lambda: timed(lambda: network(value)), "vellum": lambda: vellum(tool, folder)}
    if session is not None:
        engines["onnxruntime"] = lambda: timed(lambda: session.run(None, {"input": array}))
    times = {engine: [] for engine in engines}
    with torch.no_grad():
        for engine in ("torch", "onnxruntime"):  # their first runs make plans
            if engine in engines:
                engines[engine]()
        for _ in range(rounds):
            for engine, run in engines.items():
                times[engine].append(run())
    if name in BEFORE:  # once, and r3d_18, which takes a minute, without a run before it
        disabled = [word for one in BEFORE[name] for word in ("--disable-pass", one)]
        times["before"] = [vellum(tool, folder, *disabled, warm_up="0" if name == "r3d_18" else "1")]
    result["times"] = times
    inspected = tables.run_json(tool, "inspect", folder / "model.onnx", "--json")
    result["macs"] = inspected.get("macs", 0)
    return result


def least_and_median(times, which):
    values = [pair[which] for pair in times]
    if len(values) == 1:
        return f"{values[0]:.0f}"
    return f"{min(values):.0f} ({statistics.median(values):.0f})"


def cells(result):
    times = result["times"]
    row = [result["network"], f"{result['error']:.0e}"]
    for engine in ("before", "vellum", "torch", "onnxruntime"):
        for which in (0, 1):
            row.append(least_and_median(times[engine], which) if engine in times else "–")
    least = min(pair[1] for pair in times["vellum"])
    row.append(f"{2e-6 * result['macs'] / least:.1f}" if result["macs"] else "–")
    return row


def main():
    parser = argparse.ArgumentParser(description="Times current exports beside torch and ONNX Runtime on the CPU.")
    parser.add_argument("build", type=pathlib.Path, help="build folder")
    parser.add_argument("names", nargs="*", metavar="NAME", help="networks; all of them if none is named")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of exported networks and results.json")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="replace the table of the page")
    arguments = parser.parse_intermixed_args()
    unknown = set(arguments.names) - set(NETWORKS)
    if unknown:
        parser.error(f"unknown network: {', '.join(sorted(unknown))}")
    torch.set_num_threads(cores())
    tool = arguments.build / "tools/vellum/vellum"
    photo = Image.open(tables.cache_folder() / "photos/astronaut.png").convert("RGB")
    record = arguments.out / "results.json"
    arguments.out.mkdir(parents=True, exist_ok=True)
    results = json.loads(record.read_text()) if record.exists() else {}
    for name in arguments.names or NETWORKS:
        results[name] = measure(tool, name, arguments.out / name, photo, arguments.rounds)
        print(*cells(results[name]), sep="  ", flush=True)
        record.write_text(json.dumps(results, indent=1) + "\n")
    if arguments.write:
        titles = ["network", "error", *(f"{engine}, {unit}" for engine in ("before", "Vellum", "torch", "ONNX Runtime") for unit in ("ms", "CPU ms")),
                  "GF/s of a core"]
        tables.write_between_marks("exports.md", "exports", tables.table(titles, [cells(results[name]) for name in NETWORKS if name in results]))


if __name__ == "__main__":
    main()
