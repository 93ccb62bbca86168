#!/usr/bin/python3
"""Compiles every pipeline of a few networks with the compilers of GPUs that need not be there, and compares what they make of
the kernels with scoreboard.json:
    tests/gpu_compilers/scoreboard.py BUILD_FOLDER [--record] [--gpus NAME,...] [--networks NAME,...]
Fails if a pipeline does not compile, a figure is more than 5% worse than recorded, or kernels spill more; --record writes the
figures anew instead. Also fails if a session, with the image sizes of the GPU's own driver, allocates other memory for tensors
than planned, or if the validation layer has anything to say while it is made and run (with no-op submits). GPUs whose drivers
are not built (`./setup.sh gpu-compilers`) are left out, and networks that are not exported (`tests/backbones.sh --runs 0`).

For each GPU, network, storage and precision:
    efficiency      multiply-adds for each slot of the hot loops' multiplier, an upper bound of the share of the peak; the
                    harmonic mean over the kernels, by their multiply-accumulates. null: the assembly is not read yet
    fmas_per_load   multiply-adds for each load of the hot loops, likewise
    efficiency_90, fmas_per_load_90
                    the least of the kernels that compute 90% of the multiply-accumulates, those with the least left out
    resident        subgroups that a unit holds at a time, the mean by multiply-accumulates
    small           dispatches with fewer subgroups than the GPU runs at a time (8 for each unit)
    spills          registers, or instructions that store them
    pipelines, dispatches
    least_ms        the sum over dispatches of the longer of compute time at the peak rate times the efficiency, and memory
                    time (docs/gpu_compilers.md); launches, barriers and latencies are not in it
    predicted_ms    the sum over dispatches of the times that the performance model predicts, with the efficiency and the
                    steps of the hot loops; a figure that a recorded row lacks is not compared
    compute_ms, memory_ms, latency_ms, overhead_ms
                    what predicted_ms is made of: of each dispatch the longest of the first three, and its launch and barrier
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import machine_code

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FIGURES = HERE / "scoreboard.json"
GPUS = ["navi31", "navi21", "renoir", "a618", "a660", "a740", "intel-tgl", "intel-mtl", "mali-g610", "tu104", "ga102"]
NETWORKS = ["mobilenet_v2", "resnet50", "squeezenet1_1", "efficientnet_b0", "vit_b_16", "yolov4_tiny", "ocr_recognition",
            "blazeface"]
FETCHED = {"ocr_recognition": ("ch_PP-OCRv4_rec_infer.onnx", ["--shape", "x=1x3x48x320"]),
           "blazeface": ("face_detection_front_128x128_barracuda.onnx", [])}
STORAGES = ["image2d", "buffer"]
MIXED = {"a618", "a660", "a740"}  # whose default, auto, is some tensors in images and others in buffers
PRECISIONS = {"fp32": [], "fp16": ["--precision", "fp16", "--arithmetic", "fp16"]}
LARGEST_LOSS = 0.05
SHARES = ["compute_ms", "memory_ms", "latency_ms", "overhead_ms"]
HIGHER_IS_BETTER = ["efficiency", "fmas_per_load", "resident"]
LOWER_IS_BETTER = ["spills", "pipelines", "least_ms", "predicted_ms"]


def cache_folder():
    return pathlib.Path(subprocess.run([ROOT / "setup.sh", "where"], check=True, capture_output=True, text=True).stdout.strip())


def model_of(network, cache):
    """The file and the options that a network needs; None if it is not there."""
    file, options = FETCHED.get(network, (None, []))
    path = cache / "models" / file if file else cache / f"backbones/size_default_batch_1_opset_17/{network}/model.onnx"
    return (path, options) if path.exists() else None


def built_gpus():
    listed = subprocess.run([HERE / "on_gpu.sh", "--list"], check=True, capture_output=True, text=True).stdout
    return [line.split()[0] for line in listed.splitlines() if line.split()[2] == "built"]


def report_of(tool, gpu, model, options):
    """The kernel report and the hot loop of each pipeline; raises RuntimeError with the tool's last line."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([HERE / "on_gpu.sh", gpu, tool, "inspect", model, "--stage", "kernels", "--json", "--cache", "",
                               "--self-check", "off", "--code", folder, *options],
                              capture_output=True, text=True, timeout=1200)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
            raise RuntimeError(lines[-1])
        report = json.loads(done.stdout)
        for number, pipeline in enumerate(report["pipelines"]):
            # Among several executables, one for each width of a subgroup, the driver runs the last, the widest.
            last = pathlib.Path(folder) / f"{number}.{len(pipeline['code']) - 1}.txt"
            # Most of its products are in the loop that loads from memory; the other one filters what is in shared memory, with
            # filters from memory where compilers make no scalars of them.
            loading = pipeline.get("shader") == "conv_expand"
            fmas = 16 * math.prod(int(pipeline["defines"].get(name, 1)) for name in ("TILE_P", "TILE_S", "AHEAD")) if loading else None
            pipeline["hot_loop"] = machine_code.hot_loop(last.read_text(), loading, fmas) if last.exists() else None
    return report


