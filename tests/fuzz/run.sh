#!/bin/sh
# Builds the fuzz targets with Clang, libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer (Debian: clang,
# libclang-rt-14-dev), and runs each for some minutes.
#
#   tests/fuzz/run.sh MINUTES [onnx|tflite|file|text|onnx_device|tflite_device ...]
#
# The last two run models on the first Vulkan device and compare its results with the host.
# What each has found interesting stays in build/fuzz/corpus for the next time. An input that crashes, takes more than 10 s
# or more than 1.5 GiB ends the run with status 1 and is in build/fuzz/found.
set -eu
if [ $# -lt 1 ]; then
  sed -n '2,10s/^# \{0,1\}//p' "$0"
  exit 1
fi
minutes=$1
shift
[ $# -gt 0 ] || set -- onnx tflite file text onnx_device tflite_device
cd "$(dirname "$0")/../.."
compiler=$(command -v clang++ || command -v clang++-14) || {
  echo "run.sh: there is no clang++; apt-get install clang libclang-rt-14-dev" >&2
  exit 1
}
cmake --preset fuzz "-DCMAKE_CXX_COMPILER=$compiler"
cmake --build --preset fuzz
cd build/fuzz
tests/fuzz/fuzz_seeds seeds
mkdir -p found
for target in "$@"; do
  mkdir -p "corpus/$target"
  echo "$target: $minutes minutes"
  dictionary=../../tests/fuzz/$target.dict
  option=
  if [ -e "$dictionary" ]; then option=-dict=$dictionary; fi
  case $target in *_device) option=-detect_leaks=0 ;; esac # drivers keep memory until the process ends
  "tests/fuzz/${target}_fuzzer" "corpus/$target" "seeds/${target%_device}" ${option:+"$option"} -max_total_time="$((minutes * 60))" \
    -timeout=10 -rss_limit_mb=1536 -max_len=16384 -print_final_stats=1 -artifact_prefix="found/$target-"
done
