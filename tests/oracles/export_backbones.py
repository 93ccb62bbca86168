#!/usr/bin/python3
"""Exports networks of torchvision, and some that it lacks, to ONNX, with what torch computes for a photo.

For each network, OUT/NAME/ holds model.onnx, input.npy, output.npy, output_fp16.npy (the same with half rounding) and
manifest.json. torch computes both outputs in double, so that no processor's roundings are in them. The weights are seeded,
not trained: shapes, operators and cost are the trained network's, and no weights need to be fetched. Debian's python3-torch
and python3-torchvision suffice.

Weights fresh from their initialisers make a poor test: signals fade or explode over fifty layers, several blocks start
as the identity (zeroed heads, layer scales of 1e-6), and attention is uniform. So normalisations get random scales and
shifts, batch normalisations the statistics of seeded crops of the photo, and the last layer is scaled until its outputs
spread over several units, where a relative error of 1e-3 shows.
"""
import argparse
import copy
import json
import pathlib
import sys
import warnings

import numpy
import torch
import torchvision
from PIL import Image
from torch import nn

import other_networks

# Name -> the constructor's other arguments, and the side of its square input (that of the training, where it matters).
CLASSIFIERS = {
    "mobilenet_v2": {},
    "mobilenet_v3_large": {},
    "squeezenet1_1": {},
    "shufflenet_v2_x1_0": {},
    "efficientnet_b0": {},
    "mnasnet1_0": {},
    "resnet18": {},
    "resnet50": {},
    "googlenet": {"aux_logits": False},
    "inception_v3": {"aux_logits": False},
    "densenet121": {},
    "convnext_tiny": {},
    "vit_b_16": {},
    "swin_t": {},
    "regnet_x_400mf": {},
    "regnet_y_400mf": {},
    "resnext50_32x4d": {},
    "mobilenet_v3_small": {},
    "efficientnet_v2_s": {},
}
SEGMENTERS = {
    "deeplabv3_mobilenet_v3_large": {"weights_backbone": None},
    "lraspp_mobilenet_v3_large": {"weights_backbone": None},
}
DETECTORS = ["yolov4_tiny"]
NAMES = [*CLASSIFIERS, *SEGMENTERS, *other_networks.NETWORKS]
DEFAULT_SIZE = {"inception_v3": 299, "yolov4_tiny": 416, "deeplabv3_mobilenet_v3_large": 256, "lraspp_mobilenet_v3_large": 256}
SPREAD = 4.0  # standard deviation of the outputs
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet, which torchvision's networks expect