def session_fault(tool, gpu, model, options):
    """Makes and runs a session under the validation layer; returns what is wrong with it, None if nothing."""
    done = subprocess.run([HERE / "on_gpu.sh", gpu, tool, "profile", model, "--json", "--runs", "1", "--cache", "", "--validation",
                           "--self-check", "off", *options], capture_output=True, text=True, timeout=1200)
    if done.returncode != 0:
        return "\n".join(done.stderr.strip().splitlines()[-10:]) or f"exit status {done.returncode}"
    memory = json.loads(done.stdout)
    planned, allocated = memory["planned_bytes"], memory["allocated_bytes"]
    return None if planned == allocated else f"{planned} bytes planned for tensors, {allocated} allocated"


def harmonic(pairs):
    """The mean of figures by weight, of what takes time in proportion to 1 / figure."""
    time = sum(weight / figure for weight, figure in pairs if figure > 0)
    return sum(weight for weight, figure in pairs if figure > 0) / time if time else None


def least_of_most(pairs, share=0.9):
    """The least figure of those with the largest ones whose weights make up the share of all; None without pairs."""
    left = share * sum(weight for weight, _ in pairs)
    for weight, figure in sorted(pairs, key=lambda pair: -pair[1]):
        left -= weight
        if left <= 0:
            return figure
    return None


def predicted_us(dispatch, pipeline):
    """DispatchTime of runtime/cost/dispatch_time.cpp with figures of the hot loop instead of the tile's model: its longest time
    and which that is, and the overhead."""
    loop = pipeline["hot_loop"]
    efficiency, latency = dispatch["efficiency"], dispatch["latency_us"]
    if loop and dispatch["macs"]:
        # Loads that wait for one another around the loop, as the tool counts them; those of split sums are reduced besides.
        steps = 3 + ("PARTS" in pipeline["defines"]) + dispatch["macs"] / dispatch["invocations"] / loop.fmas
        efficiency = loop.efficiency
        if pipeline.get("shader") in ("conv_separable", "conv_expand") or "GATES" in pipeline["defines"]:
            # Several loops, whose steps the tool knows.
            steps = dispatch["steps"]
        if pipeline.get("shader") == "conv_expand":  # and how much of it the others multiply
            efficiency = min(efficiency, dispatch["efficiency"])
        latency *= steps / dispatch["steps"]
    compute = dispatch["compute_us"] / dispatch["busy"] / efficiency
    times = {"compute_ms": compute, "memory_ms": dispatch["memory_us"], "latency_ms": latency + compute / dispatch["waves"]}
    longest = max(times, key=times.get)
    return times[longest], longest, dispatch["overhead_us"]


