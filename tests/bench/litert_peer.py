"""Compares Vellum with LiteRT's GPU accelerator on TFLite models, for peers.py --litert."""
import datetime
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy

from tables import ROOT, cache_folder, mebibytes, table, write_between_marks

FIGURES = ROOT / "docs/benchmarks/litert.json"
PROGRAM = ROOT / "tests/bench/peers/litert_time.py"
ENGINES = ("LiteRT", "Vellum")
LEAST = ("cpu_ms", "median_ms", "load_ms")


class Failure(Exception):
    """An engine that cannot load or run a model."""


class Measurement:
    """A model, an input, and what LiteRT's kernels for CPUs compute of it. `layer`: the library of memory_layer.cpp."""

    def __init__(self, path, python, vellum, layer, folder):
        self.path, self.python, self.vellum, self.layer, self.folder = path, python, vellum, layer, folder
        self.shape = self.call(python, PROGRAM, path, "--shape").strip()
        values = numpy.random.default_rng(1).random([int(length) for length in self.shape.split("x")], numpy.float32)
        values.tofile(folder / "input.f32")
        self.time_litert(1, "--cpu")
        self.reference = numpy.fromfile(folder / "output.f32", numpy.float32)

    def call(self, *command, **environment):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=900,
                              env={**os.environ, **{key: str(value) for key, value in environment.items()}})
        if done.returncode != 0:
            lines = [line for line in done.stderr.splitlines() if line and not line.startswith(("INFO", "WARNING", "I0000"))]
            raise Failure((lines or [f"exit status {done.returncode}"])[-1])
        return done.stdout

    def words(self, runs):
        return self.path, self.folder / "input.f32", self.folder / "output.f32", runs, self.shape

    def with_layer(self):
        return {"VK_LAYER_PATH": self.layer.parent, "VK_INSTANCE_LAYERS": "VK_LAYER_VELLUM_memory", "VELLUM_MEMORY_LAYER": self.layer}

    def time_litert(self, runs, *options):
        environment = {} if options else self.with_layer()
        return json.loads(self.call(self.python, PROGRAM, *self.words(runs), *options, **environment).splitlines()[-1])

    def time_vellum(self, runs):
        """Each time with an empty cache folder, as LiteRT has none."""
        with tempfile.TemporaryDirectory() as cache:
            printed = self.call(self.vellum, *self.words(runs), XDG_CACHE_HOME=cache, **self.with_layer())
        return json.loads(printed.splitlines()[-1])

    def error(self):
        got = numpy.fromfile(self.folder / "output.f32", numpy.float32)
        if got.shape != self.reference.shape or not numpy.isfinite(got).all():
            return math.inf
        return float((numpy.abs(got - self.reference) / numpy.maximum(1, numpy.abs(self.reference))).max())


def measure(measurement, rounds, runs):
    """{engine: figures}, the median of all rounds; an engine that fails has the reason alone."""
    taken = {engine: [] for engine in ENGINES}
    failed = {}
    for _ in range(rounds):
        for engine, time in (("LiteRT", measurement.time_litert), ("Vellum", measurement.time_vellum)):
            if engine in failed:
                continue
            try:
                taken[engine].append({**time(runs), "error": measurement.error()})
            except Failure as failure:
                failed[engine] = {"failure": str(failure)}
    return {engine: failed.get(engine) or summary(figures) for engine, figures in taken.items()}


def summary(figures):
    result = {key: float(numpy.median([taken[key] for taken in figures])) for key in LEAST}
    result.update({key: max(int(taken[key]) for taken in figures) for key in ("loaded_bytes", "peak_bytes")})
    error = max(taken["error"] for taken in figures)
    return {**result, "error": error if math.isfinite(error) else None, "rounds": len(figures)}


def models(names):
    folder = cache_folder() / "models"
    return [folder / f"{name}.tflite" for name in names] if names else sorted(folder.glob("*.tflite"))


def ratio(engines, key):
    peer, own = engines["LiteRT"], engines["Vellum"]
    return own[key] / peer[key] if key in peer and key in own and peer[key] > 0 else None


def pair(engines, key, form):
    return " / ".join(form(engines[engine][key]) if key in engines[engine] else "–" for engine in ENGINES)


def driver_of(tool):
    """What the tool calls the driver of the first device, such as "llvmpipe Mesa 22.3.6 (LLVM 15.0.6)"."""
    listed = subprocess.run([str(tool), "devices", "--json"], check=True, capture_output=True, text=True).stdout
    return json.loads(listed)["devices"][0]["driver"].strip()


def write_table(driver, figures):
    """Of the models in `figures`, after the mark with the name of the driver: LiteRT / Vellum in each cell, and the ratios of Vellum to LiteRT."""
    titles = ["model", "CPU ms", "ratio", "wall ms", "ratio", "cold load ms", "MiB after load", "peak MiB", "error", "processes"]
    rows, ratios = [], {"cpu_ms": [], "median_ms": []}
    for name, engines in sorted(figures["models"].items()):
        cells = []
        for key in ratios:
            found = ratio(engines, key)
            ratios[key] += [found] if found else []
            cells += [pair(engines, key, "{:.0f}".format), f"{found:.2f}" if found else "–"]
        rows.append([name, *cells, pair(engines, "load_ms", "{:.0f}".format), pair(engines, "loaded_bytes", mebibytes),
                     pair(engines, "peak_bytes", mebibytes),
                     pair(engines, "error", lambda error: "not finite" if error is None else f"{error:.0e}"),
                     str(max(figures.get("rounds", 0) for figures in engines.values()))])
    means = [math.exp(sum(map(math.log, found)) / len(found)) for found in ratios.values()]
    rows.append(["geometric mean", "", f"{means[0]:.2f}", "", f"{means[1]:.2f}", *[""] * 5])
    write_between_marks("litert.md", f"litert {driver}", table(titles, rows))


def compare(build, python, names, rounds, runs):
    """Measures the models, all by default, and puts them into litert.json and the table beside those that are not named."""
    programs = build / "peers"
    for words in (["cmake", "-S", ROOT / "tests/bench/peers", "-B", programs, "-DCMAKE_BUILD_TYPE=Release"],
                  ["cmake", "--build", programs, "--target", "memory_layer"]):
        subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL)
    driver = driver_of(build / "tools/vellum/vellum")
    name = driver.split()[0]
    drivers = json.loads(FIGURES.read_text())
    figures = drivers.setdefault(name, {"models": {}})
    scratch = pathlib.Path(tempfile.mkdtemp())
    try:
        for path in models(names):
            try:
                measurement = Measurement(path, python, build / "tests/bench/vellum_time", programs / "libmemory_layer.so", scratch)
            except Failure as failure:
                print(f"{path.stem}: {failure}", file=sys.stderr)
                continue
            taken = measure(measurement, rounds, runs)
            print(path.stem, taken, file=sys.stderr)
            figures["models"][path.stem] = taken
            figures.update(driver=driver, date=datetime.date.today().isoformat())
            FIGURES.write_text(json.dumps(drivers, indent=1) + "\n")
    finally:
        shutil.rmtree(scratch)
    write_table(name, figures)
