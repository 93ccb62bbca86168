#!/usr/bin/env python3
"""Times networks that tests/backbones.sh exported on the first Vulkan device, with tensors in images and as the device
likes them, beside ONNX Runtime on the CPU, and writes the table between the marks of docs/performance.md anew:
    tests/bench/networks.py BUILD_FOLDER [NETWORK...]
Each round runs all three in turn, so that they meet the same machine; a time is the least of all rounds.
"""
import pathlib
import sys

from tables import ROOT, exported_network, run_json, table, write_between_marks

NETWORKS = ["squeezenet1_1", "mobilenet_v2", "mobilenet_v3_large", "shufflenet_v2_x1_0", "mnasnet1_0", "efficientnet_b0",
            "resnet18", "resnet50", "googlenet", "mobilenet_v1", "yolov4_tiny"]
ROUNDS, RUNS = 2, 10
TITLES = ["network", "GMAC", "images, ms", "auto, ms", "images / auto", "CPU ms", "GF/s", "dispatches", "pipelines",
          "first, no cache, ms", "first, warm, ms", "ONNX Runtime CPU, ms"]


def least(results):
    return {key: min(result[key] for result in results) for key in ("min_ms", "cpu_ms", "load_ms", "first_ms") if key in results[0]}


def measure(tool, model):
    images, chosen, peer = [], [], []
    for _ in range(ROUNDS):
        images.append(run_json(tool, "bench", model, "--runs", str(RUNS), "--storage", "image2d", "--json"))
        chosen.append(run_json(tool, "bench", model, "--runs", str(RUNS), "--json"))
        peer.append(run_json("node", ROOT / "tests/bench/time_onnxruntime.mjs", model, str(RUNS)))
    cold = [run_json(tool, "bench", model, "--runs", "1", "--warm-up", "0", "--cache", "", "--json", MESA_SHADER_CACHE_DISABLE="1")
            for _ in range(ROUNDS)]
    return images, chosen, peer, cold


def cells_of(tool, name, model):
    images, chosen, peer, cold = measure(tool, model)
    macs = run_json(tool, "inspect", model, "--json")["macs"]
    in_images, best, first = least(images), least(chosen), least(cold)
    return [name, f"{macs / 1e9:.2f}", f"{in_images['min_ms']:.1f}", f"{best['min_ms']:.1f}",
            f"{in_images['min_ms'] / best['min_ms']:.2f}", f"{best['cpu_ms']:.1f}", f"{2e-6 * macs / best['min_ms']:.1f}",
            str(chosen[0]["dispatches"]), str(chosen[0]["pipelines"]), f"{first['load_ms'] + first['first_ms']:.0f}",
            f"{best['load_ms'] + best['first_ms']:.0f}", f"{least(peer)['min_ms']:.1f}"]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tool = pathlib.Path(sys.argv[1]) / "samples/cli/vellum"
    rows = []
    for name in sys.argv[2:] or NETWORKS:
        rows.append(cells_of(tool, name, exported_network(name) / "model.onnx"))
        print(*rows[-1], file=sys.stderr)
    write_between_marks("performance.md", "networks", table(TITLES, rows))


if __name__ == "__main__":
    main()
