// Input and output of MediaPipe's face mesh networks (Kartynnik et al. 2019, arXiv 1907.06724; with attention
// to lips and eyes: Grishchenko et al. 2020, arXiv 2006.10962). The constants are those of MediaPipe's
// published graphs (mediapipe/modules/face_landmark: face detection to region, tensors to landmarks, landmark
// projection).
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/region.hpp"
#include "face_detection/blazeface.hpp"
#include "vellum/tensor.hpp"

namespace vellum::samples {

// Returns the square around a face that the network reads: 1.5 times as large as the face's box, and rotated
// so that the eyes are level. `face` is in pixels of the photo.
Region mesh_region(const Face& face);

// Returns how the network reads a region (region_transform()) of frames of this format and size: values in
// 0..1, interpolated as in MediaPipe, without averaging if it is reduced. Beyond the frame the border is
// repeated.
FrameInput mesh_frame(FrameInput frame);

// Converts an output of the network to points of the photo. The output has x, y (and with `coordinates` 3 a
// depth, which is ignored) in pixels of the network's input. Throws vellum::Error (invalid_argument) for
// other values.
std::vector<Point> mesh_points(std::span<const float> values, std::size_t coordinates, const Region& region,
                               int side);

// Converts the logit to the network's confidence that the input is a face, 0..1.
float face_presence(float logit);

struct Mesh {
  float presence = 0;                     // 0..1
  std::vector<Point> points;              // 468 points of the whole face
  std::vector<Point> lips, eyes, irises;  // only from the network with attention
};

// Reads the outputs of the network for a region of a frame, and returns points in pixels of the frame.
// Outputs are identified by their number of values, not by names that a converter chose. Throws vellum::Error
// (invalid_argument) if there are not 468 points of a face.
Mesh read_mesh(const std::map<std::string, Tensor>& outputs, const Region& region, int side);

}  // namespace vellum::samples
