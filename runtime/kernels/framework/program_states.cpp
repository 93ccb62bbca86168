// ProgramBuilder's functions for states: inputs that stay on the device and get the value of an output in
// each run.
#include <algorithm>

#include "graph/graph.hpp"
#include "graph/operators/movement/cache_update.hpp"
#include "kernels/framework/program_builder.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

[[noreturn]] void refuse_state(const std::string& input, const std::string& why,
                               ErrorCode code = ErrorCode::invalid_argument) {
  throw Error(code, "input '" + input + "' cannot be state: " + why);
}

// Returns whether the output has more elements than the input along exactly one dimension, as a growing cache
// has.
bool grows(const Shape& input, const Shape& output) {
  if (input.size() != output.size()) return false;
  size_t longer = 0;
  for (size_t i = 0; i < input.size(); ++i) {
    if (output[i] < input[i]) return false;
    if (output[i] > input[i]) ++longer;
  }
  return longer == 1;
}

void check_pair(const Value& input, const Value& output) {
  if (input.constant)
    refuse_state(input.name, element_count(input.type.shape) == 0
                                 ? "it has no elements: give it the shape of its capacity"
                                 : "its values decide shapes");
  if (input.type == output.type) return;
  std::string why =
      "it is " + to_string(input.type) + ", output '" + output.name + "' " + to_string(output.type);
  if (input.type.dtype == output.type.dtype && grows(input.type.shape, output.type.shape))
    why +=
        ", which is longer in each run; give the tokens that it has room for (state_capacity), or a model "
        "that writes into a cache of fixed capacity, with TensorScatter, ScatterND or GroupQueryAttention";
  refuse_state(input.name, why);
}

// Returns the operator that writes tokens into a cache in words; null if `cache` is none.
const CacheUpdate* update_of(const Graph& graph, ValueId cache) {
  for (const Node& node : graph.nodes)
    if (const auto* update = dynamic_cast<const CacheUpdate*>(node.op.get());
        update != nullptr && node.inputs[0] == cache)
      return update;
  return nullptr;
}

}  // namespace

void ProgramBuilder::add_state(size_t state, ValueId input) {
  const Value& value = graph_.values[input];
  const Value& output = graph_.values[graph_.outputs[options_.states[state].output]];
  if (graph_.tail)
    refuse_state(value.name, "the shapes of the model's last operators are known only in a run",
                 ErrorCode::unsupported);
  check_pair(value, output);
  const ElementType element = is_float(value.type.dtype) ? float_element() : ElementType::i32;
  const TensorId tensor = add_tensor({value.name,
                                      {value.type.shape, element, Storage::buffer, Layout::linear},
                                      TensorRole::state,
                                      kNoTensor,
                                      {}});
  value_tensors_[input].linear = tensor;
  const CacheUpdate* update = update_of(graph_, input);
  Port port{value.name, update ? update->cache_type : value.type, tensor, std::nullopt};
  port.is_state = true;
  program_.inputs.push_back(std::move(port));
  program_.states[state] = {options_.states[state].input, options_.states[state].output, tensor,
                            update ? StateRows{update->rows, update->channels} : StateRows{}};
}

TensorId ProgramBuilder::update_state(ValueId input, ValueId output) {
  const auto state = std::ranges::find_if(options_.states, [&](const StatePair& pair) {
    return graph_.inputs[pair.input] == input && graph_.outputs[pair.output] == output;
  });
  if (state == options_.states.end() || std::ranges::count(graph_.outputs, input) > 0) return kNoTensor;
  int64_t reads = 0;
  for (const Node& node : graph_.nodes) reads += std::ranges::count(node.inputs, input);
  const TensorId tensor = value_tensors_[input].linear;
  if (reads != 1 || !program_.tensors[tensor].desc.has_elements_of(describe_value(output, Layout::linear)))
    return kNoTensor;
  return value_tensors_[output].linear = tensor;
}

// Copies the next values to the states. A value that is a view of another state is copied first, before that
// state is written.
void ProgramBuilder::store_states() {
  std::vector<TensorId> sources;
  for (const StateTensor& state : program_.states) {
    const ValueId value = graph_.outputs[state.output];
    TensorId source = read(value, Layout::linear);
    const TensorId root = program_.root(source);
    if (root != state.tensor && program_.tensors[root].role == TensorRole::state) {
      TensorDesc desc = program_.tensors[source].desc;
      source = copy_to(add_tensor({graph_.values[value].name, desc, TensorRole::intermediate, kNoTensor, {}}),
                       source);
    }
    sources.push_back(source);
  }
  for (size_t i = 0; i < sources.size(); ++i)
    if (program_.root(sources[i]) != program_.states[i].tensor)
      copy_to(program_.states[i].tensor, sources[i]);
}

}  // namespace vellum
