#include "estimate/driver_probes.hpp"

#include <initializer_list>
#include <string>
#include <utility>

namespace vellum {
namespace {

using Ints = std::vector<int64_t>;
using AttributeList = std::initializer_list<std::pair<const char*, Attributes::Value>>;

constexpr int kProbeOpset = 13;

// A chain of layers that begins with one picture. The values of weights do not matter, except that equal
// weights would be stored once.
class Chain {
 public:
  explicit Chain(const Shape& picture) {
    last_ = graph_.add_value("x", {DType::f32, picture}, true);
    graph_.inputs.push_back(last_);
  }

  Chain& conv(int64_t from, int64_t to, int64_t kernel, int64_t stride = 1, int64_t group = 1) {
    const int64_t pad = kernel / 2;
    return layer("Conv", {weights({to, from / group, kernel, kernel}), weights({to})},
                 {{"pads", Ints{pad, pad, pad, pad}}, {"strides", Ints{stride, stride}}, {"group", group}});
  }
  Chain& layer(const std::string& type, const std::vector<ValueId>& more = {}, AttributeList list = {}) {
    Attributes attributes;
    for (const auto& [name, value] : list) attributes.set(name, value);
    Node node{type + std::to_string(graph_.nodes.size()), nullptr, {last_}, {}};
    node.inputs.insert(node.inputs.end(), more.begin(), more.end());
    node.op = make_operator({.type = type,
                             .name = node.name,
                             .opset = kProbeOpset,
                             .attributes = &attributes,
                             .input_present = std::vector<bool>(node.inputs.size(), true)});
    last_ = graph_.add_value(node.name);
    node.outputs = {last_};
    graph_.nodes.push_back(std::move(node));
    return *this;
  }
  ValueId weights(Shape shape) {
    HostTensor tensor(DType::f32, std::move(shape));
    float value = static_cast<float>(graph_.values.size());
    for (float& element : tensor.mutable_as<float>()) element = value += 0.25f;
    return graph_.add_constant("w" + std::to_string(graph_.values.size()), std::move(tensor));
  }
  ValueId last() const { return last_; }
  Graph done() {
    graph_.outputs = {last_};
    return std::move(graph_);
  }

 private:
  Graph graph_;
  ValueId last_ = kNoValue;
};

}  // namespace

std::vector<Graph> driver_probes() {
  std::vector<Graph> probes;
  probes.push_back(Chain({1, 4, 8, 8}).layer("Relu").done());
  // The first layers of a mobile network.
  probes.push_back(
      Chain({1, 3, 64, 64}).conv(3, 16, 3, 2).layer("Relu").conv(16, 16, 3, 1, 16).conv(16, 24, 1).done());
  // The last layers of a mobile network.
  Chain end({1, 40, 10, 10});
  end.conv(40, 80, 1).layer("HardSwish").conv(80, 80, 5, 2, 80).layer("GlobalAveragePool").layer("Flatten");
  const ValueId matrix = end.weights({80, 100});
  probes.push_back(end.layer("MatMul", {matrix}).layer("Softmax").done());
  // Pointwise convolutions, and a block of a residual network, both just large enough for the largest tiles.
  probes.push_back(Chain({1, 256, 28, 28}).conv(256, 256, 1).layer("Relu").conv(256, 256, 1).done());
  Chain block({1, 64, 40, 40});
  const ValueId shortcut = block.last();
  probes.push_back(block.conv(64, 64, 3).layer("Relu").conv(64, 64, 3).layer("Add", {shortcut}).done());
  // A decoder.
  Chain decoder({1, 32, 16, 16});
  const ValueId skipped = decoder.last();
  decoder.layer("MaxPool", {}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}).layer("Sigmoid");
  const ValueId kernel = decoder.weights({32, 32, 2, 2});
  decoder.layer("ConvTranspose", {kernel}, {{"strides", Ints{2, 2}}});
  decoder.layer("Concat", {skipped}, {{"axis", int64_t{1}}}).conv(64, 32, 3);
  probes.push_back(decoder.layer("Transpose", {}, {{"perm", Ints{0, 2, 3, 1}}}).done());
  return probes;
}

}  // namespace vellum
