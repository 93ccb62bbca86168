// A quantised layer and the function of its rounded results, such as GELU or SiLU: the kernel of the layer
// looks its results up in a table before it stores them (shaders/common/activation.glsl, TABLE).
#include "kernels/fused/table.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/elementwise/byte_table.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "kernels/conv/conv.hpp"
#include "kernels/conv/result_table.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "kernels/fused/matching.hpp"
#include "kernels/matmul/matmul.hpp"

namespace vellum {
namespace {

constexpr size_t kLayerInputs = kResultTable;

// Returns the activation of a layer whose kernels look results up; null for other nodes.
const Activation* activation_of_layer(const GraphEditor& editor, const Node& node) {
  if (editor.constant(node.inputs[1]) == nullptr || !is_constant_or_absent(editor, node, 2)) return nullptr;
  if (const auto* conv = dynamic_cast<const Conv*>(node.op.get()))
    return editor.type(node.inputs[0]).shape.size() <= 4 ? &conv->activation : nullptr;
  const auto* gemm = dynamic_cast<const Gemm*>(node.op.get());
  if (!gemm || gemm->transpose_a) return nullptr;
  const ValueId bias = input_or_none(node, 2);
  const bool varies =
      bias != kNoValue && editor.type(bias).shape.size() == 2 && editor.type(bias).shape[0] != 1;
  return varies ? nullptr : &gemm->activation;
}

// Returns whether the device can bind all tensors of the kernel. `node`: the layer, or both nodes.
bool can_bind(const Node& node, const DeviceCaps& caps) {
  uint32_t tensors = 4;  // x, weights, table, y
  for (size_t slot = 3; slot < kLayerInputs; ++slot) tensors += input_or_none(node, slot) != kNoValue;
  return tensors <= caps.max_storage_buffers_per_stage;
}

}  // namespace

std::shared_ptr<const FusedNodes> table_nodes(std::shared_ptr<const Operator> layer,
                                              std::shared_ptr<const Operator> table) {
  auto op = std::make_shared<FusedNodes>(FusedKernelId::table);
  std::vector<ValueId> in = op->add_inputs(kResultTable + 1);
  const ValueId entries = in.back();
  in.resize(dynamic_cast<const Gemm*>(layer.get()) ? 4 : kLayerInputs);
  const ValueId rounded = op->add_node("layer", std::move(layer), std::move(in));
  op->add_output(op->add_node("table", std::move(table), {rounded, entries}));
  return op;
}

std::optional<FusedMatch> match_table(const GraphEditor& editor, size_t index, const FusionContext& context) {
  const auto table = match_node<ByteTable>(editor, index);
  if (!table) return std::nullopt;
  const HostTensor* entries = editor.constant(table.input(1));
  if (!entries || entries->elements() != ByteTable::kEntries) return std::nullopt;
  const auto layer = match_producer<Operator>(editor, table.input(0));
  if (!layer || editor.only_reader(table.input(0)) != index || layer.node->inputs.size() < 2)
    return std::nullopt;
  const Activation* activation = activation_of_layer(editor, *layer.node);
  if (!activation || !rounds_to_numbers_of(*table.op, *activation) || !can_bind(*layer.node, context.caps))
    return std::nullopt;
  Node node{table.node->name, table_nodes(layer.node->op, table.node->op),
            inputs_or_none(*layer.node, 0, kLayerInputs), table.node->outputs};
  node.inputs.push_back(table.input(1));
  return FusedMatch{index, std::move(node), {layer.index}};
}

void lower_fused_table(Lowering& lowering) {
  if (!can_bind(lowering.node(), lowering.caps()))
    return lowering.run_on_host("the device binds fewer tensors than a layer with a table has");
  if (const auto* gemm = dynamic_cast<const Gemm*>(&layer_of(*lowering.node().op)))
    return lower_product(lowering, *gemm);
  lower_planes(lowering);
}

}  // namespace vellum
