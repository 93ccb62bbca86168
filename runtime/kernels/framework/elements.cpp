#include "kernels/framework/elements.hpp"

#include <algorithm>
#include <cstring>

#include "cost/device_traits.hpp"
#include "graph/element.hpp"
#include "program/packing.hpp"

namespace vellum {

size_t channels4_slot(size_t rank, size_t axis) {
  if (rank == 1) return 1;
  if (rank == 3 && axis == 2) return 3;
  return axis;
}

std::vector<OperatorInput> operator_inputs(const Lowering& lowering) {
  std::vector<OperatorInput> inputs;
  for (size_t i = 0; i < lowering.node().inputs.size(); ++i) {
    const bool present = lowering.has_input(i);
    inputs.push_back({present, present ? lowering.input_type(i) : TensorType{}, lowering.constant(i)});
  }
  return inputs;
}

bool all_float(const Lowering& lowering) {
  for (size_t i = 0; i < lowering.node().inputs.size(); ++i)
    if (lowering.has_input(i) && !is_float(lowering.input_type(i).dtype)) return false;
  for (size_t i = 0; i < lowering.node().outputs.size(); ++i)
    if (!is_float(lowering.output_type(i).dtype)) return false;
  return true;
}

bool is_in_channels4(const Lowering& lowering, size_t i) {
  const TensorType& type = lowering.input_type(i);
  return is_float(type.dtype) && type.shape.size() <= 4 && lowering.preferred_layout(i) == Layout::channels4;
}

int64_t groups_of_four(const Shape& shape) { return (element_count(shape) + 3) / 4; }

Grid grid_of_texels(const DeviceCaps& caps, const Shape& shape) {
  const auto [n, c, h, w] = nchw(shape);
  // A matrix of one row, such as the token of a decoder's step, would leave most lanes of a workgroup along x
  // idle.
  if (shape.size() <= 2 && n * w * h == 1) return grid_of_slices((c + 3) / 4);
  return grid_3d(caps, n * w, h, (c + 3) / 4);
}

ivec4 texel_shape(const Shape& shape) {
  const auto [n, c, h, w] = nchw(shape);
  return {w, h, c, n};
}

Dispatch make_dispatch(std::string shader, const Grid& grid, std::vector<Binding> bindings,
                       Parameters parameters) {
  Dispatch dispatch;
  dispatch.shader = std::move(shader);
  dispatch.workgroup_size = grid.workgroup_size;
  dispatch.workgroup_count = grid.workgroup_count;
  dispatch.covers_box = grid.is_box;
  dispatch.bindings = std::move(bindings);
  dispatch.push_constants = std::move(parameters);
  return dispatch;
}

bool loads_words4(const DeviceCaps& caps) {
  const DeviceTraits& traits = device_traits(caps);
  return caps.reads_buffers_as_texels && !traits.samples_texel_buffers && !traits.tiles_by_predicted_time;
}

void define(Dispatch& dispatch, std::string macro, std::string value) {
  dispatch.defines.emplace_back(std::move(macro), std::move(value));
}

void define_element(Dispatch& dispatch, const VirtualTensor& tensor) {
  if (tensor.desc.element == ElementType::i32) define(dispatch, "INTEGER");
}

TensorId exact_constant(Lowering& lowering, size_t i, Layout layout, Shape shape) {
  const HostTensor tensor = *lowering.constant(i);
  TensorDesc desc;
  desc.layout = layout;
  if (layout == Layout::channels4) {
    const auto [n, c, h, w] = nchw(shape);
    desc.storage =
        lowering.texel_grid(static_cast<uint32_t>(n * w), static_cast<uint32_t>((c + 3) / 4 * h)).storage;
  }
  desc.shape = std::move(shape);
  desc.element = ElementType::f32;
  return lowering.weight(lowering.node().name + "/constant", desc, [desc, tensor] {
    const std::vector<std::byte> bytes = pack(desc, tensor.to_floats());
    std::vector<float> elements(bytes.size() / sizeof(float));
    std::memcpy(elements.data(), bytes.data(), bytes.size());
    return elements;
  });
}

TensorId channel_pairs(Lowering& lowering, const std::string& name, std::vector<float> first,
                       std::vector<float> second) {
  const size_t padded = (std::max(first.size(), second.size()) + 3) / 4 * 4;
  first.resize(padded);
  second.resize(padded);
  TensorDesc desc = lowering.texel_grid(static_cast<uint32_t>(padded / 4), 2);
  desc.element = ElementType::f32;
  first.insert(first.end(), second.begin(), second.end());
  return lowering.weight(name, desc, [first = std::move(first)] { return first; });
}

TensorId float_workspace(Lowering& lowering, const std::string& name, Shape shape) {
  return lowering.workspace(lowering.node().name + "/" + name,
                            {std::move(shape), ElementType::f32, Storage::buffer, Layout::linear});
}

TensorId integer_workspace(Lowering& lowering, const std::string& name, Shape shape) {
  return lowering.workspace(lowering.node().name + "/" + name,
                            {std::move(shape), ElementType::i32, Storage::buffer, Layout::linear});
}

TensorId float_weight(Lowering& lowering, const std::string& name, Shape shape, std::vector<float> values) {
  return lowering.weight(lowering.node().name + "/" + name,
                         {std::move(shape), ElementType::f32, Storage::buffer, Layout::linear},
                         [values = std::move(values)] { return values; });
}

}  // namespace vellum
