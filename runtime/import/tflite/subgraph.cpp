#include "import/tflite/subgraph.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/operators/control/branch.hpp"
#include "import/names.hpp"
#include "import/tflite/call.hpp"
#include "import/tflite/dilation.hpp"
#include "import/tflite/unranked.hpp"
#include "import/tflite/variables.hpp"
#include "vellum/error.hpp"

namespace vellum::tflite {
namespace {

struct OperatorType {
  std::string name;
  int version = 1;
  Convert convert = nullptr;
};

OperatorType operator_type(const schema::Model& model, const schema::Operator& op) {
  const int32_t number = operator_number(model, op);
  if (number < 0) {
    refuse_model("an operator of kind " + std::to_string(op.opcode_index()) +
                 ", which the file does not list");
  }
  const schema::OperatorCode& code = *model.operator_codes()->Get(op.opcode_index());
  constexpr int32_t kCustom = 32;
  OperatorType type;
  type.version = code.version();
  if (number == kCustom) {
    constexpr size_t kLongest = 256;  // longer than each that is known
    if (code.custom_code() != nullptr) type.name = code.custom_code()->string_view().substr(0, kLongest);
    type.convert = find_custom(type.name);
    type.name = "custom operator " + quoted_name(type.name);
  } else {
    type.convert = find_builtin(number, type.name);
  }
  return type;
}

using Operators = flatbuffers::Vector<flatbuffers::Offset<schema::Operator>>;

void refuse_unknown_operators(const schema::Model& model, const Operators& operators) {
  std::set<std::string> unknown;
  for (const schema::Operator* op : operators) {
    const OperatorType type = operator_type(model, *op);
    if (type.convert == nullptr) unknown.insert(type.name);
  }
  if (unknown.empty()) return;
  std::string list;
  for (const std::string& name : unknown) list += (list.empty() ? "" : ", ") + name;
  refuse_unsupported("these operators are not supported: " + list);
}

std::vector<int32_t> ids(const flatbuffers::Vector<int32_t>* list, const Writer& writer, bool optional) {
  std::vector<int32_t> result;
  for (flatbuffers::uoffset_t i = 0; list != nullptr && i < list->size(); ++i) {
    result.push_back(list->Get(i));
    if (!optional || result.back() != kLeftOut) writer.type(result.back());  // throws where there is none
  }
  return result;
}

void convert(const schema::Model& model, const schema::Operator& op, size_t index, Writer& writer,
             const DilatedConv* dilated) {
  const OperatorType type = operator_type(model, op);
  std::string what = type.name + " #" + std::to_string(index);
  try {
    Call call{writer,
              op,
              type.name,
              type.version,
              ids(op.inputs(), writer, true),
              ids(op.outputs(), writer, false)};
    if (dilated != nullptr) {
      call.dilation = &dilated->window;
      call.inputs[0] = dilated->input;
      call.outputs[0] = dilated->output;
    }
    if (!call.outputs.empty()) what += " producing " + quoted_name(writer.name_of(call.outputs[0]));
    find_ranks(call);
    type.convert(call);
    for (const int32_t id : call.outputs) writer.round_to_grid(id);
    for (const int32_t id : ids(op.inputs(), writer, true))
      if (id != kLeftOut) writer.finished_reading(id);
  } catch (const Error& error) {
    throw Error(error.code(), what + ": " + error.what());
  }
}

}  // namespace

// Weights of 8 bits are stored, become real numbers, and are permuted: nine times the file.
File::File(const schema::Model& read, std::span<const std::byte> content, OutsideBuffers outside_buffers)
    : model(read),
      bytes(content),
      outside(std::move(outside_buffers)),
      room_((uint64_t{512} << 20) + 16 * content.size()) {
  for (const std::span<const std::byte> buffer : outside) room_ += 16 * buffer.size();
}

void File::count(uint64_t elements, uint64_t bytes_each) {
  if (elements > room_ / bytes_each)
    refuse_unsupported("its graphs take many times the file, since they share much of it");
  room_ -= elements * bytes_each;
}

const schema::SubGraph& subgraph_at(const schema::Model& model, uint32_t index) {
  if (index >= model.subgraphs()->size())
    refuse_model("there is no graph " + std::to_string(index) + " in the file");
  return *model.subgraphs()->Get(index);
}

int32_t operator_number(const schema::Model& model, const schema::Operator& op) {
  const auto* codes = model.operator_codes();
  if (codes == nullptr || op.opcode_index() >= codes->size()) return -1;
  const schema::OperatorCode& code = *codes->Get(op.opcode_index());
  return std::max<int32_t>(code.old_builtin_code(), code.builtin_code());
}

HostTensor always() {
  HostTensor yes(DType::boolean, {});
  yes.mutable_as<uint8_t>()[0] = 1;
  return yes;
}

Node call_node(const std::string& name, const Graph& graph, ValueId condition,
               const std::vector<ValueId>& inputs, const std::vector<ValueId>& outputs) {
  auto op = std::make_shared<If>();
  op->then_branch = op->else_branch = graph;
  Node node{name, op, {condition}, outputs};
  for (int branch = 0; branch < 2; ++branch)
    node.inputs.insert(node.inputs.end(), inputs.begin(), inputs.end());
  return node;
}

namespace {

template <typename T>
uint64_t size_of_list(const flatbuffers::Vector<T>* list) {
  return list == nullptr ? 0 : list->size();
}

void count_operators(File& file, const Operators& operators) {
  constexpr uint64_t kPerOperator = 512, kPerOperand = 64;
  file.count(operators.size(), kPerOperator);
  for (const schema::Operator* op : operators) {
    file.count(size_of_list(op->inputs()) + size_of_list(op->outputs()), kPerOperand);
    file.count(size_of_list(op->custom_options()));
  }
}

}  // namespace

// NOLINTNEXTLINE(misc-no-recursion): kDeepest
Graph read_subgraph(File& file, uint32_t index, const schema::SignatureDef* signature) {
  const schema::SubGraph& subgraph = subgraph_at(file.model, index);
  const auto* operators = subgraph.operators();
  if (operators == nullptr) refuse_model("the graph has no operators");
  if (file.depth == kDeepest)
    refuse_unsupported("graphs within graphs, more than " + std::to_string(kDeepest) + " deep");
  if (operators->size() > file.operators)
    refuse_unsupported("graphs within graphs with more than " + std::to_string(kMostOperators) +
                       " operators together");
  file.operators -= operators->size();
  count_operators(file, *operators);
  refuse_unknown_operators(file.model, *operators);
  if (file.depth == 0) file.variables = read_variables(file, subgraph);
  ++file.depth;
  Writer writer(file, subgraph);
  const DilatedConvs dilated = find_dilated_convs(file.model, subgraph, writer);
  for (flatbuffers::uoffset_t i = 0; i < operators->size(); ++i) {
    if (dilated.absorbed.contains(i)) continue;
    const auto conv = dilated.convs.find(i);
    convert(file.model, *operators->Get(i), i, writer, conv == dilated.convs.end() ? nullptr : &conv->second);
  }
  --file.depth;
  return writer.finish(signature);
}

}  // namespace vellum::tflite
