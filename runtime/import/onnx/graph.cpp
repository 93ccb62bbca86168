#include "import/onnx/graph.hpp"

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graph/node_spec.hpp"
#include "graph/operators/control/branch.hpp"
#include "graph/operators/control/loop.hpp"
#include "import/onnx/attributes.hpp"
#include "import/onnx/functions.hpp"
#include "import/onnx/names.hpp"
#include "import/onnx/narrow_values.hpp"
#include "import/onnx/order.hpp"
#include "import/onnx/scan.hpp"
#include "import/onnx/tensors.hpp"
#include "import/onnx/versions.hpp"
#include "vellum/error.hpp"

namespace vellum::onnx {
namespace {

// Calls `work` and adds the node's name to its errors.
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
  // `outer` reads the graph of which this one is a branch; null for the model's graph.
  GraphReader(schema::GraphProto& proto, ExternalFiles& files, int opset, GraphReader* outer)
      : proto_(proto),
        files_(files),
        graph_opset_(opset),
        opset_(opset),
        outer_(outer),
        narrow_types_(proto, outer ? &outer->narrow_types_ : nullptr) {}

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

  // The types and attributes of the graph's operators.
  GraphRecord take_record() { return std::move(record_); }
  // The names of the outer values that this graph reads, in the order of its inputs.
  const std::vector<std::string>& captured() const { return captured_; }

 private:
  // Registers a new value by its name.
  ValueId define(const std::string& name, const std::string& what, ValueId id) {
    if (name.empty()) throw Error(ErrorCode::corrupt_model, what + " has no name");
    if (!ids_.emplace(name, id).second) {
      throw Error(ErrorCode::corrupt_model,
                  what + ": a value of that name is already defined: " + quoted_name(name));
    }
    return id;
  }

  void read_initialisers() {
    for (schema::TensorProto& tensor : *proto_.mutable_initializer()) {
      const std::string what = "initializer " + quoted_name(tensor.name());
      define(tensor.name(), what, graph_.add_constant(tensor.name(), take_tensor(tensor, what, files_)));
    }
  }

  // Files of IR 3 list their initializers also as inputs; in later files that means a default that may be
  // overridden. Here they are constants.
  void read_inputs() {
    std::unordered_set<std::string> names;
    for (const auto& input : proto_.input()) {
      const std::string what = "input " + quoted_name(input.name());
      if (!names.insert(input.name()).second)
        throw Error(ErrorCode::corrupt_model, what + " is declared twice");
      if (ids_.contains(input.name())) continue;
      // The inputs of a body have the types of the values that the node passes, which may be sequences.
      if (outer_ != nullptr && !input.type().has_tensor_type()) {
        graph_.inputs.push_back(define(input.name(), what, graph_.add_value(input.name())));
        continue;
      }
      if (!input.has_type() || !input.type().has_tensor_type()) {
        throw Error(ErrorCode::unsupported,
                    what + " is not a tensor; sequences, maps and optionals are not supported");
      }
      const auto& type = input.type().tensor_type();
      const DType dtype = to_dtype(type.elem_type(), what);
      // Without a shape even the number of dimensions is unknown; the caller must give the shape.
      const ValueId id = graph_.add_value(input.name(), {dtype, read_shape(type.shape())}, type.has_shape());
      graph_.inputs.push_back(define(input.name(), what, id));
    }
  }

  bool is_defined(const std::string& name) const {
    return ids_.contains(name) || (outer_ != nullptr && outer_->is_defined(name));
  }

  // Returns the value of that name. A value of an outer graph becomes an input of this one.
  ValueId use(const std::string& name, const std::string& what) {
    if (const auto found = ids_.find(name); found != ids_.end()) return found->second;
    if (!is_defined(name)) {
      throw Error(ErrorCode::corrupt_model,
                  what + " " + quoted_name(name) + " is produced by no node and is no input");
    }
    const ValueId id = graph_.add_value(name);
    ids_.emplace(name, id);
    graph_.inputs.push_back(id);
    captured_.push_back(name);
    return id;
  }

  void read_node(schema::NodeProto& proto) {
    const std::string what = describe(proto);
    opset_ = take_operator_set(proto).value_or(graph_opset_);
    naming(what, [&] {
      if (proto.op_type() == "Constant") {
        read_constant(proto);
      } else if (proto.op_type() == "If") {
        read_if(proto);
      } else if (proto.op_type() == "Loop") {
        read_loop(proto);
      } else if (proto.op_type() == "Scan") {
        read_scan(proto);
      } else {
        read_operator(proto, take_attributes(proto, files_));
      }
    });
  }

