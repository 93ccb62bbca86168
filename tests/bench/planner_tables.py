#!/usr/bin/env python3
"""Plans the six networks of arXiv 2001.03288 with every strategy and writes the tables between the markers of
docs/planner.md anew:
    tests/bench/planner_tables.py BUILD_FOLDER
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NETWORKS = ["mobilenet_v1", "mobilenet_v2", "deeplab_v3", "inception_v3", "posenet", "blazeface"]
BEGIN, END = "<!-- planner tables begin -->\n", "<!-- planner tables end -->\n"


def mebibytes(number):
    return f"{number / 2**20:.3f}"


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def plan_networks(build):
    program = pathlib.Path(build) / "planner/cli/vellum-plan"
    plans = {}
    for network in NETWORKS:
        records = ROOT / "tests/data/records" / f"{network}.csv"
        output = subprocess.run([program, records, "--json"], check=True, capture_output=True, text=True)
        plans[network] = json.loads(output.stdout)
    return plans


def cell(plan, smallest):
    text = mebibytes(plan["total_bytes"])
    if plan["total_bytes"] == smallest:
        text = f"**{text}**"
    return text + (" =" if plan["proved_optimal"] else "")


def table(plans, mode):
    of_network = {
        network: {plan["strategy"]: plan for plan in report["plans"] if plan["mode"] == mode}
        for network, report in plans.items()
    }
    text = row([f"{mode}, MiB", *NETWORKS]) + row(["---"] * (len(NETWORKS) + 1))
    for strategy in of_network[NETWORKS[0]]:
        cells = [f"`{strategy}`"]
        for network in NETWORKS:
            smallest = min(plan["total_bytes"] for plan in of_network[network].values())
            cells.append(cell(of_network[network][strategy], smallest))
        text += row(cells)
    bound = f"{mode}_lower_bound_bytes"
    return text + row(["lower bound", *(mebibytes(plans[network][bound]) for network in NETWORKS)])


def counts(plans):
    text = row(["network", "tensors", "`best`, objects", "naive / objects", "naive / offsets"]) + row(["---"] * 5)
    for network, report in plans.items():
        best = {plan["mode"]: plan for plan in report["plans"] if plan["strategy"] == "best"}
        naive = report["naive_bytes"]
        text += row(
            [
                network,
                str(len(best["objects"]["assignment"])),
                f"{best['objects']['object_count']} objects",
                f"{naive / best['objects']['total_bytes']:.1f}",
                f"{naive / best['offsets']['total_bytes']:.1f}",
            ]
        )
    return text


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    plans = plan_networks(sys.argv[1])
    page = ROOT / "docs/planner.md"
    text = page.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    tables = "\n".join([table(plans, "objects"), table(plans, "offsets"), counts(plans)])
    page.write_text(before + BEGIN + tables + END + after)


if __name__ == "__main__":
    main()
