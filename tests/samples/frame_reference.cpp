#include "frame_reference.hpp"

#include <array>

#include "common/photo.hpp"
#include "graph/operators/movement/frame.hpp"

namespace vellum::samples {

std::vector<float> seen_by_network(const FrameInput& frame, const FrameTransform& transform,
                                   const Image& photo, int side) {
  Frame op;
  op.frame = frame;
  op.channels = 3;
  op.height = op.width = side;
  const Tensor bytes = photo_bytes(photo), matrix = transform.tensor();
  const Tensor planes = op.evaluate(std::array<const Tensor*, 2>{&bytes, &matrix})[0];
  const std::size_t pixels = planes.as<float>().size() / 3;
  std::vector<float> values;
  for (std::size_t i = 0; i < pixels; ++i)
    for (std::size_t c = 0; c < 3; ++c) values.push_back(planes.as<float>()[c * pixels + i]);
  return values;
}

}  // namespace vellum::samples
