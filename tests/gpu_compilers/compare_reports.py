#!/usr/bin/python3
"""Says how far the performance model (docs/gpu_compilers.md) was off on the devices of reports, and which rates would correct it.

    compare_reports.py REPORT.json... [--json]

Reports are files of `vellum bench --report` and `vellum doctor --report`; docs/first_gpu.md describes their members. Reports of one
device and driver are taken together. For each kernel the table has the measured and the predicted time of its dispatches, their
ratio, and the ratio that is left when the device's rates are corrected.
"""
import argparse
import json
import math
import sys
from collections import defaultdict
from dataclasses import dataclass, field

VERSION = 1
# A pause before a dispatch that is longer separates two submits, and is no launch.
LONGEST_LAUNCH_US = 100
# What each factor corrects, and the largest factor that is plausible.
FACTORS = ("compute", "memory", "latency", "overhead")
MOST = 50
# Factors that no dispatch depends on stay 1: a factor costs this much for each squared logarithm.
RIDGE = 1e-4


class WrongReport(Exception):
    pass


@dataclass
class Sample:
    """A dispatch whose time was measured."""
    kernel: str
    measured: float  # microseconds, with the pause before it
    predicted: float
    compute: float  # at the kernel's efficiency, with the share of units that are busy
    memory: float
    latency: float
    overhead: float
    waves: float

    def time(self, factors):
        """The model's time at rates that are changed by these factors: runtime/cost/dispatch_time.cpp."""
        compute = self.compute * factors["compute"]
        waiting = self.latency * factors["latency"] + compute / self.waves
        return max(compute, self.memory * factors["memory"], waiting) + self.overhead * factors["overhead"]


@dataclass
class Device:
    """The reports of one device and driver."""
    name: str
    driver: str
    rates: dict | None = None
    samples: list = field(default_factory=list)
    models: set = field(default_factory=set)
    untimed: int = 0
    wrong: list = field(default_factory=list)
    checked: int = 0
    crashes: set = field(default_factory=set)


def read_dispatch(entry, pipelines):
    """A sample; None for a dispatch without a time or a prediction."""
    numbers = [entry[name] for name in ("gpu_us", "predicted_us", "compute_us", "memory_us", "latency_us", "overhead_us")]
    if None in numbers or entry["gpu_us"] <= 0:
        return None
    pause = entry["pause_us"] or 0
    return Sample(kernel=pipelines[entry["pipeline"]]["shader"],
                  measured=entry["gpu_us"] + (pause if pause <= LONGEST_LAUNCH_US else 0), predicted=entry["predicted_us"],
                  compute=entry["compute_us"] / (entry["busy"] or 1) / (entry["efficiency"] or 1), memory=entry["memory_us"],
                  latency=entry["latency_us"], overhead=entry["overhead_us"], waves=entry["waves"] or 1)


def read_reports(documents):
    """Groups the documents, pairs of a name and a parsed file, by device and driver."""
    devices = {}
    for name, document in documents:
        if not isinstance(document, dict) or document.get("report") not in ("bench", "doctor"):
            raise WrongReport(f"{name} is no report of `vellum bench` or `vellum doctor`")
        if document["version"] != VERSION:
            raise WrongReport(f"{name} has version {document['version']}; this program reads version {VERSION}")
        caps = document["caps"]
        device = devices.setdefault((caps["name"], caps["driver"]), Device(caps["name"], caps["driver"]))
        device.crashes.update(document["crashes"])
        if document["report"] == "doctor":
            device.checked += len(document["checks"])
            device.wrong += [check for check in document["checks"] if not check["passed"]]
            continue
        device.rates = document["rates"]
        device.models.add(document["model"])
        samples = [read_dispatch(entry, document["pipelines"]) for entry in document["dispatches"]]
        device.samples += [sample for sample in samples if sample]
        device.untimed += samples.count(None)
    return list(devices.values())


def error(samples, factors):
    """The mean squared logarithm of measured over predicted, weighted by time: a tenth of a network counts as a tenth."""
    total = sum(sample.measured for sample in samples)
    misfit = sum(sample.measured * math.log(sample.measured / sample.time(factors)) ** 2 for sample in samples) / total
    return misfit + RIDGE * sum(math.log(factor) ** 2 for factor in factors.values())


def fit(samples):
    """The factors with the least error: one after the other is changed while that helps, by smaller and smaller steps."""
    factors = dict.fromkeys(FACTORS, 1.0)
    if not samples:
        return factors
    least, step = error(samples, factors), 2.0
    while step > 1.002:
        improved = False
        for name in FACTORS:
            for change in (step, 1 / step):
                tried = {**factors, name: min(MOST, max(1 / MOST, factors[name] * change))}
                found = error(samples, tried)
                if found < least - 1e-12:
                    factors, least, improved = tried, found, True
        if not improved:
            step = math.sqrt(step)
    return factors


