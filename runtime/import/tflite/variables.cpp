#include "import/tflite/variables.hpp"

#include "graph/operator_support.hpp"
#include "import/tflite/tensors.hpp"

namespace vellum::tflite {
namespace {

int32_t tensor_of(const flatbuffers::Vector<int32_t>* list, flatbuffers::uoffset_t index,
                  const schema::SubGraph& graph) {
  const int32_t id = list != nullptr && index < list->size() ? list->Get(index) : -1;
  if (id < 0 || graph.tensors() == nullptr || static_cast<size_t>(id) >= graph.tensors()->size())
    refuse_model("an operator on variables names tensor " + std::to_string(id) + ", which does not exist");
  return id;
}

// Calls `assign` with the name of the variable and the tensor, for each ASSIGN_VARIABLE of a graph.
template <typename Assign>
void for_each_assignment(File& file, const schema::SubGraph& graph, const Assign& assign) {
  std::map<int32_t, std::string> handles;
  if (graph.operators() == nullptr) return;
  constexpr uint64_t kPerOperator = 512;
  file.count(graph.operators()->size(), kPerOperator);
  for (const schema::Operator* op : *graph.operators()) {
    const int32_t number = operator_number(file.model, *op);
    if (number == kVarHandle) handles[tensor_of(op->outputs(), 0, graph)] = variable_name(*op);
    if (number != kAssignVariable) continue;
    const auto handle = handles.find(tensor_of(op->inputs(), 0, graph));
    if (handle == handles.end()) refuse_model("ASSIGN_VARIABLE of what is no variable");
    assign(handle->second, tensor_of(op->inputs(), 1, graph));
  }
}

void read_initial_values(File& file, const schema::Operator& call, Variables& variables) {
  const auto* options = call.builtin_options_as<schema::CallOnceOptions>();
  const int32_t index = options == nullptr ? 0 : options->init_subgraph_index();
  if (index < 0) refuse_model("CALL_ONCE of graph " + std::to_string(index));
  const schema::SubGraph& graph = subgraph_at(file.model, static_cast<uint32_t>(index));
  for_each_assignment(file, graph, [&](const std::string& name, int32_t tensor) {
    const schema::Tensor& value = *graph.tensors()->Get(static_cast<flatbuffers::uoffset_t>(tensor));
    variables[name].initial = read_constant(file, value);
    if (!variables[name].initial)
      refuse_unsupported("variable " + quoted_name(name) + " begins with a computed value");
  });
}

}  // namespace

std::string variable_name(const schema::Operator& handle) {
  const auto* options = handle.builtin_options_as<schema::VarHandleOptions>();
  const auto* name = options == nullptr ? nullptr : options->shared_name();
  if (name == nullptr || name->size() == 0) refuse_model("a variable without a name");
  constexpr flatbuffers::uoffset_t kLongest = 4096;
  if (name->size() > kLongest)
    refuse_unsupported("a variable whose name has " + std::to_string(name->size()) + " bytes");
  return name->str();
}

Variables read_variables(File& file, const schema::SubGraph& graph) {
  Variables variables;
  for (const schema::Operator* op : *graph.operators())
    if (operator_number(file.model, *op) == kCallOnce) read_initial_values(file, *op, variables);
  for_each_assignment(file, graph,
                      [&](const std::string& name, int32_t) { variables[name].is_assigned = true; });
  return variables;
}

}  // namespace vellum::tflite
