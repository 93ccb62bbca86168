#include "passes/shapes/folding_budget.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "graph/operator_support.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// Every number below scales with the constants of the file: who sends 100 MB of weights may have them
// converted.
constexpr uint64_t kWorkPerFileByte = 64;
constexpr uint64_t kBytesPerFileByte = 8;
// The arithmetic of shapes is always computed: other nodes cannot be understood without it. The limit of
// nodes bounds it.
constexpr uint64_t kSmallWork = 1 << 12;
constexpr uint64_t kSmallBytes = 1 << 12;
uint64_t bytes_of(const TensorType& type) {
  return saturating_multiply(static_cast<uint64_t>(element_count(type.shape)), size_of(type.dtype));
}

// Constants may share bytes.
uint64_t bytes_of_constants(const Graph& graph) {
  std::unordered_set<const std::byte*> counted;
  uint64_t bytes = 0;
  for (const Value& value : graph.values)
    if (value.constant && counted.insert(value.constant->data()).second)
      bytes = saturating_add(bytes, value.constant->byte_size());
  return bytes;
}

}  // namespace

FoldingBudget::FoldingBudget(Graph& graph) : graph_(graph) {
  if (!graph.folding.file_bytes) graph.folding.file_bytes = bytes_of_constants(graph);
  most_work_ = saturating_add(graph.limits.folded_work,
                              saturating_multiply(*graph.folding.file_bytes, kWorkPerFileByte));
  most_bytes_ = saturating_add(graph.limits.folded_bytes,
                               saturating_multiply(*graph.folding.file_bytes, kBytesPerFileByte));
}

void FoldingBudget::spend(const Node& node, uint64_t work) {
  if (work <= kSmallWork) return;
  graph_.folding.work = saturating_add(graph_.folding.work, work);
  if (graph_.folding.work <= most_work_) return;
  throw Error(ErrorCode::unsupported,
              describe(node) + ": its constant result takes " +
                  (work == UINT64_MAX ? "more than 2^64" : "about " + std::to_string(work)) +
                  " operations, more than is left of the limit for the model's constants (folded_work, " +
                  std::to_string(graph_.limits.folded_work) + ")");
}

void FoldingBudget::spend_remaining(const Node& node, uint64_t work) {
  const uint64_t rest = work - std::min(counted_, work);
  counted_ = 0;
  spend(node, rest);
}

bool FoldingBudget::is_constant(ValueId value) const {
  return value == kNoValue || graph_.constant(value) != nullptr || left_.contains(value) ||
         element_count(graph_.values[value].type.shape) == 0;
}

// Folding trades memory for time: a ConstantOfShape of a gigabyte, for one, is left to the device.
bool FoldingBudget::fits_memory(std::span<const OperatorInput> inputs,
                                std::span<const TensorType> outputs) const {
  constexpr uint64_t kAlways = uint64_t{64} << 20;
  constexpr uint64_t kGrowth = 8;
  uint64_t in = 0, out = 0;
  std::unordered_set<const std::byte*> counted;
  for (const OperatorInput& input : inputs)
    if (input.constant && counted.insert(input.constant->data()).second) in += input.constant->byte_size();
  for (const TensorType& type : outputs) out = saturating_add(out, bytes_of(type));
  if (out <= kSmallBytes) return true;
  if (out > kAlways && out / kGrowth > in) return false;
  return graph_.folding.bytes <= most_bytes_ && out <= most_bytes_ - graph_.folding.bytes;
}

bool FoldingBudget::allows(const Node& node, std::span<const OperatorInput> inputs,
                           std::span<const TensorType> outputs) {
  spend_remaining(node, node.op->work(inputs, outputs));
  if (fits_memory(inputs, outputs)) return true;
  left_.insert(node.outputs.begin(), node.outputs.end());
  return false;
}

void FoldingBudget::leave(const Node& node, std::span<const TensorType> outputs) {
  if (!std::ranges::all_of(node.inputs, [&](ValueId id) { return is_constant(id); })) return;
  spend_remaining(node, node.op->work(operator_inputs(graph_, node), outputs));
  left_.insert(node.outputs.begin(), node.outputs.end());
}

void FoldingBudget::add_results(const Node& node) {
  for (const ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    const HostTensor& result = *graph_.constant(id);
    const bool shared = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
      return graph_.constant(input) != nullptr && graph_.constant(input)->data() == result.data();
    });
    computed_[id] = shared ? 0 : result.byte_size();
    graph_.folding.bytes += computed_[id];
  }
}

void FoldingBudget::release(ValueId value) {
  const auto found = computed_.find(value);
  if (found == computed_.end()) return;
  graph_.folding.bytes -= found->second;
  graph_.values[value].constant.reset();
  computed_.erase(found);
}

void FoldingBudget::check_shape_rule(const Node& node) {
  counted_ = 0;
  std::vector<OperatorInput> inputs = operator_inputs(graph_, node);
  if (!all_known(inputs)) return;
  std::vector<OperatorInput> unknown = inputs;
  for (OperatorInput& input : unknown) input.constant = nullptr;
  std::vector<TensorType> types;
  try {
    types = node.op->infer_open(unknown);
  } catch (const Error&) {
    return;  // the shape rule says what is wrong
  }
  if (types.empty()) return;
  const uint64_t work = node.op->work(inputs, types);
  spend(node, work);
  counted_ = work;
}

}  // namespace vellum
