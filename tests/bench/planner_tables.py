#!/usr/bin/python3
"""Plans the six networks of arXiv 2001.03288 with every strategy and writes the tables between the markers of
docs/benchmarks/planner.md anew:
    tests/bench/planner_tables.py BUILD_FOLDER
"""

import json
import pathlib
import subprocess
import sys

from tables import ROOT, mebibytes, table, write_between_marks

NETWORKS = ["mobilenet_v1", "mobilenet_v2", "deeplab_v3", "inception_v3", "posenet", "blazeface"]


def plan_networks(build):
    program = pathlib.Path(build) / "planner/cli/vellum-plan"
    plans = {}
    for network in NETWORKS:
        records = ROOT / "tests/data/records" / f"{network}.csv"
        output = subprocess.run([program, records, "--json"], check=True, capture_output=True, text=True)
        plans[network] = json.loads(output.stdout)
    return plans


def cell(plan, smallest):
    text = mebibytes(plan["total_bytes"], 3)
    if plan["total_bytes"] == smallest:
        text = f"**{text}**"
    return text + (" =" if plan["proved_optimal"] else "")


def totals(plans, mode):
    of_network = {
        network: {plan["strategy"]: plan for plan in report["plans"] if plan["mode"] == mode}
        for network, report in plans.items()
    }
    rows = []
    for strategy in of_network[NETWORKS[0]]:
        cells = [f"`{strategy}`"]
        for network in NETWORKS:
            smallest = min(plan["total_bytes"] for plan in of_network[network].values())
            cells.append(cell(of_network[network][strategy], smallest))
        rows.append(cells)
    bound = f"{mode}_lower_bound_bytes"
    rows.append(["lower bound", *(mebibytes(plans[network][bound], 3) for network in NETWORKS)])
    return table([f"{mode}, MiB", *NETWORKS], rows)


def counts(plans):
    rows = []
    for network, report in plans.items():
        best = {plan["mode"]: plan for plan in report["plans"] if plan["strategy"] == "best"}
        naive = report["naive_bytes"]
        rows.append(
            [
                network,
                str(len(best["objects"]["assignment"])),
                f"{best['objects']['object_count']} objects",
                f"{naive / best['objects']['total_bytes']:.1f}",
                f"{naive / best['offsets']['total_bytes']:.1f}",
            ]
        )
    return table(["network", "tensors", "`best`, objects", "naive / objects", "naive / offsets"], rows)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    plans = plan_networks(sys.argv[1])
    text = "\n".join([totals(plans, "objects"), totals(plans, "offsets"), counts(plans)])
    write_between_marks("planner.md", "planner tables", text)


if __name__ == "__main__":
    main()
