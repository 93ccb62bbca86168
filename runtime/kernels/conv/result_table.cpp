#include "kernels/conv/result_table.hpp"

#include <utility>
#include <vector>

#include "graph/operators/fused/fused_nodes.hpp"
#include "kernels/framework/activation.hpp"

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
  const std::vector<float> entries = table.to_floats();
  const auto first = static_cast<size_t>(static_cast<int64_t>(activation.least) - op.first);
  std::vector<float> texels(entries.begin() + static_cast<std::ptrdiff_t>(first), entries.end());
  texels.resize(entries.size(), entries.back());
  return texels;
}

TensorId pair_of_tables(Lowering& lowering, std::vector<float> first, std::vector<float> second) {
  TensorDesc desc = lowering.texel_grid(ByteTable::kEntries / 4, 2);
  desc.element = ElementType::f32;
  first.resize(ByteTable::kEntries);
  second.resize(ByteTable::kEntries);
  first.insert(first.end(), second.begin(), second.end());
  return lowering.weight(lowering.node().name + "/tables", desc,
                         [entries = std::move(first)] { return entries; });
}

void define_results(Lowering& lowering, Dispatch& dispatch, const Activation& activation) {
  define_activation_or_bounds(dispatch, activation);
  const FusedNodes* fused = as_fused(lowering.node(), FusedKernelId::table);
  if (!fused) return;
  TensorDesc desc = lowering.texel_grid(ByteTable::kEntries / 4, 1);
  desc.element = ElementType::f32;
  const auto values = [table = *lowering.constant(kResultTable), op = fused->op<ByteTable>(kTableNode),
                       activation] { return entries_from(table, op, activation); };
  dispatch.bindings.push_back(reads("table", lowering.weight(lowering.node().name + "/table", desc, values)));
  define(dispatch, "TABLE");
  dispatch.fused = FusedKernelId::table;
}

}  // namespace vellum
