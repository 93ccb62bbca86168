#!/usr/bin/env bash
# What a weights budget costs: times each network with budgets of 100%, 50%, 25% and 10% of its weights, checks that the
# outputs have the same bits, and writes the table between the markers of docs/streaming.md anew:
#   tests/bench/streaming_table.sh BUILD_FOLDER [RUNS] [NETWORK...]      (default: 10 runs of resnet50 and vit_b_16)
# Wants Debian's python3-torch and python3-torchvision for the networks (tests/oracles/export_backbones.py), and an idle
# machine. VK_ICD_FILENAMES names the driver.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tool=${1:?usage: streaming_table.sh BUILD_FOLDER [RUNS] [NETWORK...]}/samples/cli/vellum
runs=${2:-10}
networks=("${@:3}")
((${#networks[@]})) || networks=(resnet50 vit_b_16)
python=${PYTHON:-/usr/bin/python3}
folder=$("$root/setup.sh" where)/backbones/size_default_batch_1_opset_17
"$root/tests/backbones.sh" --tool "$tool" --runs 0 "${networks[@]}" >/dev/null
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# FIELD of the tool's JSON on standard input.
field() { "$python" -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

# NETWORK PERCENT BYTES: a row, in milliseconds and MiB; the first row of a network is resident.
row() {
  local model=$folder/$1/model.onnx budget=(--weights-budget "$3") median profile
  "$tool" run "$model" -i "input=$folder/$1/input.npy" -o "$scratch/$2" "${budget[@]}" --json >/dev/null
  cmp "$scratch/resident/output.npy" "$scratch/$2/output.npy" >&2 || return 1
  median=$("$tool" bench "$model" --runs "$runs" "${budget[@]}" --json | field median_ms)
  profile=$("$tool" profile "$model" --runs 1 "${budget[@]}" --json)
  [[ $2 == resident ]] && resident=$median
  "$python" - "$1" "$2" "$median" "$resident" "$(field peak_weights_bytes <<<"$profile")" \
    "$(field streamed_weights_bytes <<<"$profile")" <<'PYTHON'
import sys
name, percent, median, resident, peak, streamed = sys.argv[1:]
budget = percent if percent == "resident" else percent + "%"
print(f"| {name} | {budget} | {int(peak) / 2**20:.1f} | {int(streamed) / 2**20:.1f} | {float(median):.0f} | "
      f"{float(median) / float(resident):.2f} |")
PYTHON
}

table() {
  echo "| network | budget | device weights, MiB | streamed a run, MiB | median, ms | of resident |"
  echo "| --- | --- | ---: | ---: | ---: | ---: |"
  for name in "${networks[@]}"; do
    rm -rf "$scratch/resident"
    "$tool" run "$folder/$name/model.onnx" -i "input=$folder/$name/input.npy" -o "$scratch/resident" --json >/dev/null
    row "$name" resident 0
    local all
    all=$("$tool" profile "$folder/$name/model.onnx" --runs 1 --json | field weights_bytes)
    for percent in 100 50 25 10; do row "$name" "$percent" "$((all * percent / 100))"; done
  done
}

table >"$scratch/table"
awk -v table="$scratch/table" '
  /<!-- streaming begin -->/ { print; while ((getline line <table) > 0) print line; inside = 1 }
  /<!-- streaming end -->/ { inside = 0 }
  !inside { print }
  inside && /<!-- streaming begin -->/ { next }' "$root/docs/streaming.md" >"$scratch/page"
cat "$scratch/page" >"$root/docs/streaming.md"
