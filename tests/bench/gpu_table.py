#!/usr/bin/python3
"""Times networks of torchvision on a GPU: Vellum, PyTorch with CUDA where there is a CUDA device, and ncnn's Vulkan backend where
its Python package is installed. Writes the figures to docs/benchmarks/gpus.json and its tables to docs/benchmarks/gpus.md.

    tests/bench/gpu_table.py BUILD_FOLDER --out FOLDER [--ncnn-params FOLDER] [--write] [NETWORK...]
    tests/bench/gpu_table.py --from docs/benchmarks/gpus.json --write

Run it with a Python that has torch, torchvision and onnx. Networks are exported to FOLDER with seeded weights (opset 17, one
picture of 224 x 224). Vellum's figure is the device's time of an inference, the least and the median of 60 (`vellum bench`); its
error is the largest difference from torch in double, divided by the largest output, on one input (`vellum run`). PyTorch is timed
with channels last, without TF32, with cuDNN's benchmark: `eager` calls on the host's clock, a CUDA graph by events. ncnn takes
networks of the same names from --ncnn-params (its repository's benchmark/models), with weights of zero, and its time includes the
copies of input and output.
"""
import argparse
import json
import pathlib
import statistics
import tempfile
import time
import warnings

from tables import ROOT, bench, run_json, table, write_between_marks

NETWORKS = ["squeezenet1_1", "mobilenet_v2", "efficientnet_b0", "resnet18", "resnet50", "convnext_tiny", "swin_t", "vit_b_16"]
NCNN_NAMES = {"squeezenet1_1": "squeezenet"}
FIGURES = ROOT / "docs/benchmarks/gpus.json"
PRECISIONS = ["fp32", "fp16"]


def network_of(name):
    import torch
    import torchvision
    torch.manual_seed(1)
    return getattr(torchvision.models, name)(weights=None).eval(), torch.randn(1, 3, 224, 224)


def export(name, folder):
    """Leaves NAME.onnx, its input and torch's output in double in the folder."""
    import numpy
    import torch
    path = folder / f"{name}.onnx"
    if path.exists():
        return path
    network, x = network_of(name)
    with torch.no_grad():
        y = network.double()(x.double()).float()
    network.float()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(network, x, path, input_names=["x"], output_names=["y"], opset_version=17, dynamo=False)
    numpy.save(folder / f"{name}.x.npy", x.numpy())
    numpy.save(folder / f"{name}.y.npy", y.numpy())
    return path


def error_of(tool, path, *options):
    import numpy
    with tempfile.TemporaryDirectory() as scratch:
        run_json(tool, "run", path, "-i", f"x={path.with_suffix('.x.npy')}", "-o", scratch, *options, "--json")
        got = numpy.load(pathlib.Path(scratch) / "y.npy")
    want = numpy.load(path.with_suffix(".y.npy"))
    largest = float(abs(want).max())
    # Seeded networks without normalisation to their data fade out: halves cannot hold outputs like these.
    return float(abs(got - want).max()) / largest if largest > 1e-3 else None


def vellum_times(tool, path, precision):
    options = ["--precision", precision]
    times = bench(tool, path, *options, "--runs", "60")
    return times["device"], {"min_ms": times["min_ms"], "median_ms": times["median_ms"], "error": error_of(tool, path, *options)}


def torch_times(name, precision):
    """The figures of CUDA's device; None without one."""
    import torch
    if not torch.cuda.is_available():
        return None
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    network, x = network_of(name)
    kind = torch.float16 if precision == "fp16" else torch.float32
    network = network.cuda().to(kind).to(memory_format=torch.channels_last)
    x = x.cuda().to(kind).contiguous(memory_format=torch.channels_last)

    def on_the_hosts_clock():
        begin = time.perf_counter()
        network(x)
        torch.cuda.synchronize()
        return 1e3 * (time.perf_counter() - begin)

    with torch.no_grad():
        eager = [on_the_hosts_clock() for _ in range(35)][5:]
        graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            network(x)
        torch.cuda.current_stream().wait_stream(stream)
        with torch.cuda.graph(graph):
            network(x)
        replays = []
        for _ in range(50):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            replays.append(begin.elapsed_time(end))
    return {"eager_ms": statistics.median(eager), "graph_ms": statistics.median(replays)}


def ncnn_times(name, precision, params):
    """The figures of ncnn's first Vulkan device; None without the package or the network."""
    path = params / f"{NCNN_NAMES.get(name, name)}.param" if params else None
    if not path or not path.exists():
        return None
    import ncnn
    import numpy
    network = ncnn.Net()
    network.opt.use_vulkan_compute = True
    if precision == "fp32":
        for option in ["use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic", "use_fp16_uniform", "use_bf16_storage",
                       "use_bf16_packed"]:
            if hasattr(network.opt, option):
                setattr(network.opt, option, False)
    network.load_param(str(path))
    network.load_model(ncnn.DataReaderFromEmpty())
    side = 227 if name.startswith("squeezenet") else 224
    x, times = ncnn.Mat(numpy.full((3, side, side), 0.01, numpy.float32)), []
    for _ in range(40):
        begin = time.perf_counter()
        extractor = network.create_extractor()
        extractor.input(network.input_names()[0], x)
        extractor.extract(network.output_names()[0])
        times.append(1e3 * (time.perf_counter() - begin))
    return {"ms": statistics.median(times[5:])}


def write(figures):
    def cell(row, engine, key):
        return f"{row[engine][key]:.3f}" if row.get(engine) else "–"

    titles = ["network", "precision", "Vellum, median ms", "least", "PyTorch, CUDA graph", "PyTorch, eager", "ncnn, with copies",
              "Vellum's error"]
    for device, rows in figures.items():
        lines = []
        for row in rows:
            error = row["vellum"]["error"]
            lines.append([row["network"], row["precision"], cell(row, "vellum", "median_ms"), cell(row, "vellum", "min_ms"),
                          cell(row, "torch", "graph_ms"), cell(row, "torch", "eager_ms"), cell(row, "ncnn", "ms"),
                          f"{error:.0e}" if error is not None else "–"])
        write_between_marks("gpus.md", device, table(titles, lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path)
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--ncnn-params", type=pathlib.Path)
    parser.add_argument("--from", dest="figures", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_intermixed_args()
    if arguments.figures:
        return write(json.loads(arguments.figures.read_text()))
    if not arguments.build or not arguments.out:
        parser.error("a build folder and --out are needed")
    arguments.out.mkdir(parents=True, exist_ok=True)
    tool, device, rows = arguments.build / "tools/vellum/vellum", None, []
    for name in arguments.networks or NETWORKS:
        path = export(name, arguments.out)
        for precision in PRECISIONS:
            device, times = vellum_times(tool, path, precision)
            rows.append({"network": name, "precision": precision, "vellum": times, "torch": torch_times(name, precision),
                         "ncnn": ncnn_times(name, precision, arguments.ncnn_params)})
            print(json.dumps(rows[-1]), flush=True)
    if arguments.write:
        figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
        figures[device] = rows
        FIGURES.write_text(json.dumps(figures, indent=1) + "\n")
        write(figures)


main()
