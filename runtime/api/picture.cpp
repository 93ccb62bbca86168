// with_picture(): models whose outputs are pictures in bytes.
#include "vellum/picture.hpp"

#include <algorithm>
#include <cmath>

#include "api/graph_edit.hpp"
#include "api/guard.hpp"
#include "api/impl.hpp"
#include "api/tensor_names.hpp"
#include "graph/operators/elementwise/cast.hpp"
#include "graph/operators/movement/frame.hpp"
#include "graph/operators/movement/picture.hpp"
#include "graph/operators/movement/reshape.hpp"
#include "graph/operators/movement/transpose.hpp"

namespace vellum {
namespace {

[[noreturn]] void refuse_picture(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, "a picture " + what);
}

void check_picture(const PictureOutput& picture) {
  check_choice(picture.colors, PictureColors::rgb, "PictureOutput::colors");
  check_choice(picture.filter, PictureFilter::nearest, "PictureOutput::filter");
  check_choice(picture.channels, ChannelOrder::last, "PictureOutput::channels");
  for (const uint32_t size : {picture.width, picture.height})
    if (size > kMostPicturePixels)
      refuse_picture("of " + std::to_string(size) + " pixels: width and height must be in 1.." +
                     std::to_string(kMostPicturePixels));
  if (!std::isfinite(picture.low) || !std::isfinite(picture.high) || picture.low == picture.high)
    refuse_picture("from " + std::to_string(picture.low) + " to " + std::to_string(picture.high) +
                   ": low and high must be finite and differ");
  const size_t colors = picture.palette.size();
  if (colors > static_cast<size_t>(kMostPictureColors))
    refuse_picture("with " + std::to_string(colors) + " colours: at most " +
                   std::to_string(kMostPictureColors) + " are supported");
  if (picture.colors == PictureColors::classes && colors == 0) refuse_picture("of classes needs a palette");
  if (picture.colors == PictureColors::rgb && colors > 0)
    refuse_picture("of red, green and blue takes no palette");
}

HostTensor palette_tensor(const PictureOutput& picture) {
  std::vector<std::array<uint8_t, 4>> colors = picture.palette;
  if (colors.empty()) colors = {{0, 0, 0, 255}, {255, 255, 255, 255}};
  std::vector<float> values;
  for (const auto& color : colors) values.insert(values.end(), color.begin(), color.end());
  return Tensor::f32({static_cast<int64_t>(colors.size()), 4}, values);
}

// Puts operators that make a picture of an output of the graph after the others.
class PictureEnd {
 public:
  PictureEnd(Graph& graph, size_t position, const TensorInfo& info, const PictureOutput& picture)
      : graph_(graph), position_(position), info_(info), picture_(picture) {}

  void build() {
    check_picture(picture_);
    const bool last = channels_are_last();
    const ValueId output = graph_.outputs[position_];
    ValueId values = output;
    if (picture_.name.empty())
      graph_.values[output].name = unused_name(graph_, info_.name + ".values");
    else if (graph_.find_value(picture_.name))
      refuse_picture("cannot be called '" + picture_.name + "': the model has a value of this name");
    if (!is_float(info_.dtype)) values = cast(values);
    if (info_.shape.size() < 4) values = reshape(values);
    if (last) values = transpose(values);
    values_shape_ = nchw_shape(last);
    const ValueId painted = paint(values);
    if (picture_.name.empty()) {
      std::swap(graph_.values[painted].signature_name, graph_.values[output].signature_name);
      graph_.outputs[position_] = painted;
    } else {
      graph_.outputs.push_back(painted);
    }
    check(graph_);
  }

 private:
  // Also refuses outputs of other shapes.
  bool channels_are_last() const {
    const Shape& shape = info_.shape;
    const auto refuse = [&](const std::string& why) {
      throw Error(ErrorCode::unsupported,
                  "output '" + info_.name + "' of " + to_string(shape) + " makes no picture: " + why);
    };
    const size_t rank = shape.size();
    if (!is_known(shape)) refuse("the model leaves its shape open");
    if (rank < 2 || rank > 4 || (rank > 2 && shape[0] != 1) || element_count(shape) == 0)
      refuse("it is not [1, C, H, W], [1, H, W, C], [1, H, W] or [H, W]");
    const bool last = rank == 4 && (picture_.channels == ChannelOrder::last ||
                                    (picture_.channels == ChannelOrder::automatic && shape[3] < shape[1]));
    const int64_t channels = rank < 4 ? 1 : shape[last ? 3 : 1];
    if (picture_.colors == PictureColors::rgb && channels != 3 && channels != 4)
      refuse_picture("of red, green and blue has 3 or 4 channels, but output '" + info_.name + "' is " +
                     to_string(shape));
    return last;
  }

