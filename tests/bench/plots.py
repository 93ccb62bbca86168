"""Plots for docs/images. Needs Debian's python3-matplotlib."""

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.fonttype"] = "none"
matplotlib.rcParams["svg.hashsalt"] = "vellum"  # the same file for the same figures

from matplotlib import pyplot, ticker  # noqa: E402: after the choice of how to draw

from tables import ROOT


def save(figure, name, top=1):
    """As docs/images/NAME; above the share `top` of its height there is room for a legend."""
    figure.tight_layout(rect=(0, 0, 1, top))
    figure.savefig(ROOT / "docs/images" / name, metadata={"Date": None})


__all__ = ["pyplot", "save", "ticker"]
