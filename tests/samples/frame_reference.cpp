#include "frame_reference.hpp"

#include "io/photo.hpp"
#include "support/frame_reference.hpp"

namespace vellum::samples {

std::vector<float> seen_by_network(const FrameInput& frame, const FrameTransform& transform,
                                   const io::Image& photo, int side) {
  const Tensor bytes = io::photo_bytes(photo);
  const std::vector<double> values =
      test::FrameReference(frame, bytes.as<std::uint8_t>()).network_input(transform, side, side);
  return {values.begin(), values.end()};
}

}  // namespace vellum::samples
