#!/usr/bin/python3
"""Times Vellum and other engines on the same networks on the first Vulkan device, fp32, one image at a time, puts the figures
into docs/benchmarks/peers.json, beside those of networks that are not named, and writes the table between the marks of
docs/benchmarks/performance.md anew:
    tests/bench/peers.py BUILD_FOLDER [--ncnn PREFIX] [--mnn-images PREFIX] [--mnn-buffers PREFIX] [NETWORK...]
A PREFIX is where an engine is installed, with its converters, headers and libraries in bin/, include/ and lib/; an engine
that is not named is left out. ncnn: built with NCNN_VULKAN; onnx2ncnn and ncnnoptimize in bin/. MNN: built with
MNN_VULKAN and MNN_BUILD_CONVERTER, and MNN_VULKAN_IMAGE on or off. BUILD_FOLDER has the target vellum_time.

NETWORK: one that tests/backbones.sh exported (default batch and size), vit_b_16_384 (vit_b_16 with --size 384 --opset 13), or
blazeface. All engines take the same graph, after ONNX Runtime computed what does not depend on the input (fold_onnx.mjs);
their outputs are compared with those of ONNX Runtime. Each round runs all engines in turn, a process each, so that they meet
the same machine; a time is the least of all rounds. Times are from floats in host memory to floats in host memory.

    tests/bench/peers.py BUILD_FOLDER --litert PYTHON [MODEL...]
compares Vellum with LiteRT's GPU accelerator (ML Drift) on the TFLite models of `./setup.sh models`, or those named, in fp32 on
the driver that VK_ICD_FILENAMES names, and writes docs/benchmarks/litert.json and that driver's table of docs/benchmarks/litert.md.
BUILD_FOLDER has the targets vellum_time and vellum-cli.
PYTHON has ai-edge-litert 2.3.0 and numpy. Both engines run in turns; figures are medians of the rounds, and outputs are
compared with LiteRT's kernels for CPUs. A layer counts the device memory (peers/memory_layer.cpp).
"""
import argparse
import datetime
import json
import math
import os
import pathlib
import subprocess
import sys

import numpy

import litert_peer
import onnx_runtime
from tables import ROOT, cache_folder, exported_network, table, write_between_marks

BENCH = ROOT / "tests/bench"
FIGURES = ROOT / "docs/benchmarks/peers.json"
NETWORKS = ["squeezenet1_1", "mobilenet_v2", "mobilenet_v3_large", "shufflenet_v2_x1_0", "mnasnet1_0", "efficientnet_b0",
            "resnet18", "resnet50", "googlenet", "blazeface", "mobilenet_v1", "yolov4_tiny", "vit_b_16_384"]
# Networks in another size or operator set than the others. ncnn decomposes normalisations as before set 17.
VARIANTS = {"vit_b_16_384": ("vit_b_16", {"size": 384, "opset": 13})}
LARGEST_ERROR = 1e-3  # of max(1, |reference|); what is farther off counts as wrong


class Failure(Exception):
    """An engine that cannot convert or run a network."""


def run(*command, **environment):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600,
                          env={**os.environ, **{key: str(value) for key, value in environment.items()}})
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or [f"exit status {done.returncode}"]
        raise Failure(f"{pathlib.Path(command[0]).name}: {lines[-1]}")
    return done.stdout