def corrected_rates(rates, factors):
    """The rates that the factors amount to: a time that doubles is half of a rate."""
    return {"gigamacs_per_s": rates["gigamacs_per_s"] / factors["compute"],
            "gigabytes_per_s": rates["gigabytes_per_s"] / factors["memory"],
            "latency_ns": rates["latency_ns"] * factors["latency"],
            "launch_us": rates["launch_us"] * factors["overhead"],
            "barrier_us": rates["barrier_us"] * factors["overhead"]}


def kernels(samples, factors):
    """A row for each kernel, the one that takes longest first."""
    groups = defaultdict(list)
    for sample in samples:
        groups[sample.kernel].append(sample)
    rows = []
    for kernel, group in groups.items():
        measured, predicted = sum(s.measured for s in group), sum(s.predicted for s in group)
        corrected = sum(s.time(factors) for s in group)
        logs = [math.log(s.measured / s.predicted) for s in group]
        mean = sum(logs) / len(logs)
        spread = math.exp(math.sqrt(sum((value - mean) ** 2 for value in logs) / len(logs)))
        rows.append({"kernel": kernel, "dispatches": len(group), "measured_us": measured, "predicted_us": predicted,
                     "ratio": measured / predicted, "spread": spread, "corrected_ratio": measured / corrected})
    return sorted(rows, key=lambda row: -row["measured_us"])


def summary(device):
    """What is known of a device, as one JSON object."""
    result = {"device": device.name, "driver": device.driver, "models": sorted(device.models), "crashes": sorted(device.crashes),
              "checked": device.checked, "wrong": device.wrong, "untimed": device.untimed}
    if device.samples:
        factors = fit(device.samples)
        rows = kernels(device.samples, factors)
        measured = sum(row["measured_us"] for row in rows)
        result |= {"measured_us": measured, "ratio": measured / sum(row["predicted_us"] for row in rows),
                   "error": math.exp(math.sqrt(error(device.samples, dict.fromkeys(FACTORS, 1.0)))),
                   "corrected_error": math.exp(math.sqrt(error(device.samples, factors))), "factors": factors,
                   "rates": device.rates, "corrected_rates": corrected_rates(device.rates, factors), "kernels": rows}
    return result


def print_summary(result):
    print(f"{result['device']}, {result['driver']}")
    for crash in result["crashes"]:
        print(f"  a process ended, or the device was lost, while the driver {crash}")
    if result["checked"]:
        print(f"  {len(result['wrong'])} of {result['checked']} kernels are wrong")
    for check in result["wrong"]:
        print(f"  wrong: {check['operation']} {check['kernel']} {check['precision']} {check['storage']}")
    if "kernels" not in result:
        print("  no times\n")
        return
    print(f"  {', '.join(result['models'])}: {result['measured_us'] / 1e3:.3f} ms measured, {result['ratio']:.2f} times the "
          f"prediction; a dispatch is off by a factor of {result['error']:.2f}, with corrected rates by "
          f"{result['corrected_error']:.2f}")
    if result["untimed"]:
        print(f"  {result['untimed']} dispatches have no time")
    known = "known" if result["rates"].get("chip_is_known") else "assumed"
    print(f"  {'rate':16} {known:>10} {'corrected':>10}")
    for name, value in result["corrected_rates"].items():
        print(f"  {name:16} {result['rates'][name]:10.4g} {value:10.4g}")
    print(f"  {'kernel':28} {'dispatches':>10} {'measured us':>12} {'predicted us':>13} {'ratio':>6} {'spread':>7} {'corrected':>10}")
    for row in result["kernels"]:
        print(f"  {row['kernel']:28} {row['dispatches']:10} {row['measured_us']:12.1f} {row['predicted_us']:13.1f} "
              f"{row['ratio']:6.2f} {row['spread']:7.2f} {row['corrected_ratio']:10.2f}")
    print()


def read_file(name):
    try:
        with open(name, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as failure:
        raise WrongReport(f"{name} cannot be read: {failure}") from failure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", nargs="+", metavar="REPORT.json")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    arguments = parser.parse_args()
    try:
        devices = read_reports([(name, read_file(name)) for name in arguments.reports])
    except WrongReport as wrong:
        sys.exit(f"compare_reports.py: {wrong}")
    results = [summary(device) for device in devices]
    if arguments.json:
        print(json.dumps(results, indent=2))
    else:
        for result in results:
            print_summary(result)


if __name__ == "__main__":
    main()
