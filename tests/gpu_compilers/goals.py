#!/usr/bin/python3
"""Prints the rows of scoreboard.json with the storage that a GPU has by default, as a table of Markdown:
    tests/gpu_compilers/goals.py [GPU...]
efficiency and multiply-adds a load of the kernels that compute 90% of a network, what its predicted time is made of in per cent
(compute, memory, latency, launches and barriers), spills and pipelines (scoreboard.py has the definitions)."""
import json
import sys

import scoreboard

IMAGES = {"tu104", "ga102"}


def cells(row):
    shares = " / ".join(f"{100 * row[key] / row['predicted_ms']:.0f}" for key in scoreboard.SHARES)
    return [f"{row['efficiency_90']:.2f}", f"{row['fmas_per_load_90']:.1f}", f"{row['predicted_ms']:.3g}", shares,
            str(row["spills"]), str(row["pipelines"])]


def main():
    rows = json.loads(scoreboard.FIGURES.read_text())
    for gpu in sys.argv[1:] or scoreboard.GPUS:
        storage = "auto" if gpu in scoreboard.MIXED else "image2d" if gpu in IMAGES else "buffer"
        print(f"\n| {gpu}, {storage} | efficiency | F/L | predicted ms | of it, % | spills | pipelines |")
        print("| --- " * 7 + "|")
        for precision in scoreboard.PRECISIONS:
            for network in scoreboard.NETWORKS:
                if row := rows.get(f"{gpu} / {network} / {precision} / {storage}"):
                    print("|", " | ".join([f"{network} {precision}", *cells(row)]), "|")


if __name__ == "__main__":
    main()
