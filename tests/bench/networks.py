#!/usr/bin/python3
"""Times networks that tests/backbones.sh exported on the first Vulkan device, with tensors in images and in the storage
that the device prefers, beside ONNX Runtime (on the CPU, and its WebGPU provider where that finds an adapter):
    tests/bench/networks.py BUILD_FOLDER [--json FILE] [NETWORK...]
    tests/bench/networks.py --from FILE
Writes all measurements to docs/benchmarks/networks.json, or FILE, and from it the table between the marks of
docs/benchmarks/performance.md and docs/images/networks.svg; --from does the latter alone. Each round runs all in turn, so that
they meet the same machine; a time is the minimum of all rounds. The plot needs Debian's python3-matplotlib.
"""
import argparse
import datetime
import json
import pathlib
import sys

from onnx_runtime import TITLES, least_milliseconds, usable_providers
from plots import pyplot, save
from tables import ROOT, bench, exported_network, run_json, table, write_between_marks

NETWORKS = ["squeezenet1_1", "mobilenet_v2", "mobilenet_v3_large", "shufflenet_v2_x1_0", "mnasnet1_0", "efficientnet_b0",
            "resnet18", "resnet50", "googlenet", "mobilenet_v1", "yolov4_tiny"]
ROUNDS, RUNS = 2, 10
NO_CACHE = ["--runs", "1", "--warm-up", "0", "--cache", ""]


def least(results):
    """The results of `vellum bench` as one: the minimum of each time; the rest is the same in all."""
    times = ("min_ms", "median_ms", "p95_ms", "cpu_ms")
    figures = {key: min(result[key] for result in results) if key in times else value for key, value in results[0].items()}
    figures["first_result_ms"] = min(result["load_ms"] + result["first_ms"] for result in results)
    return {key: value for key, value in figures.items() if key not in ("load_ms", "first_ms", "device")}


def measure(tool, name, providers):
    model = exported_network(name) / "model.onnx"
    rounds = {"images": [], "auto": [], "no_cache": []}
    peers = {provider: [] for provider in providers}
    for _ in range(ROUNDS):
        rounds["images"].append(bench(tool, model, "--runs", str(RUNS), "--storage", "image2d"))
        rounds["auto"].append(bench(tool, model, "--runs", str(RUNS)))
        for provider, times in peers.items():
            times.append(least_milliseconds(model, RUNS, provider))
    for _ in range(ROUNDS):
        rounds["no_cache"].append(bench(tool, model, *NO_CACHE, MESA_SHADER_CACHE_DISABLE="1"))
    return {"name": name, "macs": run_json(tool, "inspect", model, "--json")["macs"],
            **{way: least(results) for way, results in rounds.items()},
            "onnx_runtime_ms": {provider: min(times) for provider, times in peers.items()}}


def measure_all(build, names):
    tool = pathlib.Path(build) / "tools/vellum/vellum"
    device = run_json(tool, "devices", "--json")["devices"][0]
    providers = usable_providers(exported_network(names[0]) / "model.onnx")
    document = {"date": datetime.date.today().isoformat(), "device": device["name"], "driver": device["driver"], "rounds": ROUNDS,
                "runs": RUNS, "networks": []}
    for name in names:
        document["networks"].append(measure(tool, name, providers))
        print(*cells_of(document["networks"][-1]), file=sys.stderr)
    return document


def cells_of(network):
    images, auto, macs = network["images"], network["auto"], network["macs"]
    return [network["name"], f"{macs / 1e9:.2f}", f"{images['min_ms']:.1f}", f"{auto['min_ms']:.1f}",
            f"{images['min_ms'] / auto['min_ms']:.2f}", f"{auto['cpu_ms']:.1f}", f"{2e-6 * macs / auto['min_ms']:.1f}",
            str(auto["dispatches"]), str(auto["pipelines"]), f"{network['no_cache']['first_result_ms']:.0f}",
            f"{auto['first_result_ms']:.0f}", *(f"{time:.1f}" for time in network["onnx_runtime_ms"].values())]


def write_table(document):
    titles = ["network", "GMAC", "images, ms", "auto, ms", "images / auto", "CPU ms", "GF/s", "dispatches", "pipelines",
              "first, no cache, ms", "first, warm, ms", *(f"{TITLES[provider]}, ms" for provider in document["networks"][0]["onnx_runtime_ms"])]
    figures = f"{document['device']}, {document['driver']}, on {document['date']}:\n\n"
    write_between_marks("performance.md", "networks", figures + table(titles, [cells_of(network) for network in document["networks"]]))


def plot(document):
    networks = document["networks"][::-1]
    bars = {"images": [network["images"]["min_ms"] for network in networks],
            "auto": [network["auto"]["min_ms"] for network in networks],
            "auto, first, warm": [network["auto"]["first_result_ms"] for network in networks],
            "auto, first, no cache": [network["no_cache"]["first_result_ms"] for network in networks]}
    for provider in networks[0]["onnx_runtime_ms"]:
        bars[TITLES[provider]] = [network["onnx_runtime_ms"][provider] for network in networks]
    figure, axes = pyplot.subplots(figsize=(8, 0.55 * len(networks) + 1))
    height = 0.85 / len(bars)
    for i, (label, times) in enumerate(bars.items()):
        axes.barh([n + 0.4 - height * i for n in range(len(networks))], times, height, label=label)
    axes.set_yticks(range(len(networks)), [network["name"] for network in networks], fontsize=8)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("ms, batch 1, fp32")
    axes.margins(y=0.01)
    figure.legend(ncols=len(bars), fontsize=8, loc="upper center")
    save(figure, "networks.svg", top=0.95)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path, metavar="BUILD_FOLDER")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", default=ROOT / "docs/benchmarks/networks.json")
    parser.add_argument("--from", dest="source", type=pathlib.Path, metavar="FILE", help="measure nothing")
    parser.add_argument("networks", nargs="*", metavar="NETWORK")
    arguments = parser.parse_intermixed_args()
    if not arguments.source and not arguments.build:
        parser.error("neither a folder to measure in nor --from")
    if arguments.source:
        document = json.loads(arguments.source.read_text())
    else:
        document = measure_all(arguments.build, arguments.networks or NETWORKS)
        arguments.json.write_text(json.dumps(document, indent=1) + "\n")
    write_table(document)
    plot(document)


if __name__ == "__main__":
    main()
