#!/usr/bin/python3
"""Exports a detector of torchvision as it is, non-maximum suppression included, runs it, and compares with torch.

check_detector.py --tool build/tools/vellum/vellum --photo PHOTO [--network NAME] [--size N] [--seed N] [-- OPTION...]

The number of boxes is data-dependent. The weights are seeded, with statistics of the photo (export_backbones.py says
why), so that the boxes mean nothing, but are many, of several classes, and their scores differ. torch computes in double,
and pictures are left out in which roundings coarser than fp32's would decide which boxes there are or in what order. What
stands after -- goes to `vellum run`.
"""
import argparse
import copy
import functools
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy
import torch
import torchvision
from PIL import Image
from torch import nn

from export_backbones import crops, randomise

LARGEST_ERROR = 1e-3  # times max(1, |reference|)
PICTURES = 2
TOP_CANDIDATES = 15  # of each class; with 60 there are near ties among the 200 boxes of any picture
PERTURBATION = 2**-20  # of every weight: 16 times the unit roundoff of fp32


def calibrate(detector, run):
    """Gives batch normalisations the statistics of what `run` computes."""
    randomise(detector)
    for module in detector.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.reset_running_stats()
            module.momentum = None  # the plain average of what it sees
            module.train()
    run()
    detector.eval()


def spread_out(layers, outputs, spread):
    """Scales layers so that what they compute, `outputs`, has this standard deviation."""
    gain = spread / float(outputs.std())
    for layer in layers:
        layer.weight.mul_(gain)
        layer.bias.mul_(gain)


def make_ssd(constructor, own_size, size, photo, generator):
    detector = constructor(weights=None, weights_backbone=None, num_classes=5, score_thresh=0.25, topk_candidates=TOP_CANDIDATES,
                           detections_per_img=300)
    images = crops(photo, 8, own_size, generator)
    calibrate(detector, lambda: detector.head(list(detector.backbone(images).values())))
    features = list(detector.backbone(images).values())
    for head, spread in ((detector.head.classification_head, 0.3), (detector.head.regression_head, 0.5)):
        layers = [branch[-1] if isinstance(branch, nn.Sequential) else branch for branch in head.module_list]
        spread_out(layers, head(features), spread)
    return detector


def make_dense(constructor, layers, size, photo, generator):
    """RetinaNet and FCOS, whose heads all levels share; `layers` has the last ones' names and spreads."""
    detector = constructor(weights=None, weights_backbone=None, num_classes=5, min_size=size, max_size=size, score_thresh=0.25,
                           topk_candidates=TOP_CANDIDATES, detections_per_img=300)
    images, _ = detector.transform(list(crops(photo, 4, size, generator)))
    calibrate(detector, lambda: detector.backbone(images.tensors))
    features = list(detector.backbone(images.tensors).values())
    for output, (name, spread) in layers.items():
        layer = detector.head.get_submodule(name)
        spread_out([layer], detector.head(features)[output], spread)
    return detector


def make_two_stage(constructor, size, photo, generator):
    detector = constructor(weights=None, weights_backbone=None, num_classes=5, min_size=size, max_size=size,
                           rpn_pre_nms_top_n_test=TOP_CANDIDATES, rpn_post_nms_top_n_test=TOP_CANDIDATES,
                           box_score_thresh=0.25, box_detections_per_img=300)
    images, _ = detector.transform(list(crops(photo, 4, size, generator)))
    calibrate(detector, lambda: detector.backbone(images.tensors))
    features = detector.backbone(images.tensors)
    head = detector.rpn.head
    hidden = [head.conv(feature) for feature in features.values()]
    for layer, spread in ((head.cls_logits, 1.0), (head.bbox_pred, 0.3)):
        spread_out([layer], torch.cat([layer(feature).flatten() for feature in hidden]), spread)
    proposals, _ = detector.rpn(images, features)
    heads = detector.roi_heads
    hidden = heads.box_head(heads.box_roi_pool(features, proposals, images.image_sizes))
    predictor = heads.box_predictor
    for layer, spread in ((predictor.cls_score, 1.5), (predictor.bbox_pred, 0.5)):
        layer.bias.sub_(layer(hidden).mean(0))  # every class is the best of some boxes
        spread_out([layer], layer(hidden), spread)
    for name, layer in (("mask", "mask_fcn_logits"), ("keypoint", "kps_score_lowres")):
        if getattr(heads, f"has_{name}")():
            pooled = getattr(heads, f"{name}_roi_pool")(features, proposals, images.image_sizes)
            predictor = getattr(heads, f"{name}_predictor")
            found = predictor(getattr(heads, f"{name}_head")(pooled))
            spread_out([getattr(predictor, layer)], found, 2.0)
    return detector


