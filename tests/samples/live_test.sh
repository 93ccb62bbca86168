#!/usr/bin/env bash
# The live sample on a virtual display, with validation: 40 frames of a generated NV12 video, 300 with VELLUM_TEST_FULL=1; then
# three frames of each effect with two networks.
#   live_test.sh LIVE LIVE_VIDEO
set -euo pipefail

live=$1 video_tool=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
frames=40
[[ -z ${VELLUM_TEST_FULL-} ]] || frames=300

# Ten frames, again and again. The last one shows the photo of 512 x 512 pixels at 82, -16 of 640 x 480, and so the box around its
# face, which the sample face_detection puts at 178..272, 81..175 of the photo.
"$video_tool" make "$VELLUM_TEST_DATA/photos/astronaut.png" "$folder/video.nv12" 640 480 10
export VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation
show() {
  xvfb-run --auto-servernum --server-args='-screen 0 1024x768x24' "$live" "$VELLUM_TEST_DATA/models" \
    --width 640 --height 480 "$@" | tee -a "$folder/said"
}
video=(--nv12 "$folder/video.nv12")
show "${video[@]}" --frames "$frames" --screenshot "$folder/window.png"
grep -q "^$frames frames, 1 marked in the last one" "$folder/said"
# A second network, which looks where the first one found a face or a person in the frame before.
show "${video[@]}" --frames 3 --network mesh
show "${video[@]}" --frames 3 --network pose
[[ $(grep -cE '^3 frames, (1|[12][0-9]) marked in the last one' "$folder/said") == 2 ]]
# A video without frames is refused, with ffmpeg and without.
if show --video "$folder/none.mp4" --frames 3 2>"$folder/refused"; then exit 1; fi
grep -qE 'ffmpeg reads no frame of .*none.mp4|need ffmpeg, which is not installed' "$folder/refused"
# A video of another shape than the window is not stretched: the box is where that of the photo is, 80 pixels from the left.
[[ -z $(command -v ffmpeg) ]] || ffmpeg -loglevel error -loop 1 -i "$VELLUM_TEST_DATA/photos/astronaut.png" -frames:v 10 \
  -pix_fmt yuv444p "$folder/square.y4m"
for source in photo:"$VELLUM_TEST_DATA/photos/astronaut.png" video:"$folder/square.y4m"; do
  [[ -e ${source#*:} ]] || continue
  show "--${source%%:*}" "${source#*:}" --frames 3 --screenshot "$folder/window_${source%%:*}.png"
  "$video_tool" check "$folder/window_${source%%:*}.png" 247 76 335 164
done
# The wall is right beside the astronaut's shoulder, where the network is not sure.
show --photo "$VELLUM_TEST_DATA/photos/astronaut.png" --frames 2 --network people --screenshot "$folder/people.png"
"$video_tool" color "$folder/people.png" 395 225 24 72 160
if grep -E 'Validation (Error|Warning)|VUID|SYNC-HAZARD' "$folder/said"; then exit 1; fi
"$video_tool" check "$folder/window.png" 260 65 354 159
