// Where MediaPipe's face mesh network looks, and what it puts out. The numbers are those of MediaPipe's
// published graphs (mediapipe/modules/face_landmark: face detection to region, tensors to landmarks,
// landmark projection); the networks: Kartynnik et al. 2019, arXiv 1907.06724, and, with attention to lips
// and eyes, Grishchenko et al. 2020, arXiv 2006.10962.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/region.hpp"
#include "face_detection/blazeface.hpp"

namespace vellum::samples {

// The square around a face that the network reads: half as large again as the face's box, and turned so that
// the eyes are level. `face` in pixels of the photo.
Region mesh_region(const Face& face);

// The cut-out photo in 0..1, [side][side][3].
std::vector<float> mesh_input(const Image& photo, const Region& region, int side);

// Points of the photo from one of the network's outputs: x, y (and with `coordinates` 3 a depth, which is
// left out) in pixels of its input. Throws vellum::Error (invalid_argument) when the values are no such
// points.
std::vector<Point> mesh_points(std::span<const float> values, std::size_t coordinates, const Region& region,
                               int side);

// How sure the network is that it looks at a face, 0..1, from its logit.
float face_presence(float logit);

}  // namespace vellum::samples
