// with_frames(): models whose inputs take frames in bytes.
#include "vellum/frame.hpp"

#include <algorithm>
#include <cmath>

#include "api/graph_edit.hpp"
#include "api/guard.hpp"
#include "api/impl.hpp"
#include "api/tensor_names.hpp"
#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/elementwise/quantize.hpp"
#include "graph/operators/movement/frame.hpp"
#include "graph/operators/movement/transpose.hpp"

namespace vellum {
namespace {

bool is_image_channels(int64_t channels) { return channels == 1 || channels == 3 || channels == 4; }

// The input's shape, with the dimensions that the model leaves open from FrameInput::network_shape.
Shape network_shape(const Value& input, const Shape& wanted) {
  const std::string what = "input '" + input.name + "'";
  Shape shape = input.type_known ? input.type.shape : wanted;
  if (!wanted.empty()) {
    bool fits = wanted.size() == shape.size();
    for (size_t i = 0; fits && i < shape.size(); ++i) fits = shape[i] == kUnknownDim || shape[i] == wanted[i];
    if (!fits)
      throw Error(ErrorCode::invalid_argument,
                  what + " is " + to_string(shape) + " in the model, not " + to_string(wanted));
    shape = wanted;
  }
  if (!shape.empty() && shape[0] == kUnknownDim) shape[0] = 1;
  if (shape.empty() || !is_known(shape))
    throw Error(ErrorCode::invalid_argument, what + ": the model leaves its shape open (" + to_string(shape) +
                                                 "); give FrameInput::network_shape, such as 1x3x224x224");
  return shape;
}

bool channels_come_first(const Value& input, const Shape& shape) {
  const bool image = shape.size() == 4 && shape[0] == 1;
  if (image && is_image_channels(shape[1])) return true;
  if (image && is_image_channels(shape[3])) return false;
  throw Error(ErrorCode::unsupported,
              "input '" + input.name + "' of " + to_string(shape) +
                  " takes no frame: it is not [1, C, H, W] or [1, H, W, C] with one, three or four channels");
}

void check_values(const FrameInput& frame) {
  check_choice(frame.format, FrameFormat::i420, "FrameInput::format");
  check_choice(frame.matrix, ColorMatrix::bt709, "FrameInput::matrix");
  check_choice(frame.range, ColorRange::full, "FrameInput::range");
  check_choice(frame.filter, FrameFilter::area, "FrameInput::filter");
  frame.bytes();
  std::vector<float> values(frame.mean.begin(), frame.mean.end());
  values.insert(values.end(), frame.scale.begin(), frame.scale.end());
  if (frame.fill) values.insert(values.end(), frame.fill->begin(), frame.fill->end());
  if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
    throw Error(ErrorCode::invalid_argument, "mean, scale and fill of a frame must be finite");
}

// Puts operators that compute an input of the graph from a frame before the others.
class FrameFront {
 public:
  FrameFront(Graph& graph, size_t position, const FrameInput& frame)
      : graph_(graph), position_(position), image_(graph.inputs[position]), frame_(frame) {
    name_ = graph.values[image_].name;
  }

  void build() {
    check_values(frame_);
    const Shape shape = network_shape(graph_.values[image_], frame_.network_shape);
    const DType dtype = graph_.values[image_].type.dtype;
    const bool bytes = dtype == DType::u8 || dtype == DType::i8;
    if (!bytes && !is_float(dtype))
      throw Error(ErrorCode::unsupported, "input '" + name_ + "' of " + std::string(vellum::name(dtype)) +
                                              " takes no frame: it is neither of floats nor of 8 bits");
    const bool first = channels_come_first(graph_.values[image_], shape);
    auto op = std::make_shared<Frame>();
    op->frame = frame_;
    op->frame.transform.reset();
    op->frame.network_shape.clear();
    op->channels = shape[first ? 1 : 3];
    op->height = shape[first ? 2 : 1];
    op->width = shape[first ? 3 : 2];

    const bool converted = dtype != DType::f32;
    graph_.values[image_].name = unused_name(graph_, name_ + ".values");
    graph_.values[image_].type_known = false;
    ValueId value = add_node(std::move(op), add_inputs(), first && !converted);
    if (converted) value = bytes ? quantise(value, dtype, first) : convert(value, dtype, first);
    if (!first) transpose(value);
    graph_.nodes.insert(graph_.nodes.begin(), added_.begin(), added_.end());
    check(graph_);
  }

 private:
  // Returns the frame and the transform.
  std::vector<ValueId> add_inputs() {
    const auto bytes = static_cast<int64_t>(frame_.bytes());
    const ValueId frame = graph_.add_value(name_, {DType::u8, {bytes}}, true);
    std::swap(graph_.values[frame].signature_name, graph_.values[image_].signature_name);
    graph_.inputs[position_] = frame;
    const std::string transform_name = name_ + ".transform";
    if (frame_.transform)
      return {frame, graph_.add_constant(unused_name(graph_, transform_name), frame_.transform->tensor())};
    if (graph_.find_value(transform_name))
      throw Error(ErrorCode::unsupported, "the model has a value '" + transform_name + "' already");
    const ValueId transform = graph_.add_value(transform_name, {DType::f32, {2, 3}}, true);
    graph_.inputs.insert(graph_.inputs.begin() + static_cast<std::ptrdiff_t>(position_) + 1, transform);
    return {frame, transform};
  }

  // The last node computes the value that was the input.
  ValueId add_node(std::shared_ptr<const Operator> op, std::vector<ValueId> inputs, bool last) {
    const std::string node_name = name_ + "." + std::string(op->type());
    const ValueId output = last ? image_ : graph_.add_value(unused_name(graph_, node_name));
    added_.push_back({node_name, std::move(op), std::move(inputs), {output}});
    return output;
  }

  // A QuantizeLinear with scale 1 rounds and saturates.
  ValueId quantise(ValueId value, DType dtype, bool last) {
    const float one = 1;
    const ValueId scale =
        graph_.add_constant(unused_name(graph_, name_ + ".scale"), Tensor::f32({}, {&one, 1}));
    const ValueId zero = graph_.add_constant(unused_name(graph_, name_ + ".zero"), Tensor(dtype, {}));
    return add_node(std::make_shared<QuantizeLinear>(), {value, scale, zero}, last);
  }

  // A Cast to another floating-point type.
  ValueId convert(ValueId value, DType dtype, bool last) {
    auto op = std::make_shared<Cast>();
    op->to = dtype;
    return add_node(std::move(op), {value}, last);
  }

  // Passes cancel this Transpose with the Transpose at the beginning of the network.
  void transpose(ValueId value) {
    auto op = std::make_shared<Transpose>();
    op->perm = Ints{0, 2, 3, 1};
    add_node(std::move(op), {value}, true);
  }

  Graph& graph_;
  size_t position_;
  ValueId image_;
  const FrameInput& frame_;
  std::string name_;
  std::vector<Node> added_;
};

}  // namespace

Model with_frames(const Model& model, std::string_view input, const FrameInput& frame) {
  return guard([&] {
    Graph graph = impl(model)->graph;
    FrameFront(graph, position(model.inputs(), input, "input"), frame).build();
    auto framed = std::make_shared<Model::Impl>(std::move(graph));
    framed->packed = impl(model)->packed;
    return Handles::model(std::move(framed));
  });
}

}  // namespace vellum
