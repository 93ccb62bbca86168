#include "import/onnx/graph.hpp"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "import/onnx/attributes.hpp"
#include "import/onnx/names.hpp"
#include "import/onnx/order.hpp"
#include "import/onnx/tensors.hpp"
#include "import/onnx/versions.hpp"
#include "vellum/error.hpp"

namespace vellum::onnx {
namespace {

// Runs `work`, adding the node to whatever is wrong in it.
template <typename Work>
auto naming(const std::string& node, Work&& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(error.code(), node + ": " + error.what());
  }
}

// A dimension without a positive number is open: unnamed, named ("batch"), or one of the -1 and 0 that
// exporters write.
Shape read_shape(const schema::TensorShapeProto& proto) {
  Shape shape;
  for (const auto& dim : proto.dim()) shape.push_back(dim.dim_value() > 0 ? dim.dim_value() : kUnknownDim);
  return shape;
}

class GraphReader {
 public:
  GraphReader(schema::ModelProto& model, const std::filesystem::path& folder)
      : proto_(*model.mutable_graph()), folder_(folder), opset_(read_versions(model)) {
    refuse_unknown_operators(model);
  }

  Graph read() {
    graph_.name = proto_.name();
    if (proto_.sparse_initializer_size() > 0) {
      throw Error(ErrorCode::unsupported,
                  "sparse initializers are not supported; export the weights as dense tensors");
    }
    read_initialisers();
    read_inputs();
    for (const size_t i : execution_order(proto_)) read_node(*proto_.mutable_node(static_cast<int>(i)));
    read_outputs();
    check(graph_);
    return std::move(graph_);
  }

 private:
  // Enters a new value under its name.
  ValueId define(const std::string& name, const std::string& what, ValueId id) {
    if (name.empty()) throw Error(ErrorCode::corrupt_model, what + " has no name");
    if (!ids_.emplace(name, id).second) {
      throw Error(ErrorCode::corrupt_model,
                  what + ": a value of that name is already defined: " + quoted(name));
    }
    return id;
  }

  void read_initialisers() {
    for (schema::TensorProto& tensor : *proto_.mutable_initializer()) {
      const std::string what = "initializer " + quoted(tensor.name());
      define(tensor.name(), what, graph_.add_constant(tensor.name(), take_tensor(tensor, what, folder_)));
    }
  }

  // Files of IR 3 list their initializers among the inputs too, later ones may: as a default that could be
  // overridden. Weights are constants here.
  void read_inputs() {
    std::unordered_set<std::string> names;
    for (const auto& input : proto_.input()) {
      const std::string what = "input " + quoted(input.name());
      if (!names.insert(input.name()).second)
        throw Error(ErrorCode::corrupt_model, what + " is declared twice");
      if (ids_.contains(input.name())) continue;
      if (!input.has_type() || !input.type().has_tensor_type()) {
        throw Error(ErrorCode::unsupported,
                    what + " is not a tensor; sequences, maps and optionals are not supported");
      }
      const auto& type = input.type().tensor_type();
      const DType dtype = to_dtype(type.elem_type(), what);
      // Not even the number of dimensions is known without a shape; the caller has to give one.
      const ValueId id = graph_.add_value(input.name(), {dtype, read_shape(type.shape())}, type.has_shape());
      graph_.inputs.push_back(define(input.name(), what, id));
    }
  }

  ValueId use(const std::string& name, const std::string& what) const {
    const auto found = ids_.find(name);
    if (found == ids_.end()) {
      throw Error(ErrorCode::corrupt_model,
                  what + " " + quoted(name) + " is produced by no node and is no input");
    }
    return found->second;
  }

  void read_node(schema::NodeProto& proto) {
    const std::string what = describe(proto);
    naming(what, [&] {
      if (proto.op_type() == "Constant") {
        read_constant(proto);
      } else {
        read_operator(proto, take_attributes(proto, folder_));
      }
    });
  }

  // https://github.com/onnx/onnx/blob/main/docs/Operators.md#Constant
  void read_constant(schema::NodeProto& proto) {
    if (proto.output_size() != 1 || proto.attribute_size() != 1) {
      throw Error(ErrorCode::corrupt_model, "a constant must have one output and one attribute");
    }
    const std::string kind = proto.attribute(0).name();
    const Attributes attributes = take_attributes(proto, folder_);
    HostTensor tensor;
    if (kind == "value") {
      tensor = *attributes.get_tensor(kind);
    } else if (kind == "value_float") {
      tensor = HostTensor::f32({}, std::vector<float>{attributes.get_float(kind, 0.0f)});
    } else if (kind == "value_int") {
      tensor = HostTensor::i64({}, std::vector<int64_t>{attributes.get_int(kind, 0)});
    } else if (kind == "value_floats") {
      const auto floats = attributes.get_floats(kind);
      tensor = HostTensor::f32({static_cast<int64_t>(floats.size())}, floats);
    } else if (kind == "value_ints") {
      const auto ints = attributes.get_ints(kind);
      tensor = HostTensor::i64({static_cast<int64_t>(ints.size())}, ints);
    } else {
      throw Error(ErrorCode::unsupported,
                  "a constant given by attribute " + quoted(kind) + " is not supported");
    }
    define(proto.output(0), "output", graph_.add_constant(proto.output(0), std::move(tensor)));
  }

  void read_operator(const schema::NodeProto& proto, const Attributes& attributes) {
    Node node;
    node.name = !proto.name().empty() || proto.output_size() == 0 ? proto.name() : proto.output(0);
    for (const auto& input : proto.input())
      node.inputs.push_back(input.empty() ? kNoValue : use(input, "input"));
    while (!node.inputs.empty() && node.inputs.back() == kNoValue) node.inputs.pop_back();
    for (const auto& output : proto.output()) {
      node.outputs.push_back(output.empty() ? kNoValue : define(output, "output", graph_.add_value(output)));
    }
    while (!node.outputs.empty() && node.outputs.back() == kNoValue) node.outputs.pop_back();
    if (node.outputs.empty()) throw Error(ErrorCode::corrupt_model, "the node has no outputs");

    NodeSpec spec;
    spec.type = proto.op_type();
    spec.name = node.name;
    spec.opset = opset_;
    spec.attributes = &attributes;
    for (const ValueId id : node.inputs) spec.input_present.push_back(id != kNoValue);
    spec.output_count = node.outputs.size();
    node.op = make_operator(spec);
    graph_.nodes.push_back(std::move(node));
  }

  void read_outputs() {
    if (proto_.output_size() == 0)
      throw Error(ErrorCode::corrupt_model, "the graph has no outputs, or is truncated");
    std::unordered_set<std::string> names;
    for (const auto& output : proto_.output()) {
      if (!names.insert(output.name()).second) {
        throw Error(ErrorCode::corrupt_model, "output " + quoted(output.name()) + " is declared twice");
      }
      graph_.outputs.push_back(use(output.name(), "graph output"));
    }
  }

  schema::GraphProto& proto_;
  const std::filesystem::path& folder_;
  const int opset_;
  Graph graph_;
  std::unordered_map<std::string, ValueId> ids_;
};

}  // namespace

Graph take_graph(schema::ModelProto& model, const std::filesystem::path& folder) {
  return GraphReader(model, folder).read();
}

}  // namespace vellum::onnx