  // Uses the shapes of the model's outputs, because the shapes of the graph's values may be unknown yet.
  Shape nchw_shape(bool last) const {
    const Shape& s = info_.shape;
    if (s.size() < 4) return {1, 1, s[s.size() - 2], s[s.size() - 1]};
    return last ? Shape{1, s[3], s[1], s[2]} : s;
  }

  ValueId add_node(std::shared_ptr<const Operator> op, std::vector<ValueId> inputs,
                   const std::string& output = {}) {
    const std::string name = info_.name + "." + std::string(op->type());
    const ValueId value = graph_.add_value(output.empty() ? unused_name(graph_, name) : output);
    graph_.nodes.push_back({name, std::move(op), std::move(inputs), {value}});
    return value;
  }

  ValueId cast(ValueId value) {
    auto op = std::make_shared<Cast>();
    op->to = DType::f32;
    return add_node(std::move(op), {value});
  }

  ValueId reshape(ValueId value) {
    auto op = std::make_shared<Reshape>();
    op->shape = nchw_shape(false);
    return add_node(std::move(op), {value});
  }

  // Passes cancel this Transpose with the Transpose at the end of the network.
  ValueId transpose(ValueId value) {
    auto op = std::make_shared<Transpose>();
    op->perm = Ints{0, 3, 1, 2};
    return add_node(std::move(op), {value});
  }

  ValueId paint(ValueId values) {
    auto op = std::make_shared<Picture>();
    op->colors = picture_.colors;
    op->filter = picture_.filter;
    op->low = picture_.low;
    op->high = picture_.high;
    std::vector<ValueId> inputs{
        values, graph_.add_constant(unused_name(graph_, info_.name + ".palette"), palette_tensor(picture_))};
    op->width = values_shape_[3];
    op->height = values_shape_[2];
    if (!picture_.over.empty()) put_over_frame(*op, inputs);
    if (picture_.width) op->width = picture_.width;
    if (picture_.height) op->height = picture_.height;
    for (const int64_t size : {op->width, op->height})
      if (size > kMostPicturePixels)
        refuse_picture("of " + std::to_string(size) + " pixels: give a width and height of at most " +
                       std::to_string(kMostPicturePixels));
    return add_node(std::move(op), std::move(inputs), picture_.name.empty() ? info_.name : picture_.name);
  }

  void put_over_frame(Picture& op, std::vector<ValueId>& inputs) const {
    const auto node = std::ranges::find_if(graph_.nodes, [&](const Node& one) {
      if (one.op->type() != "Frame") return false;
      const Value& frame = graph_.values[one.inputs[0]];
      return frame.name == picture_.over || frame.signature_name == picture_.over;
    });
    if (node == graph_.nodes.end())
      refuse_picture("is drawn over '" + picture_.over +
                     "', which is no input that takes frames: with_frames()");
    const auto& frame = dynamic_cast<const Frame&>(*node->op);
    op.has_frame = true;
    op.frame = frame.frame;
    op.network_width = frame.width;
    op.network_height = frame.height;
    op.width = frame.frame.width;
    op.height = frame.frame.height;
    inputs.insert(inputs.end(), node->inputs.begin(), node->inputs.end());
  }

  Graph& graph_;
  size_t position_;
  TensorInfo info_;
  const PictureOutput& picture_;
  Shape values_shape_;
};

}  // namespace

Model with_picture(const Model& model, std::string_view output, const PictureOutput& picture) {
  return guard([&] {
    const std::vector<TensorInfo>& outputs = model.outputs();
    const size_t index = position(outputs, output, "output");
    Graph graph = impl(model)->graph;
    PictureEnd(graph, index, outputs[index], picture).build();
    auto pictured = std::make_shared<Model::Impl>(std::move(graph));
    pictured->packed = impl(model)->packed;
    return Handles::model(std::move(pictured));
  });
}

}  // namespace vellum
