#!/usr/bin/env bash
# Computes the reference outputs of the test models with ONNX Runtime: for each model, references/NAME/ in the cache
# folder holds input.npy, one .npy per output, and manifest.json; the folder unoptimised/ in it the same outputs rounded
# in another order, which tells how far apart two correct fp32 results may lie. Redone when a model or one of these scripts changes.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${VELLUM_CACHE:?the folder that setup.sh fetched into}
export VELLUM_CACHE

reference() {
  local name=$1 model=$cache/models/$2 preparation=$3 key
  local folder=$cache/references/$name
  key=$(cat "$model" "$cache/photos/astronaut.png" "$here"/*.mjs "$here/package-lock.json" "${BASH_SOURCE[0]}" |
    sha256sum | cut -d' ' -f1)
  [[ -f $folder/key && $(<"$folder/key") == "$key" ]] && return
  printf 'references: %s\n' "$name"
  rm -rf "$folder" "$folder.part"
  mkdir -p "$folder.part"
  node "$here/prepare_input.mjs" "$preparation" "$cache/photos/astronaut.png" "$folder.part/input.npy"
  # Run inside the folder, so that the manifest names the files relative to itself.
  (cd "$folder.part" && node "$here/onnxruntime.mjs" "$model" --input input.npy --out . >manifest.json &&
    node "$here/onnxruntime.mjs" "$model" --input input.npy --out unoptimised --unoptimised >/dev/null)
  printf '%s\n' "$key" >"$folder.part/key"
  mv "$folder.part" "$folder"
}

reference blazeface_front face_detection_front_128x128_barracuda.onnx blazeface_front
reference blazeface_back face_detection_back_256x256_barracuda.onnx blazeface_back
reference mlsd_tiny mlsd_320x320_tiny.onnx mlsd
