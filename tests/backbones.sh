#!/usr/bin/env bash
# Classification, segmentation and detection networks against torch: exports each with seeded weights, runs it, and
# prints a table. Needs Debian's python3-torch and python3-torchvision.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: tests/backbones.sh [OPTION...] [NETWORK...]     without a name: all of them
  --tool FILE         the vellum tool (default: build/tools/vellum/vellum)
  --size N            side of the square input (default: what the network was made for)
  --batch N           images at once (default: 1)
  --opset N           operator set of the exported files (default: 17)
  --precision P       fp32 or fp16 (default: fp32)
  --storage S         auto, image2d, image3d or buffer (default: auto)
  --runs N            timed inferences (default: 10); 0 leaves the time out
  --validation        fail on any message of the Vulkan validation layer
  --list              print the names

Exported files go to backbones/ in the cache folder (./setup.sh where), about 1 GB for all, and are made anew when the
script changes.
TEXT
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=/usr/bin/python3 # with Debian's packages, whatever stands first in PATH
tool=$root/build/tools/vellum/vellum
size=default batch=1 opset=17 precision=fp32 storage=auto runs=10
names=() flags=()

while (($#)); do
  case $1 in
    --tool | --size | --batch | --opset | --precision | --storage | --runs)
      [[ $# -ge 2 ]] || { usage >&2; exit 2; }
      printf -v "${1#--}" '%s' "$2"
      shift 2
      ;;
    --validation) flags+=(--validation); shift ;;
    --list) exec "$python" "$root/tests/oracles/export_backbones.py" --list --out . --photo . ;;
    -h | --help) usage; exit ;;
    -*) usage >&2; exit 2 ;;
    *) names+=("$1"); shift ;;
  esac
done

[[ -x $tool ]] || { printf 'backbones: error: no tool at %s; build it, or name it with --tool\n' "$tool" >&2; exit 1; }
"$python" -c 'import torch, torchvision' 2>/dev/null ||
  { printf 'backbones: error: %s has no torch; apt-get install python3-torch python3-torchvision\n' "$python" >&2; exit 1; }
exporter=$root/tests/oracles/export_backbones.py
cache=${VELLUM_TEST_DATA:-$("$root/setup.sh" where)}
photo=$cache/photos/astronaut.png
[[ -f $photo ]] || { printf 'backbones: error: %s is missing; run ./setup.sh models\n' "$photo" >&2; exit 1; }
((${#names[@]})) || mapfile -t names < <("$python" "$exporter" --list --out . --photo .)

folder=$cache/backbones/size_${size}_batch_${batch}_opset_${opset}
mkdir -p "$folder"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

export_network() {
  local name=$1 key options=(--batch "$batch" --opset "$opset")
  [[ $size == default ]] || options+=(--size "$size")
  key=$(cat "$exporter" "$root/tests/oracles/other_networks.py" | sha256sum)
  # Several runs may need the same file.
  exec {lock}>"$folder/lock"
  flock "$lock"
  if [[ ! -f $folder/$name/key || $(<"$folder/$name/key") != "$key" ]]; then
    rm -rf "${folder:?}/$name"
    "$python" "$exporter" --out "$folder" --photo "$photo" "${options[@]}" "$name"
    printf '%s\n' "$key" >"$folder/$name/key"
  fi
  exec {lock}>&-
}

# FIELD of the tool's JSON on standard input, one number.
field() { "$python" -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

check_network() {
  local name=$1 model=$folder/$1/model.onnx common=(--precision "$precision" --storage "$storage")
  local verdict agreed=yes bench milliseconds=- dispatches=- memory=-
  export_network "$name"
  "$tool" run "$model" -i "input=$folder/$name/input.npy" -o "$scratch/$name" "${common[@]}" ${flags+"${flags[@]}"} \
    >"$scratch/log" 2>&1 || { tail -n 2 "$scratch/log"; return 1; }
  verdict=$("$python" "$root/tests/oracles/compare_backbone.py" "$folder/$name" "$scratch/$name/output.npy" "$precision") ||
    agreed=no
  if ((runs > 0)); then
    bench=$("$tool" bench "$model" --runs "$runs" "${common[@]}" --json)
    milliseconds=$(field min_ms <<<"$bench")
    dispatches=$(field dispatches <<<"$bench")
    memory=$("$tool" profile "$model" --runs 1 "${common[@]}" --json | "$python" -c 'import json, sys
profile = json.load(sys.stdin)
print("%.1f -> %.1f" % (profile["naive_bytes"] / 2**20, profile["planned_bytes"] / 2**20))')
    milliseconds=$(printf '%.1f' "$milliseconds")
  fi
  printf '| %s | %s | %s | %s | %s | %s |\n' "$name" "$milliseconds" "${verdict%% *}" "${verdict#* }" "$dispatches" "$memory"
  [[ $agreed == yes ]]
}

printf '| network | ms (min of %s) | worst error | decision | dispatches | intermediates, MiB: naive -> planned |\n' "$runs"
printf '| --- | --- | --- | --- | --- | --- |\n'
failed=()
for name in "${names[@]}"; do check_network "$name" || failed+=("$name"); done
if ((${#failed[@]})); then
  printf 'backbones: error: not as torch computes it: %s\n' "${failed[*]}" >&2
  exit 1
fi
printf 'All %s networks agree with torch (%s).\n' "${#names[@]}" "$precision"