class Network:
    """The folded graph, an input, and what ONNX Runtime computes of it."""

    def __init__(self, name, folder):
        self.name, self.folder = name, folder / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.model, self.input = self.folder / "folded.onnx", self.folder / "input.f32"
        model, values = self.source()
        run("node", BENCH / "fold_onnx.mjs", model, self.model)
        numpy.save(self.folder / "input.npy", values)
        values.tofile(self.input)
        self.shape = "x".join(map(str, values.shape))
        outputs = json.loads(run("node", ROOT / "tests/oracles/onnxruntime.mjs", model, "--input", self.folder / "input.npy",
                                 "--out", self.folder / "reference"))["outputs"]
        self.reference = self.joined(outputs)

    def source(self):
        if self.name == "blazeface":
            reference = cache_folder() / "references/blazeface_front"
            return cache_folder() / "models/face_detection_front_128x128_barracuda.onnx", numpy.load(reference / "input.npy")
        name, variant = VARIANTS.get(self.name, (self.name, {}))
        folder = exported_network(name, **variant)
        return folder / "model.onnx", numpy.load(folder / "input.npy")

    def joined(self, outputs):
        files = [self.folder / "reference" / output["file"] for output in sorted(outputs, key=lambda output: output["name"])]
        return numpy.concatenate([numpy.load(file).ravel() for file in files])

    def error(self, output):
        got = numpy.fromfile(output, numpy.float32)
        if got.shape != self.reference.shape or not numpy.isfinite(got).all():
            return math.inf
        return float((numpy.abs(got - self.reference) / numpy.maximum(1, numpy.abs(self.reference))).max())


class Engine:
    """A program of peers/, after its engine's own converter."""

    def __init__(self, title, program, convert, libraries=None):
        self.title, self.program, self.convert = title, program, convert
        self.environment = {"LD_LIBRARY_PATH": libraries} if libraries else {}

    def time(self, network, model, runs):
        output = network.folder / f"{self.title.replace(' ', '_')}.f32"
        printed = run(self.program, model, network.input, output, runs, network.shape, **self.environment)
        return json.loads(printed.splitlines()[-1])["min_ms"], network.error(output)


def convert_to_ncnn(prefix):
    def convert(network):
        plain, best = (network.folder / f"{stem}.param" for stem in ("plain", "ncnn"))
        run(prefix / "bin/onnx2ncnn", network.model, plain, plain.with_suffix(".bin"))
        run(prefix / "bin/ncnnoptimize", plain, plain.with_suffix(".bin"), best, best.with_suffix(".bin"), 0)
        return best
    return convert


def convert_to_mnn(prefix):
    def convert(network):
        model = network.folder / "model.mnn"
        run(prefix / "bin/MNNConvert", "-f", "ONNX", "--modelFile", network.model, "--MNNModel", model, "--bizCode", "vellum",
            LD_LIBRARY_PATH=prefix / "lib")
        return model
    return convert


def engines(arguments):
    build = arguments.build.resolve()
    programs = build / "peers"
    options = []
    if arguments.ncnn:
        options.append(f"-Dncnn_DIR={arguments.ncnn.resolve() / 'lib/cmake/ncnn'}")
    mnn = arguments.mnn_images or arguments.mnn_buffers
    if mnn:
        options.append(f"-DMNN_PREFIX={mnn.resolve()}")
    run("cmake", "-S", BENCH / "peers", "-B", programs, "-DCMAKE_BUILD_TYPE=Release", *options)
    run("cmake", "--build", programs)
    found = [Engine("Vellum", build / "tests/bench/vellum_time", lambda network: network.model)]
    if arguments.ncnn:
        found.append(Engine("ncnn", programs / "ncnn_time", convert_to_ncnn(arguments.ncnn.resolve())))
    for title, prefix in (("MNN images", arguments.mnn_images), ("MNN buffers", arguments.mnn_buffers)):
        if prefix:
            found.append(Engine(title, programs / "mnn_time", convert_to_mnn(prefix.resolve()), prefix.resolve() / "lib"))
    return found


