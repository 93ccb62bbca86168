#!/usr/bin/env bash
# A sample with a folder of photos: each is named, found and written; one that cannot be read is named, and not the end.
set -euo pipefail
sample=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir photos
for photo in astronaut coffee; do ln -s "$VELLUM_TEST_DATA/photos/$photo.png" photos/; done
model=$VELLUM_TEST_DATA/models/face_detection_front_128x128_barracuda.onnx

"$sample" "$model" photos >out
grep -q '^1/2  photos/astronaut.png$' out
[[ $(grep -c 'running on' out) == 1 ]]
grep -q '^1 face found$' out && grep -q '^0 faces found$' out
[[ -s faces/astronaut.png && -s faces/coffee.png ]]
"$sample" "$model" photos/astro* --output alone.png >/dev/null

printf '\x89PNG\r\n\x1a\n and no more' >photos/broken.png
status=0
"$sample" "$model" 'photos/*.png' --output marked >out 2>err || status=$?
[[ $status == 1 && -s marked/coffee.png && ! -e marked/broken.png ]]
grep -q 'broken.png' err && grep -q '1 of 3 photos cannot be read' err
status=0
"$sample" "$model" photos --output marked --json >out 2>err || status=$?
[[ $status == 1 ]] && grep -q '^1/3  photos/astronaut.png$' err && grep -q '^running on' err
python3 - <<'PYTHON'
import json
astronaut, broken, coffee, end = [json.loads(line) for line in open("out")]
assert astronaut["input"] == "photos/astronaut.png" and astronaut["output"] == "marked/astronaut.png", astronaut
(face,) = astronaut["faces"]
assert 0.92 < face["score"] < 0.93 and len(face["box"]) == 4 and len(face["points"]["nose tip"]) == 2, face
assert broken["input"] == "photos/broken.png" and broken["error"]["code"] == "invalid argument", broken
assert coffee["faces"] == [] and end["error"]["message"] == "1 of 3 photos cannot be read", (coffee, end)
PYTHON
"$sample" "$model" photos/coffee.png --output alone.png --json >out 2>/dev/null
[[ $(<out) == '{"input":"photos/coffee.png","faces":[],"output":"alone.png"}' ]]
if "$sample" missing.onnx photos/coffee.png --json >out 2>/dev/null; then exit 1; fi
grep -q '^{"error":{"code":"not found",' out
if "$sample" "$model" photos --output faces.png >out 2>err; then exit 1; fi
grep -q -- '--output names a folder' err
echo "passed"
