// Changes ONNX models so that most of them still parse: libFuzzer's own changes of bytes mostly end in the
// reader.
#include <vellum_onnx.pb.h>

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "graph/operator.hpp"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace vellum {
namespace {

using onnx_schema::AttributeProto;
using onnx_schema::GraphProto;
using onnx_schema::ModelProto;
using onnx_schema::NodeProto;
using onnx_schema::TensorProto;

class Mutator {
 public:
  Mutator(GraphProto& graph, unsigned seed) : graph_(graph), random_(seed) {}

  void mutate() {
    if (graph_.node_size() == 0) return;
    NodeProto& node = *graph_.mutable_node(static_cast<int>(pick(graph_.node_size())));
    switch (pick(10)) {
      case 0:
        change_type(node);
        break;
      case 1:
        graph_.mutable_node()->DeleteSubrange(static_cast<int>(pick(graph_.node_size())), 1);
        break;
      case 2:
        repeat(node);
        break;
      case 3:
      case 4:
        rewire(node);
        break;
      case 5:
      case 6:
        change_attribute(node);
        break;
      case 7:
        change_initializer();
        break;
      case 8:
        change_input_shape();
        break;
      default:
        change_outputs(node);
    }
  }

 private:
  size_t pick(int count) { return count > 0 ? random_() % static_cast<size_t>(count) : 0; }

  int64_t number() {
    static constexpr int64_t numbers[] = {
        0, 1, -1, 2, 3, -2, 4, 5, 7, 8, 16, 127, 1 << 16, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, -3};
    return numbers[pick(std::size(numbers))];
  }

  void change_type(NodeProto& node) {
    static const std::vector<std::string_view> types = operator_types();
    node.set_op_type(std::string(types[pick(static_cast<int>(types.size()))]));
  }

  void repeat(const NodeProto& node) {
    NodeProto copy = node;
    for (std::string& output : *copy.mutable_output()) output += "_again";
    const std::string output = copy.output_size() > 0 ? copy.output(0) : "";
    *graph_.add_node() = copy;
    if (!output.empty()) graph_.add_output()->set_name(output);
  }

  std::string any_value() {
    std::vector<std::string> names{""};
    for (const auto& input : graph_.input()) names.push_back(input.name());
    for (const auto& tensor : graph_.initializer()) names.push_back(tensor.name());
    for (const auto& node : graph_.node())
      for (const std::string& output : node.output()) names.push_back(output);
    return names[pick(static_cast<int>(names.size()))];
  }

  void rewire(NodeProto& node) {
    if (node.input_size() == 0 || pick(4) == 0)
      node.add_input(any_value());
    else if (pick(4) == 0)
      node.mutable_input()->RemoveLast();
    else
      node.set_input(static_cast<int>(pick(node.input_size())), any_value());
  }

  void change_attribute(NodeProto& node) {
    if (node.attribute_size() == 0) {
      static constexpr const char* names[] = {"axis", "keepdims",  "group", "alpha",
                                              "to",   "blocksize", "mode"};
      AttributeProto& added = *node.add_attribute();
      added.set_name(names[pick(std::size(names))]);
      added.set_type(AttributeProto::INT);
      added.set_i(number());
      return;
    }
    AttributeProto& attribute = *node.mutable_attribute(static_cast<int>(pick(node.attribute_size())));
    if (attribute.ints_size() > 0 && pick(4) == 0)
      attribute.mutable_ints()->RemoveLast();
    else if (attribute.ints_size() > 0)
      attribute.set_ints(static_cast<int>(pick(attribute.ints_size())), number());
    else if (attribute.type() == AttributeProto::INT)
      attribute.set_i(number());
    else if (attribute.type() == AttributeProto::FLOAT)
      attribute.set_f(static_cast<float>(number()));
    else if (pick(2) == 0)
      node.mutable_attribute()->RemoveLast();
    else
      attribute.set_type(AttributeProto::INT);
  }

  void change_initializer() {
    if (graph_.initializer_size() == 0) return;
    TensorProto& tensor = *graph_.mutable_initializer(static_cast<int>(pick(graph_.initializer_size())));
    std::string& raw = *tensor.mutable_raw_data();
    switch (pick(4)) {
      case 0:
        if (tensor.dims_size() > 0) tensor.set_dims(static_cast<int>(pick(tensor.dims_size())), number());
        break;
      case 1:
        tensor.set_data_type(static_cast<int>(pick(24)));
        break;
      case 2:
        if (raw.size() >= sizeof(int64_t) && tensor.data_type() == TensorProto::INT64) {
          const int64_t value = number();
          const auto at = pick(static_cast<int>(raw.size() / sizeof(value))) * sizeof(value);
          raw.replace(at, sizeof(value),
                      std::string(static_cast<const char*>(static_cast<const void*>(&value)), sizeof(value)));
        }
        break;
      default:
        if (!raw.empty()) raw[pick(static_cast<int>(raw.size()))] = static_cast<char>(random_());
    }
  }

  void change_input_shape() {
    if (graph_.input_size() == 0) return;
    auto& shape = *graph_.mutable_input(static_cast<int>(pick(graph_.input_size())))
                       ->mutable_type()
                       ->mutable_tensor_type()
                       ->mutable_shape();
    if (pick(4) == 0)
      shape.add_dim()->set_dim_value(number());
    else if (shape.dim_size() > 0 && pick(4) == 0)
      shape.mutable_dim()->RemoveLast();
    else if (shape.dim_size() > 0 && pick(3) == 0)
      shape.mutable_dim(static_cast<int>(pick(shape.dim_size())))->set_dim_param("n");
    else if (shape.dim_size() > 0)
      shape.mutable_dim(static_cast<int>(pick(shape.dim_size())))->set_dim_value(number());
  }

  void change_outputs(NodeProto& node) {
    switch (pick(3)) {
      case 0:
        node.add_output("more" + std::to_string(random_() % 1000));
        break;
      case 1:
        if (node.output_size() > 0) node.set_output(static_cast<int>(pick(node.output_size())), "");
        break;
      default:
        if (node.output_size() > 0) graph_.add_output()->set_name(node.output(0));
    }
  }

  GraphProto& graph_;
  std::mt19937 random_;
};

}  // namespace
}  // namespace vellum

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  vellum::onnx_schema::ModelProto model;
  if (seed % 20 == 0 || !model.ParseFromArray(data, static_cast<int>(size)))
    return LLVMFuzzerMutate(data, size, max_size);
  vellum::Mutator mutator(*model.mutable_graph(), seed);
  for (unsigned i = 0; i <= seed % 3; ++i) mutator.mutate();
  const std::string bytes = model.SerializeAsString();
  if (bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  bytes.copy(static_cast<char*>(static_cast<void*>(data)), bytes.size());
  return bytes.size();
}