DETECTION = torchvision.models.detection
NETWORKS = {
    "ssdlite": functools.partial(make_ssd, DETECTION.ssdlite320_mobilenet_v3_large, 320),
    "ssd300_vgg16": functools.partial(make_ssd, DETECTION.ssd300_vgg16, 300),
    "retinanet_resnet50_fpn": functools.partial(make_dense, DETECTION.retinanet_resnet50_fpn, {
        "cls_logits": ("classification_head.cls_logits", 1.0), "bbox_regression": ("regression_head.bbox_reg", 0.5)}),
    "fcos_resnet50_fpn": functools.partial(make_dense, DETECTION.fcos_resnet50_fpn, {
        "cls_logits": ("classification_head.cls_logits", 1.0), "bbox_regression": ("regression_head.bbox_reg", 1.0),
        "bbox_ctrness": ("regression_head.bbox_ctrness", 1.0)}),
}
for name in ("fasterrcnn_mobilenet_v3_large_320_fpn", "fasterrcnn_resnet50_fpn", "fasterrcnn_resnet50_fpn_v2",
             "maskrcnn_resnet50_fpn", "keypointrcnn_resnet50_fpn"):
    NETWORKS[name] = functools.partial(make_two_stage, getattr(DETECTION, name))


def perturbed(detector, generator):
    """The detector with every weight moved at random."""
    result = copy.deepcopy(detector)
    with torch.no_grad():
        for parameter in result.parameters():
            noise = torch.rand(parameter.shape, generator=generator, dtype=parameter.dtype)
            parameter.mul_(1 + PERTURBATION * (2 * noise - 1))
    return result


def detect(detector, image):
    with torch.no_grad():
        result = detector([image])[0]
    return {name: value.numpy() for name, value in result.items()}


def determined_pictures(detector, size, photo, generator):
    """Seeded crops with what the detector finds in them in double, where perturbed detectors in fp32 find the same."""
    exact, others = copy.deepcopy(detector).double(), [perturbed(detector, generator) for _ in range(4)]
    pictures = []
    for _ in range(50):
        image = crops(photo, 1, size, generator)[0]
        found = [detect(other, image) for other in others]
        if any(differs(one, found[0], 16 * LARGEST_ERROR) for one in found):
            continue
        reference = detect(exact, image.double())
        if not any(differs(one, reference, 16 * LARGEST_ERROR) for one in found):
            pictures.append((numpy.ascontiguousarray(image.numpy()), reference))
            if len(pictures) == PICTURES:
                return pictures
    raise SystemExit("rounding decides what the boxes of nearly all pictures are")


def differs(found, reference, largest_error=LARGEST_ERROR):
    """An empty string, or what differs."""
    for name, want in reference.items():
        got = found[name]
        if got.shape != want.shape or got.dtype.kind != want.dtype.kind:
            return f"{name}: {got.dtype} {got.shape} instead of {want.dtype} {want.shape}"
        error = float((numpy.abs(got - want) / numpy.maximum(1, numpy.abs(want))).max(initial=0))
        if not error <= largest_error:
            return f"{name}: off by {error:.1e}"
    return ""


def main():
    parser = argparse.ArgumentParser(description="Compares a detector that ends in non-maximum suppression with torch.")
    parser.add_argument("--tool", required=True, help="the vellum tool")
    parser.add_argument("--photo", type=pathlib.Path, required=True)
    parser.add_argument("--network", choices=NETWORKS, default="ssdlite")
    parser.add_argument("--size", type=int, default=320, help="side of the picture; SSDs resize it to their own")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("options", nargs="*", help="for `vellum run`")
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    generator = torch.Generator().manual_seed(arguments.seed)
    photo = Image.open(arguments.photo).convert("RGB")
    with torch.no_grad():
        detector = NETWORKS[arguments.network](arguments.size, photo, generator)
    pictures = determined_pictures(detector, arguments.size, photo, generator)
    with torch.no_grad():
        outputs = list(detector([torch.from_numpy(pictures[0][0])])[0])  # in the order of this network
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer's remarks on shapes it takes as constant, as is wanted here
        folder = pathlib.Path(name)
        torch.onnx.export(detector, ([torch.from_numpy(pictures[0][0])],), str(folder / "model.onnx"), opset_version=11,
                          input_names=["image"], output_names=outputs)
        for image, reference in pictures:
            numpy.save(folder / "image.npy", image)
            subprocess.run([arguments.tool, "run", folder / "model.onnx", "-i", f"image={folder / 'image.npy'}", "-o",
                            folder, *arguments.options], check=True, stdout=subprocess.DEVNULL)
            wrong = differs({name: numpy.load(folder / f"{name}.npy") for name in reference}, reference)
            print(f"{len(reference['scores'])} boxes of {len(set(reference['labels'].tolist()))} classes: "
                  f"{wrong or 'the same'}")
            if wrong:
                sys.exit(1)
    print("The boxes that torch finds in every picture.")


if __name__ == "__main__":
    main()