class OnlyOut(nn.Module):
    """A segmentation network without the dictionary around its output."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, images):
        return self.network(images)["out"]


def construct(name, size):
    options = dict(CLASSIFIERS.get(name) or SEGMENTERS.get(name) or {})
    if name.startswith("vit"):
        options["image_size"] = size
    if name in ("googlenet", "inception_v3"):
        options["init_weights"] = True
    if name in other_networks.NETWORKS:
        return other_networks.NETWORKS[name]()
    if name in SEGMENTERS:
        return OnlyOut(getattr(torchvision.models.segmentation, name)(weights=None, **options))
    return getattr(torchvision.models, name)(weights=None, **options)


def randomise(network):
    """Gives every parameter that starts out degenerate a random value."""
    normalisations = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.LayerNorm, nn.GroupNorm)
    with torch.no_grad():
        for module in network.modules():
            if isinstance(module, normalisations) and module.weight is not None:
                module.weight.uniform_(0.6, 1.4)
                if module.bias is not None:
                    module.bias.normal_(0, 0.2)
            elif isinstance(module, (nn.Linear, nn.Conv2d, nn.Conv3d)):
                if module.bias is not None:
                    module.bias.normal_(0, 0.1)
                if not module.weight.any():  # the head of vit_b_16
                    module.weight.normal_(0, 0.02)
        for name, parameter in network.named_parameters():
            if name.endswith("layer_scale"):
                parameter.uniform_(0.2, 0.6)
            elif name.endswith("relative_position_bias_table"):
                parameter.normal_(0, 0.5)
            elif name.endswith(("in_proj_weight", "qkv.weight")):
                parameter.mul_(3.0)  # scores far enough apart that attention picks


def crops(photo, count, size, generator):
    """Seeded crops of the photo, some mirrored, as (count, 3, size, size), normalised."""
    side = min(photo.size)
    batch = []
    for _ in range(count):
        part = int(torch.randint(side // 3, side + 1, (1,), generator=generator))
        left = int(torch.randint(0, photo.width - part + 1, (1,), generator=generator))
        top = int(torch.randint(0, photo.height - part + 1, (1,), generator=generator))
        crop = photo.crop((left, top, left + part, top + part)).resize((size, size), Image.BILINEAR)
        pixels = torch.from_numpy(numpy.array(crop, dtype=numpy.float32)).permute(2, 0, 1) / 255
        batch.append(pixels.flip(2) if torch.rand(1, generator=generator) < 0.5 else pixels)
    images = torch.stack(batch)
    return (images - torch.tensor(MEAN).view(3, 1, 1)) / torch.tensor(DEVIATION).view(3, 1, 1)


def calibrate(network, inputs, spread):
    """Gives batch normalisations the statistics of these inputs, then the outputs that standard deviation, if it is one."""
    kinds = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
    batch_norms = [module for module in network.modules() if isinstance(module, kinds)]
    for module in batch_norms:
        module.reset_running_stats()
        module.momentum = None  # the plain average of what it sees
        module.train()
    with torch.no_grad():
        if batch_norms:
            network(*inputs)
        network.eval()
        if spread is None:
            return
        outputs = network(*inputs)
        heads = [module for module in network.modules() if isinstance(module, (nn.Linear, nn.Conv2d))]
        heads = [module for module in heads if module.weight.shape[0] == outputs.shape[1]]
        # lraspp adds up two heads; squeezenet ends in one too, followed by a ReLU.
        gain = spread / float(outputs.std())
        for module in heads:
            module.weight.mul_(gain)
            if module.bias is not None:
                module.bias.mul_(gain)


def run_rounded(network, images):
    """What the network computes with weights and the result of every layer rounded to half, all else in double.

    A network of seeded weights magnifies rounding more than a trained one does: this shows how far from the fp32 result
    a correct engine with fp16 storage may be.
    """
    def round_result(_, __, result):
        return result.half().double() if isinstance(result, torch.Tensor) else None

    rounded = copy.deepcopy(network).half().double()
    for module in rounded.modules():
        # Normalisations and activations are fused into the layer before them, so that is what is stored.
        if isinstance(module, (nn.Conv2d, nn.Linear, nn.LayerNorm, nn.MaxPool2d, nn.AdaptiveAvgPool2d)):
            module.register_forward_hook(round_result)
    with torch.no_grad():
        return rounded(images.half().double())


def write_reference(name, arguments, photo):
    generator = torch.Generator().manual_seed(arguments.seed)
    torch.manual_seed(arguments.seed)
    size = arguments.size or DEFAULT_SIZE.get(name, 224)
    network = construct(name, size).eval()
    randomise(network)
    calibrate(network, (crops(photo, 8, size, generator),), SPREAD)

    folder = arguments.out / name
    folder.mkdir(parents=True, exist_ok=True)
    images = crops(photo, arguments.batch, size, generator)
    with torch.no_grad():
        result = copy.deepcopy(network).double()(images.double())
    if not bool(torch.isfinite(result).all()):
        raise SystemExit(f"{name}: torch's own output is not finite")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer's remarks on shapes it takes as constant, as is wanted here
        torch.onnx.export(network, images, str(folder / "model.onnx"), opset_version=arguments.opset,
                          input_names=["input"], output_names=["output"])
    numpy.save(folder / "input.npy", images.numpy())
    numpy.save(folder / "output.npy", result.numpy())
    numpy.save(folder / "output_fp16.npy", run_rounded(network, images).numpy())
    kind = "segmentation" if name in SEGMENTERS else "detection" if name in DETECTORS else "classification"
    manifest = {"name": name, "kind": kind, "size": size,
                "batch": arguments.batch, "opset": arguments.opset, "seed": arguments.seed,
                "torch": torch.__version__, "torchvision": torchvision.__version__}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    print(f"{name}: {tuple(images.shape)} -> {tuple(result.shape)}, outputs {float(result.min()):.3g} to "
          f"{float(result.max()):.3g}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description="Exports networks with torch's outputs.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="networks; all of them if none is named")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder; each network gets one in it")
    parser.add_argument("--photo", type=pathlib.Path, required=True, help="photo that inputs are cut from")
    parser.add_argument("--size", type=int, help="side of the square input; by default what the network was made for")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--opset", type=int, default=17, help="operator set of the files; before 17 LayerNorm is decomposed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(NAMES))
        return
    unknown = set(arguments.names) - set(NAMES)
    if unknown:
        parser.error(f"unknown network: {', '.join(sorted(unknown))}; known are {', '.join(NAMES)}")
    photo = Image.open(arguments.photo).convert("RGB")
    for name in arguments.names or NAMES:
        write_reference(name, arguments, photo)


if __name__ == "__main__":
    main()