def measure(network, chosen, providers, rounds, runs):
    """{title: (milliseconds, error)} of the engines that can run the network, and of ONNX Runtime's providers."""
    models, times = {}, {}
    for engine in chosen:
        try:
            models[engine.title] = engine.convert(network)
        except Failure as failure:
            print(f"{network.name}: {engine.title}: {failure}", file=sys.stderr)
    for _ in range(rounds):
        for engine in [engine for engine in chosen if engine.title in models]:
            try:
                taken = engine.time(network, models[engine.title], runs)
                times.setdefault(engine.title, []).append(taken)
            except Failure as failure:
                print(f"{network.name}: {engine.title}: {failure}", file=sys.stderr)
                del models[engine.title]
        for provider in providers:
            taken = onnx_runtime.least_milliseconds(network.model, runs, provider), 0.0
            times.setdefault(onnx_runtime.TITLES[provider], []).append(taken)
    return {title: (min(time for time, _ in taken), max(error for _, error in taken)) for title, taken in times.items()}


def cell(result, compared):
    if result is None:
        return "–"
    milliseconds, error = result["min_ms"], result["error"]
    if not compared:
        return f"{milliseconds:.1f}"
    if error is None:
        return f"{milliseconds:.1f} (wrong: not finite)"
    accuracy = f"{error:.0e}" if error <= LARGEST_ERROR else f"wrong: {error:.1g}"
    return f"{milliseconds:.1f} ({accuracy})"


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def write_table(figures):
    """Of {network: {"date": day, "engines": {title: {"min_ms": time, "error": error}}}}."""
    networks = {name: figures[name]["engines"] for name in dict.fromkeys([*NETWORKS, *figures]) if name in figures}
    runtimes = [title for title in onnx_runtime.TITLES.values() if any(title in taken for taken in networks.values())]
    engines = list(dict.fromkeys(title for taken in networks.values() for title in taken if title not in runtimes))
    peers = [title for title in engines if title != "Vellum"]
    ratios = {peer: {name: taken[peer]["min_ms"] / taken["Vellum"]["min_ms"] for name, taken in networks.items() if peer in taken}
              for peer in peers}
    titles = ["network", *(f"{title}, ms (error)" for title in engines), *(f"{title}, ms" for title in runtimes),
              *(f"{peer} / Vellum" for peer in peers)]
    rows = [[name, *(cell(taken.get(title), True) for title in engines), *(cell(taken.get(title), False) for title in runtimes),
             *(f"{ratios[peer][name]:.2f}" if name in ratios[peer] else "–" for peer in peers)] for name, taken in networks.items()]
    rows.append(["geometric mean", *[""] * (len(engines) + len(runtimes)),
                 *(f"{geometric_mean(ratios[peer].values()):.2f}" for peer in peers)])
    write_between_marks("performance.md", "peers", table(titles, rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    for engine in ("--ncnn", "--mnn-images", "--mnn-buffers"):
        parser.add_argument(engine, type=pathlib.Path, metavar="PREFIX")
    parser.add_argument("--litert", type=pathlib.Path, metavar="PYTHON")
    parser.add_argument("--rounds", type=int, help="2 by default, with --litert 5")
    parser.add_argument("--runs", type=int, default=10, help="timed inferences of each round")
    parser.add_argument("networks", nargs="*", metavar="NETWORK")
    arguments = parser.parse_intermixed_args()
    if arguments.litert:
        return litert_peer.compare(arguments.build.resolve(), arguments.litert, arguments.networks, arguments.rounds or 5,
                                   arguments.runs)
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    try:
        chosen = engines(arguments)
        networks = [Network(name, arguments.build.resolve() / "peers/models") for name in arguments.networks or NETWORKS]
        providers = onnx_runtime.usable_providers(networks[0].model)
        for network in networks:
            taken = measure(network, chosen, providers, arguments.rounds or 2, arguments.runs)
            print(network.name, {title: f"{time:.1f} ms, error {error:.0e}" for title, (time, error) in taken.items()},
                  file=sys.stderr)
            figures[network.name] = {"date": datetime.date.today().isoformat(), "engines": {
                title: {"min_ms": time, "error": error if math.isfinite(error) else None} for title, (time, error) in taken.items()}}
            FIGURES.write_text(json.dumps(figures, indent=1) + "\n")
    except Failure as failure:
        sys.exit(f"peers.py: {failure}")
    write_table(figures)


main()
