// ProgramBuilder's functions for tensors: which hold each value, in which layout, and conversions between the
// layouts.
#include <string>
#include <utility>

#include "graph/element.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/number_range.hpp"
#include "kernels/framework/program_builder.hpp"
#include "program/divide.hpp"
#include "program/packing.hpp"
#include "program/weights.hpp"
#include "shaders/movement/to_channels4.h"
#include "shaders/movement/to_linear.h"
#include "vellum/error.hpp"

namespace vellum {

bool ProgramBuilder::exists_in(ValueId value, Layout layout) const {
  const ValueTensors& tensors = value_tensors_[value];
  return (layout == Layout::channels4 ? tensors.channels4 : tensors.linear) != kNoTensor;
}

void ProgramBuilder::refuse_large(const VirtualTensor& tensor) const {
  // Inputs and outputs are fp32 buffers with all options.
  std::string remedies;
  const bool has_format =
      tensor.desc.element == ElementType::f16 ? caps_.rgba16f_images : caps_.rgba32f_images;
  if (tensor.desc.layout == Layout::channels4 && has_format)
    remedies += "images of --storage image2d (SessionOptions::storage), ";
  if (tensor.desc.element == ElementType::f32 && tensor.role >= TensorRole::intermediate &&
      options_.precision == Precision::fp32)
    remedies += "--precision fp16, ";
  throw Error(ErrorCode::unsupported,
              "tensor '" + tensor.name + "' takes " + std::to_string(tensor.desc.byte_size()) +
                  " bytes, more than the device's storage buffer range of " +
                  std::to_string(caps_.max_storage_buffer_range) + "; what may help: " + remedies +
                  "smaller inputs, or tiles of them (vellum tiles, LargePicture)");
}

TensorId ProgramBuilder::add_tensor(VirtualTensor tensor) {
  if (tensor.desc.storage == Storage::buffer && tensor.desc.byte_size() > caps_.max_storage_buffer_range)
    refuse_large(tensor);
  program_.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(program_.tensors.size() - 1);
}

TensorId ProgramBuilder::constant_tensor(ValueId value, Layout layout) {
  TensorDesc desc = describe_value(value, layout);
  if (desc.fold > 0) desc.storage = Storage::buffer, desc.fold = 0;  // the host packs no folded images
  HostTensor tensor = *graph_.values[value].constant;
  if (desc.element == ElementType::f16 && exceeds_halves(tensor))
    desc.element = ElementType::f32, desc.storage = Storage::buffer;
  if (desc.element == ElementType::i32 && exceeds_32_bits(tensor) && only_order_matters(graph_, value))
    tensor = within_32_bits(tensor);
  VirtualTensor weight{graph_.values[value].name, desc, TensorRole::weight, kNoTensor, {}};
  if (desc.element == ElementType::i32)
    weight.pack = [tensor, desc] { return pack_ints(desc, tensor.to_ints()); };
  else
    weight.pack = [tensor, desc] { return pack(desc, tensor.to_floats()); };
  weight.origin = {{PackingScheme::unchanged}, {tensor}};
  return add_tensor(std::move(weight));
}

TensorId ProgramBuilder::read(ValueId value, Layout layout) {
  TensorId& wanted = value_tensors_[value].in(layout);
  if (wanted != kNoTensor) return wanted;
  if (graph_.values[value].constant) return wanted = constant_tensor(value, layout);
  const TensorId other =
      value_tensors_[value].in(layout == Layout::linear ? Layout::channels4 : Layout::linear);
  if (other == kNoTensor)
    throw Error(ErrorCode::internal,
                "value '" + graph_.values[value].name + "' is read before it is written");
  return convert(other, value, layout);
}

TensorId ProgramBuilder::write(ValueId value, Layout layout) {
  TensorId& tensor = value_tensors_[value].in(layout);
  if (tensor != kNoTensor)
    throw Error(ErrorCode::internal, "value '" + graph_.values[value].name + "' is written twice");
  const bool output = is_output_[value] && layout == Layout::linear;
  const TensorId id = add_tensor({graph_.values[value].name,
                                  describe_value(value, layout),
                                  output ? TensorRole::output : TensorRole::intermediate,
                                  kNoTensor,
                                  {}});
  return value_tensors_[value].in(layout) = id;
}

TensorId ProgramBuilder::make_alias(TensorId tensor, Shape shape, std::string tensor_name) {
  TensorDesc desc = program_.tensors[tensor].desc;
  if (desc.layout != Layout::linear || element_count(shape) != element_count(desc.shape))
    throw Error(ErrorCode::internal,
                "'" + tensor_name + "' cannot be a view of '" + program_.tensors[tensor].name + "'");
  desc.shape = std::move(shape);
  return add_tensor({std::move(tensor_name), desc, program_.tensors[tensor].role, tensor, {}});
}

void ProgramBuilder::set_tensor(ValueId value, Layout layout, TensorId id) {
  value_tensors_[value].in(layout) = id;
}

bool ProgramBuilder::share_texels(ValueId value, ValueId source) {
  const ValueTensors& tensors = value_tensors_[source];
  if (tensors.channels4 == kNoTensor || tensors.linear != kNoTensor) return false;
  const Shape &from = graph_.values[source].type.shape, &to = graph_.values[value].type.shape;
  if (from.size() > 4 || to.size() > 4 || nchw(from) != nchw(to)) return false;
  value_tensors_[value] = tensors;
  return true;
}

bool ProgramBuilder::alias_same_bytes(ValueId value, ValueId source) {
  if (value >= grids_.size() || !grids_[value] || grids_[value] != grids_[source]) return false;
  const ValueTensors& tensors = value_tensors_[source];
  for (const TensorId id : {tensors.channels4, tensors.linear})
    if (id != kNoTensor && (program_.tensors[id].desc.element != ElementType::q8 ||
                            program_.tensors[id].desc.grid != *grids_[value]))
      return false;
  value_tensors_[value] = tensors;
  return true;
}

// A tensor of one pixel whose channels are whole texels has the same bytes in both layouts in a buffer.
bool ProgramBuilder::layouts_are_identical(TensorId from, ValueId value, Layout layout) const {
  const TensorDesc &desc = program_.tensors[from].desc, wanted = describe_value(value, layout);
  if (desc.storage != Storage::buffer || wanted.storage != Storage::buffer || !desc.has_elements_of(wanted))
    return false;
  const auto [n, c, h, w] = nchw(wanted.shape);
  return c % 4 == 0 && h * w == 1;
}

TensorId ProgramBuilder::convert(TensorId from, ValueId value, Layout layout) {
  if (layouts_are_identical(from, value, layout)) {
    VirtualTensor view{
        graph_.values[value].name, describe_value(value, layout), program_.tensors[from].role, from, {}};
    return value_tensors_[value].in(layout) = add_tensor(std::move(view));
  }
  const TensorId to = write(value, layout);
  const Shape& shape = graph_.values[value].type.shape;
  const auto [n, c, h, w] = nchw(shape);
  const bool linear = layout == Layout::linear;
  const std::vector<Binding> bindings{reads("x", from), writes("y", to)};
  Dispatch dispatch = linear ? make_dispatch("to_linear", grid_1d(caps_, groups_of_four(shape)), bindings,
                                             ToLinearParameters{.x_shape = texel_shape(shape)})
                             : make_dispatch("to_channels4", grid_1d(caps_, n * slices(c) * h * w), bindings,
                                             ToChannels4Parameters{.y_shape = texel_shape(shape)});
  dispatch.op = "Convert";
  add_dispatch(std::move(dispatch), nullptr);
  return to;
}

}  // namespace vellum