  // https://github.com/onnx/onnx/blob/main/docs/Operators.md#Constant
  void read_constant(schema::NodeProto& proto) {
    if (proto.output_size() != 1 || proto.attribute_size() != 1) {
      throw Error(ErrorCode::corrupt_model, "a constant must have one output and one attribute");
    }
    const std::string kind = proto.attribute(0).name();
    const Attributes attributes = take_attributes(proto, files_);
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
                  "a constant given by attribute " + quoted_name(kind) + " is not supported");
    }
    define(proto.output(0), "output", graph_.add_constant(proto.output(0), std::move(tensor)));
  }

  // Returns the node with its values, without its operator.
  Node read_values(const schema::NodeProto& proto) {
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
    // A node of the graph always has its first output, even if the file omits it.
    if (node.outputs[0] == kNoValue)
      node.outputs[0] = graph_.add_value("first output of node " + std::to_string(graph_.nodes.size()));
    return node;
  }

  // An input that only names a narrow type becomes an attribute: values have the type they are stored in.
  std::string with_named_types(const schema::NodeProto& proto, Node& node, Attributes& attributes) const {
    if (proto.op_type() == "CastLike" && proto.input_size() == 2 && narrow_types_.find(proto.input(1)) != 0) {
      attributes.set("to", narrow_types_.find(proto.input(1)));
      node.inputs.resize(1);
      return "Cast";
    }
    if (proto.op_type() == "QuantizeLinear" && proto.input_size() == 3 &&
        narrow_types_.find(proto.input(2)) != 0)
      attributes.set("output_dtype", narrow_types_.find(proto.input(2)));
    return operator_type(proto);
  }

  void read_operator(const schema::NodeProto& proto, Attributes attributes) {
    Node node = read_values(proto);
    std::string type = with_named_types(proto, node, attributes);
    node.op = make_operator(spec_of(type, node.name, opset_, attributes, node.inputs, node.outputs.size()));
    add(std::move(node), {std::move(type), opset_, std::move(attributes), {}});
  }

  void add(Node node, NodeRecord record) {
    graph_.nodes.push_back(std::move(node));
    record_.push_back(std::move(record));
  }

  // Returns the graph of an attribute, and appends the outer values that it reads to the inputs of `node`. It
  // declares `inputs` inputs.
  Graph read_inner(schema::NodeProto& proto, const std::string& name, size_t inputs, Node& node,
                   NodeRecord& record) {
    for (auto& attribute : *proto.mutable_attribute()) {
      if (attribute.name() != name || attribute.type() != schema::AttributeProto::GRAPH) continue;
      GraphReader reader(*attribute.mutable_g(), files_, graph_opset_, this);
      Graph inner = naming(name, [&] { return reader.read(); });
      if (inner.inputs.size() - reader.captured().size() != inputs)
        throw Error(ErrorCode::corrupt_model, name + (inputs == 0 ? " must have no inputs"
                                                                  : " must have " + std::to_string(inputs) +
                                                                        " inputs, as the node says"));
      for (const std::string& captured : reader.captured()) node.inputs.push_back(use(captured, "input"));
      record.branches.push_back(reader.take_record());
      return inner;
    }
    throw Error(ErrorCode::corrupt_model, "the graph " + name + " is missing");
  }

  Graph read_branch(schema::NodeProto& proto, const std::string& name, Node& node, NodeRecord& record) {
    Graph branch = read_inner(proto, name, 0, node, record);
    if (branch.outputs.size() < node.outputs.size())
      throw Error(ErrorCode::corrupt_model, name + " has fewer outputs than the node");
    return branch;
  }

  void read_if(schema::NodeProto& proto) {
    Node node = read_values(proto);
    if (node.inputs.size() != 1 || proto.attribute_size() != 2) {
      throw Error(ErrorCode::corrupt_model, "the node must have one input and two graphs");
    }
    auto op = std::make_shared<If>();
    NodeRecord record{proto.op_type(), opset_, {}, {}};
    op->then_branch = read_branch(proto, "then_branch", node, record);
    op->else_branch = read_branch(proto, "else_branch", node, record);
    node.op = std::move(op);
    add(std::move(node), std::move(record));
  }

  // A constant for an input that the file leaves out.
  ValueId add_default(const Node& node, const std::string& what, HostTensor tensor) {
    std::string name = node.name + "/" + what;
    while (is_defined(name)) name += "'";
    return define(name, what, graph_.add_constant(name, std::move(tensor)));
  }

  static HostTensor always() {
    HostTensor condition(DType::boolean, {});
    condition.mutable_as<uint8_t>()[0] = 1;
    return condition;
  }

  void read_loop(schema::NodeProto& proto) {
    Node node = read_values(proto);
    const size_t inputs = std::max<size_t>(2, node.inputs.size());
    node.inputs.resize(inputs, kNoValue);
    if (node.inputs[0] == kNoValue)
      node.inputs[0] = add_default(node, "count", HostTensor::i64({}, std::vector<int64_t>{INT64_MAX}));
    if (node.inputs[1] == kNoValue) node.inputs[1] = add_default(node, "condition", always());
    auto op = std::make_shared<LoopOperator>();
    NodeRecord record{"Loop", opset_, {}, {}};
    op->body = read_inner(proto, "body", inputs, node, record);
    op->states = inputs - 2;
    if (op->body.outputs.size() > op->states) op->stacks.resize(op->body.outputs.size() - 1 - op->states);
    add_loop(std::move(node), std::move(op), std::move(record));
  }

  void read_scan(schema::NodeProto& proto) {
    if (opset_ < 9) throw Error(ErrorCode::unsupported, "Scan of operator sets before 9 is not supported");
    Node node = read_values(proto);
    const size_t inputs = node.inputs.size();
    NodeRecord record{"Loop", opset_, {}, {}};
    Graph body = read_inner(proto, "body", inputs, node, record);
    for (int i = proto.attribute_size(); i-- > 0;)
      if (proto.attribute(i).has_g()) proto.mutable_attribute()->DeleteSubrange(i, 1);
    const ScanForm form = scan_form(take_attributes(proto, files_), inputs, body.outputs.size());
    const ValueId whole = node.inputs[inputs - form.scanned];
    std::shared_ptr<LoopOperator> op = loop_of_scan(std::move(body), form, opset_, record.branches[0]);
    // The length of the first scanned input.
    Attributes axis;
    axis.set("axis", int64_t{0});
    const ValueId shape = add_shape_node("Shape", node, {whole}, {});
    const ValueId along =
        add_default(node, "axis", HostTensor::i64({}, std::vector<int64_t>{form.inputs[0].axis}));
    const ValueId count = add_shape_node("Gather", node, {shape, along}, std::move(axis));
    node.inputs.insert(node.inputs.begin(), {count, add_default(node, "condition", always())});
    add_loop(std::move(node), std::move(op), std::move(record));
  }

  ValueId add_shape_node(const std::string& type, const Node& user, std::vector<ValueId> inputs,
                         Attributes attributes) {
    std::string name = user.name + "/" + type;
    while (is_defined(name)) name += "'";
    const ValueId output = define(name, "output", graph_.add_value(name));
    auto op = make_operator(spec_of(type, name, opset_, attributes, inputs, 1));
    Node node{name, std::move(op), std::move(inputs), {output}};
    add(std::move(node), {type, opset_, std::move(attributes), {}});
    return output;
  }

  // The record has what a bundle needs in addition to the body.
  void add_loop(Node node, std::shared_ptr<LoopOperator> op, NodeRecord record) {
    op->check_counts(node.inputs.size(), node.outputs.size());
    Attributes::Ints axes, reversed;
    for (const auto& stack : op->stacks) {
      axes.push_back(stack.axis);
      reversed.push_back(stack.reversed ? 1 : 0);
    }
    record.attributes.set("states", static_cast<int64_t>(op->states));
    record.attributes.set("axes", std::move(axes));
    record.attributes.set("reversed", std::move(reversed));
    node.op = std::move(op);
    add(std::move(node), std::move(record));
  }

  void read_outputs() {
    if (proto_.output_size() == 0)
      throw Error(ErrorCode::corrupt_model, "the graph has no outputs, or is truncated");
    std::unordered_set<std::string> names;
    for (const auto& output : proto_.output()) {
      if (!names.insert(output.name()).second) {
        throw Error(ErrorCode::corrupt_model, "output " + quoted_name(output.name()) + " is declared twice");
      }
      const ValueId id = use(output.name(), "graph output");
      graph_.outputs.push_back(id);
      if (!graph_.values[id].type_known) graph_.values[id].type = declared_type(output);
    }
  }

  // Returns the type of an output as in the file, until it is inferred.
  static TensorType declared_type(const schema::ValueInfoProto& output) {
    const auto& type = output.type().tensor_type();
    const Shape shape = type.has_shape() ? read_shape(type.shape()) : Shape{kUnknownDim};
    try {
      return {to_dtype(type.elem_type(), output.name()), shape};
    } catch (const Error&) {
      return {DType::f32, shape};  // not a type that can be declared here; the real one is inferred
    }
  }

  schema::GraphProto& proto_;
  ExternalFiles& files_;
  const int graph_opset_;
  int opset_;  // of the node that is being read
  GraphReader* const outer_;
  Graph graph_;
  GraphRecord record_;
  std::unordered_map<std::string, ValueId> ids_;
  std::vector<std::string> captured_;
  const NarrowTypes narrow_types_;
};

}  // namespace

Graph take_graph(schema::ModelProto& model, const std::filesystem::path& folder, GraphRecord* record,
                 const std::filesystem::path& links_within) {
  const int opset = read_versions(model);
  inline_functions(model, opset);
  refuse_unknown_operators(model);
  ExternalFiles files(folder, links_within);
  GraphReader reader(*model.mutable_graph(), files, opset, nullptr);
  Graph graph = reader.read();
  if (record) *record = reader.take_record();
  return graph;
}

}  // namespace vellum::onnx
