#!/usr/bin/env bash
# Writes the app's assets: a bundle of each network for one kind of phone, with the shaders for camera frames and for the picture
# of the selfie, and the labels.
#
#   ./setup.sh models && samples/android/bundles.sh VELLUM_TOOL CAPS [ASSETS]
#
# CAPS: android_baseline_2022 for every phone of that profile, or the caps file of one phone, which the app itself exports (menu,
# Export caps) and for which the kernels are then chosen. ASSETS: default samples/android/src/main/assets.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tool=${1:?the path of the vellum tool}
caps=${2:?the caps file of the phone, or android_baseline_2022}
assets=${3-$here/src/main/assets}
models=$("$here/../../setup.sh" where)/models
mkdir -p "$assets"
for model in face_detection_front_128x128_barracuda.onnx face_detection_back_256x256_barracuda.onnx \
  object_detection_ssd_mobilenetv2_oidv4_fp16.tflite mlsd_320x320_tiny.onnx selfie_segmentation.tflite face_landmark.tflite; do
  frames=nv12,area
  if [[ $model = face_landmark* ]]; then frames=nv12,border; fi
  input=$("$tool" inspect "$models/$model" --json |
    /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["inputs"][0]["name"])')
  pictures=()
  if [[ $model = selfie* ]]; then pictures=(--picture activation_10=ramp); fi
  "$tool" bundle "$models/$model" -o "$assets/${model%.*}.vellum" --caps "$caps" --frame "$input=$frames" --images \
    "${pictures[@]}"
done
# Frames of 640 x 480, upright in portrait, and one width of the strips that Ocr.java cuts out.
for shape in det:1x3x640x480 rec:1x3x48x960; do
  model=ch_PP-OCRv4_${shape%%:*}_infer
  "$tool" bundle "$models/$model.onnx" -o "$assets/$model.vellum" --caps "$caps" --shape "x=${shape#*:}"
done
cp "$models/object_detection_oidv4_labelmap.txt" "$models/ppocr_keys_v1.txt" "$assets/"
