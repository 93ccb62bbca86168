// Computes the values that a network gets from a camera's frame, in double. Written only from the definitions
// in vellum/frame.hpp, so that it is independent of the library.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "vellum/frame.hpp"

namespace vellum::test {

// Red, green and blue in 0..255.
using Rgb = std::array<double, 3>;

// The frame as a picture, and the filter of `frame` at pixels of a network's input.
class FrameReference {
 public:
  FrameReference(const FrameInput& frame, std::span<const uint8_t> bytes);

  // The pixel (x, y) of the network, before mean and scale.
  Rgb seen(const FrameTransform& map, int64_t x, int64_t y) const;
  // The network's input [height][width][3].
  std::vector<double> network_input(const FrameTransform& map, int64_t width, int64_t height) const;

 private:
  const Rgb& pixel(double x, double y) const;
  Rgb bilinear(double x, double y) const;
  Rgb area(double x, double y, double across, double down) const;
  Rgb mean_of_samples(const FrameTransform& map, double x, double y) const;

  FrameInput frame_;
  std::vector<Rgb> pixels_;
};

}  // namespace vellum::test