def figures(report):
    pipelines, dispatches = report["pipelines"], report["dispatches"]
    products = [(dispatch["macs"], pipelines[dispatch["pipeline"]]) for dispatch in dispatches if dispatch["macs"]]
    loops = [(macs, pipeline["hot_loop"]) for macs, pipeline in products if pipeline["hot_loop"]]
    resident = [(macs, pipeline["code"][-1]["resident_subgroups"]) for macs, pipeline in products
                if pipeline["code"][-1]["resident_subgroups"]]
    rates = report["rates"]
    least, times = 0, dict.fromkeys(SHARES, 0)
    for dispatch in dispatches:
        loop = pipelines[dispatch["pipeline"]]["hot_loop"]
        if rates:
            least += max(dispatch["compute_us"] / (loop.efficiency if loop else 1), dispatch["memory_us"]) / 1e3
            us, longest, overhead = predicted_us(dispatch, pipelines[dispatch["pipeline"]])
            times[longest] += us / 1e3
            times["overhead_ms"] += overhead / 1e3
    return {
        "efficiency": harmonic([(macs, loop.efficiency) for macs, loop in loops]),
        "fmas_per_load": harmonic([(macs, loop.fmas_per_load) for macs, loop in loops]),
        "efficiency_90": least_of_most([(macs, loop.efficiency) for macs, loop in loops]),
        "fmas_per_load_90": least_of_most([(macs, loop.fmas_per_load) for macs, loop in loops]),
        "resident": sum(macs * number for macs, number in resident) / sum(macs for macs, _ in resident) if resident else None,
        "small": sum(0 < dispatch["subgroups"] < 8 * (rates or {}).get("units", 0) for dispatch in dispatches),
        "spills": int(sum(code["spills"] or 0 for pipeline in pipelines for code in pipeline["code"])),
        "pipelines": len(pipelines),
        "dispatches": len(dispatches),
        "least_ms": least if rates else None,
        "predicted_ms": sum(times.values()) if rates else None,
        **(times if rates else dict.fromkeys(SHARES)),
    }


def rounded(values):
    return {key: float(f"{value:.3g}") if isinstance(value, float) else value for key, value in values.items()}


def losses(now, before):
    for key in HIGHER_IS_BETTER:
        if before.get(key) and (now[key] or 0) < before[key] * (1 - LARGEST_LOSS):
            yield f"{key} {now[key]} was {before[key]}"
    for key in LOWER_IS_BETTER:
        if before.get(key) is not None and (now[key] if now[key] is not None else math.inf) > before[key] * (1 + LARGEST_LOSS):
            yield f"{key} {now[key]} was {before[key]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--record", action="store_true", help="write scoreboard.json instead of comparing with it")
    parser.add_argument("--gpus", default=",".join(GPUS))
    parser.add_argument("--networks", default=",".join(NETWORKS))
    arguments = parser.parse_args()
    tool = arguments.build / "tools/vellum/vellum"
    if not tool.exists():
        sys.exit(f"{tool} is not there: build the target vellum-cli")
    cache, built = cache_folder(), built_gpus()
    if not built:
        print("scoreboard: no driver is built, nothing is compared; ./setup.sh gpu-compilers builds them")
        return 0
    recorded = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    failures = compared = 0
    for gpu in arguments.gpus.split(","):
        if gpu not in built:
            print(f"{gpu}: left out, its driver is not built")
            continue
        for network in arguments.networks.split(","):
            found = model_of(network, cache)
            if not found:
                print(f"{network}: left out, it is not exported")
                continue
            model, options = found
            for precision, precision_options in PRECISIONS.items():
                for storage in STORAGES + ["auto"] * (gpu in MIXED):
                    name = f"{gpu} / {network} / {precision} / {storage}"
                    session_options = [*options, *precision_options, "--storage", storage]
                    try:
                        report = report_of(tool, gpu, model, session_options)
                    except RuntimeError as error:
                        if "shaderFloat16" in str(error):  # the GPU has no fp16 arithmetic
                            continue
                        print(f"FAILED {name}: {error}")
                        failures += 1
                        continue
                    now = rounded(figures(report))
                    compared += 1
                    print(name, " ".join(f"{key}={value}" for key, value in now.items()), flush=True)
                    if fault := session_fault(tool, gpu, model, session_options):
                        print(f"FAILED {name}: {fault}")
                        failures += 1
                    if arguments.record:
                        recorded[name] = now
                    for loss in losses(now, recorded.get(name, {})):
                        print(f"FAILED {name}: {loss}")
                        failures += 1
    if arguments.record:
        rows = [f"{json.dumps(name)}: {json.dumps(recorded[name])}" for name in sorted(recorded)]
        FIGURES.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    print(f"scoreboard: {compared} combinations, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
