#!/usr/bin/python3
"""Dispatches beside heavy layers (convolutions, products, attentions) of networks that export many small operators, for the
limits of Android Baseline 2022. Writes the table between the marks of docs/benchmarks/passes.md anew. Nothing runs.

    PYTHON heavy_layers.py export FOLDER       exports the networks with random weights; PYTHON has torch and timm
    heavy_layers.py table TOOL FOLDER          TOOL is the vellum tool
"""
import collections
import pathlib
import sys

from tables import ROOT, run_json, table, write_between_marks

# Each with the pixels of a side, and whether torch exports it by dynamo.
NETWORKS = {"coat_tiny": (224, False), "csatv2": (160, True), "ghostnetv3_100": (160, False),
            "mobilenetv5_base": (160, False), "nasnetalarge": (160, False), "pvt_v2_b0": (160, False),
            "pvt_v2_b2_li": (160, True), "swinv2_tiny_window8_256": (256, False), "eva02_tiny_patch14_224": (224, True),
            "mixer_b16_224": (224, False), "resmlp_12_224": (224, False), "gmlp_ti16_224": (224, False)}
LAYERS = {"Conv", "ConvTranspose", "Gemm", "MatMul", "Attention", "SeparableConv", "PoolConv", "ConvSqueezeExcite", "ConvMean", "ProductNorm"}
# Shaders that rearrange the operands or the result of a layer, or add its parts.
LIGHT = {"attention_merge", "attention_pack", "matmul_pack", "pack_weights", "squeeze_excite", "strided_copy"}
TITLES = ["network", "heavy layers", "dispatches", "ratio", "MiB of intermediates", "most of the rest"]
CAPS = ROOT / "caps/android_baseline_2022.json"


def export(folder):
    import timm
    import torch
    for name, (size, dynamo) in NETWORKS.items():
        torch.manual_seed(1)
        model = timm.create_model(name, pretrained=False).eval()
        torch.onnx.export(model, torch.randn(1, 3, size, size), str(folder / f"{name}.onnx"), input_names=["x"],
                          output_names=["y"], opset_version=18 if dynamo else 17, dynamo=dynamo)


def is_heavy(task):
    return task.get("op") in LAYERS and task.get("shader") not in LIGHT


def cells(tool, model):
    tasks = run_json(tool, "inspect", model, "--stage", "program", "--caps", CAPS, "--json")["tasks"]
    # A long search, so that a busy machine does not change the figure.
    plan = run_json(tool, "inspect", model, "--stage", "plan", "--caps", CAPS, "--search-ms", "2000", "--json")
    heavy = sum(is_heavy(task) for task in tasks)
    rest = collections.Counter(task.get("op", "copy") for task in tasks if not is_heavy(task))
    most = ", ".join(f"{count} {op}" for op, count in rest.most_common(5))
    return [model.stem, str(heavy), str(len(tasks)), f"{len(tasks) / heavy:.2f}", f"{plan['planned_bytes'] / 2**20:.2f}", most]


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "export":
        return export(pathlib.Path(sys.argv[2]))
    if len(sys.argv) != 4 or sys.argv[1] != "table":
        sys.exit(__doc__)
    rows = [cells(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]) / f"{name}.onnx") for name in NETWORKS]
    write_between_marks("passes.md", "heavy", table(TITLES, rows))


main()
