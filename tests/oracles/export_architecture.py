"""Exports networks of architectures.py with a current torch, by either of its exporters, with what torch computes in double.

The weights are seeded (export_backbones.py says how), so nothing is fetched but the packages torch, torchvision, timm and
onnxscript.
"""
import copy
import json
import warnings

import numpy
import torch
import torchvision
from torch import nn

from compare_backbone import distance
from export_backbones import OnlyOut, SPREAD, calibrate, crops, randomise


class LastFlow(nn.Module):
    """A network of optical flow with its last estimate after two updates."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, first, second):
        return self.network(first, second, num_flow_updates=2)[-1]


def randomise_constants(network):
    """Gives parameters that start as one number (scales of layers, tokens, tables of positions) seeded values."""
    with torch.no_grad():
        for parameter in network.parameters():
            first = parameter.flatten()[0]
            if parameter.numel() > 1 and bool((parameter == first).all()):
                if first == 0:
                    parameter.normal_(0, 0.1)
                elif first == 1:
                    parameter.uniform_(0.6, 1.4)
                else:
                    parameter.uniform_(0.2, 0.6)


def inputs_of(architecture, photo, count, generator):
    """`count` seeded crops of the photo, clips of them, or pairs of them a few places apart."""
    if architecture.frames:
        clips = [crops(photo, architecture.frames, architecture.size, generator).transpose(0, 1) for _ in range(count)]
        return (torch.stack(clips),)
    images = crops(photo, count, architecture.size, generator)
    return (images, images.roll((3, 2), (2, 3))) if architecture.kind == "flow" else (images,)


def export(architecture, exporter, folder, photo, seed=1):
    """Writes model.onnx, an .npy file for each input, output.npy, and manifest.json last, with torch's own error in fp32."""
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    network = architecture.construct().eval()
    if architecture.kind == "segmentation":
        network = OnlyOut(network)
    if architecture.kind == "flow":
        network = LastFlow(network)
    randomise_constants(network)
    randomise(network)
    calibrate(network, inputs_of(architecture, photo, 4, generator), None if architecture.kind == "flow" else SPREAD)
    inputs = inputs_of(architecture, photo, 1, generator)
    with torch.no_grad():
        single = result = network(*inputs)
        if architecture.in_double:
            result = copy.deepcopy(network).double()(*(value.double() for value in inputs))
    if not bool(torch.isfinite(result).all()):
        raise ValueError("torch's own output is not finite")

    folder.mkdir(parents=True, exist_ok=True)
    names = [f"input{i}" for i in range(len(inputs))] if len(inputs) > 1 else ["input"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # remarks on shapes that are taken as constant, as is wanted here
        torch.onnx.export(network, inputs, str(folder / "model.onnx"), input_names=names, output_names=["output"],
                          dynamo=exporter == "dynamo", verbose=False)
    for name, value in zip(names, inputs):
        numpy.save(folder / f"{name}.npy", value.numpy())
    numpy.save(folder / "output.npy", result.numpy())
    manifest = {"inputs": names, "exporter": exporter, "seed": seed, "torch": torch.__version__,
                "torchvision": torchvision.__version__, "rounding": distance(single.numpy(), result.numpy())}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
