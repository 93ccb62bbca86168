#!/usr/bin/env python3
"""Signal to noise ratio of models that `vellum quantize` and ONNX Runtime's quantize_static quantise with the same pictures.

  pip install onnx onnxruntime numpy pillow
  tests/bench/quantize_table.py build/tools/vellum/vellum $(./setup.sh where) [NAME...]

Both get the same float model and 12 crops of the photos; 8 other crops compare each with the float model, in ONNX Runtime
without optimisations, so that the file is computed as it stands. Prints the ratio of all elements of each output in
decibels: the worst output, and the mean of all.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
from PIL import Image

tool, data = sys.argv[1], pathlib.Path(sys.argv[2])
MODELS = {
    "BlazeFace": ("models/face_detection_front_128x128_barracuda.onnx", "signed"),
    "face mesh": ("models/face_landmark.tflite", "unit"),
    "selfie segmentation": ("models/selfie_segmentation.tflite", "unit"),
    "mobilenet_v2": ("backbones/size_default_batch_1_opset_17/mobilenet_v2/model.onnx", "imagenet"),
}
VELLUM = {"min-max": ["--ranges", "minmax", "--keep-biases"], "mse": ["--keep-biases"], "mse, biases": [],
          "percentile, biases": ["--ranges", "percentile"], "entropy, biases": ["--ranges", "entropy"],
          "mse, biases, equalised": ["--equalize"]}
ORT = {"min-max": CalibrationMethod.MinMax, "percentile": CalibrationMethod.Percentile, "entropy": CalibrationMethod.Entropy}


def session(path):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return ort.InferenceSession(str(path), options, ["CPUExecutionProvider"])


def crops(shape, values, count, seed):
    """Squares of the photos, some mirrored, as inputs of the model."""
    generator = np.random.default_rng(seed)
    photos = [Image.open(path).convert("RGB") for path in sorted((data / "photos").glob("*.png"))]
    first = shape[1] == 3
    height, width = (shape[2], shape[3]) if first else (shape[1], shape[2])
    for i in range(count):
        photo = photos[i % len(photos)]
        side = int(min(photo.size) * generator.uniform(0.5, 1.0))
        left, top = (int(generator.integers(0, size - side + 1)) for size in photo.size)
        pixels = np.asarray(photo.crop((left, top, left + side, top + side)).resize((width, height))) / 255.0
        if generator.random() < 0.5:
            pixels = pixels[:, ::-1]
        if values == "signed":
            pixels = pixels * 2 - 1
        if values == "imagenet":
            pixels = (pixels - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
        yield np.ascontiguousarray(pixels.transpose(2, 0, 1) if first else pixels, np.float32)[None]


class Reader(CalibrationDataReader):
    def __init__(self, name, examples):
        self.rows = iter([{name: example} for example in examples])

    def get_next(self):
        return next(self.rows, None)


def ratios(exact, path, examples):
    network = session(path)
    name = network.get_inputs()[0].name
    signal, noise = None, None
    for example, expected in zip(examples, exact):
        got = network.run(None, {name: example})
        powers = [float((e.astype(np.float64) ** 2).sum()) for e in expected]
        errors = [float(((e.astype(np.float64) - g) ** 2).sum()) for e, g in zip(expected, got)]
        signal = np.add(signal, powers) if signal is not None else np.array(powers)
        noise = np.add(noise, errors) if noise is not None else np.array(errors)
    decibels = 10 * np.log10(signal / np.maximum(noise, 1e-30))
    return f"{decibels.min():5.1f} {decibels.mean():5.1f}"


def vellum(*arguments):
    subprocess.run([tool, "quantize", *map(str, arguments)], check=True, capture_output=True, text=True)


def measure(title, file, values, folder):
    calibration = folder / "calibration"
    calibration.mkdir(parents=True)
    plain = folder / "float.onnx"
    vellum(data / file, "--weight-only", "8", "-o", folder / "shape.onnx")
    source = session(folder / "shape.onnx").get_inputs()[0]
    examples = list(crops(source.shape, values, 12, 1))
    others = list(crops(source.shape, values, 8, 2))
    for i, example in enumerate(examples):
        np.save(calibration / f"{i:02}.npy", example)
    # A largest error that integers cannot meet leaves all layers in floats.
    vellum(data / file, "--calibrate", calibration, "--examples", "1", "--max-drop", "1e-30", "-o", plain)
    network = session(plain)
    exact = [network.run(None, {source.name: other}) for other in others]
    print(f"{title} (worst output, mean; dB)", flush=True)
    for name, method in ORT.items():
        result = folder / "ort.onnx"
        quantize_static(str(plain), str(result), Reader(source.name, examples), quant_format=QuantFormat.QDQ, per_channel=True,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, calibrate_method=method)
        print(f"  ONNX Runtime {name:24} {ratios(exact, result, others)}", flush=True)
    for name, options in VELLUM.items():
        result = folder / "vellum.onnx"
        vellum(data / file, "--calibrate", calibration, "-o", result, *options)
        onnx.checker.check_model(str(result), full_check=True)
        print(f"  vellum       {name:24} {ratios(exact, result, others)}", flush=True)


for title, (file, values) in MODELS.items():
    if len(sys.argv) > 3 and title not in sys.argv[3:]:
        continue
    with tempfile.TemporaryDirectory() as folder:
        measure(title, file, values, pathlib.Path(folder))
