#include "kernels/conv/result_table.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "graph/operators/fused/fused_nodes.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"

namespace vellum {
namespace {

constexpr size_t kLayerNode = 0, kTableNode = 1;

}  // namespace

const Operator& layer_of(const Operator& op) {
  const auto* fused = dynamic_cast<const FusedNodes*>(&op);
  return fused && fused->kernel == FusedKernelId::table ? *fused->body.nodes[kLayerNode].op : op;
}

bool rounds_to_numbers_of(const ByteTable& table, const Activation& activation) {
  const auto first = static_cast<float>(table.first);
  return activation.is_rounded() && activation.step == table.x_step && activation.least >= first &&
         activation.most < first + ByteTable::kEntries;
}

std::vector<float> entries_from(const HostTensor& table, const ByteTable& op, const Activation& activation) {
  const std::vector<float> all = table.to_floats();
  const auto first = static_cast<size_t>(static_cast<int64_t>(activation.least) - op.first);
  std::vector<float> entries(all.begin() + static_cast<std::ptrdiff_t>(first), all.end());
  entries.resize(all.size(), all.back());
  return entries;
}

TensorId pair_of_tables(Lowering& lowering, std::vector<float> first, std::vector<float> second) {
  first.resize(ByteTable::kEntries);
  second.resize(ByteTable::kEntries);
  first.insert(first.end(), second.begin(), second.end());
  return float_weight(lowering, "tables", {2 * ByteTable::kEntries}, std::move(first));
}

namespace {

// Returns the grid of the result if the kernel only stores results, and in bytes; else null.
const ByteGrid* grid_of_results(const Lowering& lowering, const Dispatch& dispatch) {
  constexpr std::string_view kOfResults[] = {"MEAN", "MEANS", "NORM"};  // y has functions of the results
  const auto is_of_results = [&](const auto& define) {
    return std::ranges::find(kOfResults, define.first) != std::end(kOfResults);
  };
  if (std::ranges::any_of(dispatch.defines, is_of_results)) return nullptr;
  const auto y = std::ranges::find(dispatch.bindings, "y", &Binding::name);
  if (y == dispatch.bindings.end()) return nullptr;
  const TensorDesc& desc = lowering.tensor(y->tensor).desc;
  return desc.element == ElementType::q8 ? &desc.grid : nullptr;
}

bool is_in_bytes(const ByteGrid& grid, float steps) {
  const float byte = steps + static_cast<float>(grid.zero);
  return byte >= 0.0f && byte <= 255.0f;
}

// Returns whether all rounded results are numbers of the grid. Then the kernel stores the numbers of steps
// that it rounds to, and neither multiplies nor divides by the step.
bool stores_steps(const ByteGrid& grid, const Activation& activation) {
  return activation.is_rounded() && grid.step == activation.step && is_in_bytes(grid, activation.least) &&
         is_in_bytes(grid, activation.most);
}

// Returns the entries in steps of the grid; nothing if one is no number of it.
std::optional<std::vector<float>> entries_in_steps(const ByteGrid& grid, std::vector<float> entries) {
  for (float& entry : entries) {
    const float steps = std::nearbyint(entry / grid.step);
    if (steps * grid.step != entry || !is_in_bytes(grid, steps)) return std::nullopt;
    entry = steps;
  }
  return entries;
}

}  // namespace

void define_results(Lowering& lowering, Dispatch& dispatch, const Activation& activation) {
  define_activation_or_bounds(dispatch, activation);
  const ByteGrid* grid = grid_of_results(lowering, dispatch);
  const FusedNodes* fused = as_fused(lowering.node(), FusedKernelId::table);
  if (!fused) {
    if (grid && stores_steps(*grid, activation)) define(dispatch, "RESULTS_IN_STEPS");
    return;
  }
  std::vector<float> entries =
      entries_from(*lowering.constant(kResultTable), fused->op<ByteTable>(kTableNode), activation);
  if (auto steps = grid ? entries_in_steps(*grid, entries) : std::nullopt) {
    entries = std::move(*steps);
    define(dispatch, "RESULTS_IN_STEPS");
  }
  dispatch.bindings.push_back(
      reads("table", float_weight(lowering, "table", {ByteTable::kEntries}, std::move(entries))));
  define(dispatch, "TABLE");
  dispatch.fused = FusedKernelId::table;
}

}  // namespace vellum
