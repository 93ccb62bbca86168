// Input and output of MediaPipe's face mesh networks (Kartynnik et al. 2019, arXiv 1907.06724; with attention
// to lips and eyes: Grishchenko et al. 2020, arXiv 2006.10962). The constants are those of MediaPipe's
// published graphs (mediapipe/modules/face_landmark: face detection to region, tensors to landmarks, landmark
// projection).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/region.hpp"
#include "face_detection/blazeface.hpp"

namespace vellum::samples {

// Returns the square around a face that the network reads: 1.5 times as large as the face's box, and rotated
// so that the eyes are level. `face` is in pixels of the photo.
Region mesh_region(const Face& face);

// How the network sees a region of a photo (region_transform()): in 0..1, interpolated as MediaPipe does,
// without averages where it is reduced; beyond the photo its border is repeated.
FrameInput mesh_frame(const Image& photo);

// Converts an output of the network to points of the photo. The output has x, y (and with `coordinates` 3 a
// depth, which is ignored) in pixels of the network's input. Throws vellum::Error (invalid_argument) for
// other values.
std::vector<Point> mesh_points(std::span<const float> values, std::size_t coordinates, const Region& region,
                               int side);

// Converts the logit to the network's confidence that the input is a face, 0..1.
float face_presence(float logit);

}  // namespace vellum::samples
