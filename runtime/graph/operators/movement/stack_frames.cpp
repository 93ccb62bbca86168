#include "graph/operators/movement/stack_frames.hpp"

#include <cstring>

namespace vellum {

std::vector<TensorType> StackFrames::infer(Inputs inputs) const {
  TensorType y = float_input_type(inputs, 0, "X");
  if (y.shape.size() != 4) refuse_model("X has shape " + to_string(y.shape) + ", expected four dimensions");
  if (frames < 1 || output_frames < 1 || kernel < 1 || stride < 1 || dilation < 1)
    refuse_model("a window of pictures has a size, a stride or a dilation below 1");
  if (y.shape[0] % frames != 0)
    refuse_model(std::to_string(y.shape[0]) + " pictures are no multiple of " + std::to_string(frames));
  y.shape[0] = checked_multiply(y.shape[0] / frames, output_frames);
  y.shape[1] = checked_multiply(stacked_channels(y.shape[1], kernel), kernel);
  return {y};
}

std::vector<HostTensor> StackFrames::evaluate(HostInputs inputs) const {
  const TensorType type = infer_known(*this, inputs).front();
  const HostTensor& x = *inputs[0];
  HostTensor y(type.dtype, type.shape);
  std::byte* to = y.mutable_data();
  const auto plane = static_cast<int64_t>(size_of(type.dtype)) * x.shape()[2] * x.shape()[3];
  const int64_t channels = x.shape()[1], stacked = stacked_channels(channels, kernel);
  for (int64_t picture = 0; picture < type.shape[0]; ++picture)
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t frame = picture % output_frames * stride + k * dilation - padding;
      if (frame < 0 || frame >= frames) continue;
      const int64_t source = picture / output_frames * frames + frame;
      std::memcpy(to + (picture * kernel + k) * stacked * plane, x.data() + source * channels * plane,
                  static_cast<size_t>(channels * plane));
    }
  return {y};
}

Attributes StackFrames::attributes() const {
  Attributes result;
  result.set("frames", frames);
  result.set("output_frames", output_frames);
  result.set("kernel", kernel);
  result.set("stride", stride);
  result.set("dilation", dilation);
  result.set("padding", padding);
  return result;
}

std::shared_ptr<const Operator> make_stack_frames(const NodeSpec& spec) {
  auto op = std::make_shared<StackFrames>();
  op->frames = spec.attributes->get_int("frames", 1);
  op->output_frames = spec.attributes->get_int("output_frames", 1);
  op->kernel = spec.attributes->get_int("kernel", 1);
  op->stride = spec.attributes->get_int("stride", 1);
  op->dilation = spec.attributes->get_int("dilation", 1);
  op->padding = spec.attributes->get_int("padding", 0);
  return op;
}

}  // namespace vellum
