#include "passes/fuse/rounded_concats.hpp"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "graph/operators/conv/conv.hpp"
#include "graph/operators/elementwise/byte_table.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/moves_elements.hpp"
#include "graph/operators/reduction/pool.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

constexpr int kMostBetween =
    8;  // between a layer and the rounding of its function, as in SiLU with roundings

// The rounding of a node that does nothing else.
std::optional<Activation> rounding_of(const Match<Unary>& unary) {
  if (!unary || unary->kind != UnaryKind::activation || !unary->activation.only_rounds()) return std::nullopt;
  return unary->activation;
}

class ConcatRounder {
 public:
  explicit ConcatRounder(GraphEditor& editor) : editor_(editor) {}

  void run() {
    for (const size_t index : editor_.nodes())
      if (const auto concat = match_node<Concat>(editor_, index)) round_inputs(index, *concat.node);
  }

 private:
  void round_inputs(size_t index, const Node& node) {
    const auto reader = editor_.only_reader(node.outputs[0]);
    const auto rounding = reader ? rounding_of(match_node<Unary>(editor_, *reader)) : std::nullopt;
    if (!rounding || rounding->most - rounding->least > ByteTable::kEntries - 1) return;
    bool moves = false, stays = editor_.is_graph_output(editor_.node(*reader).outputs[0]);
    std::vector<bool> is_moved;
    for (const ValueId input : node.inputs) {
      const bool is_on_grid = grid_of(input, kMostBetween) == rounding;
      is_moved.push_back(!is_on_grid && is_rounded_layer(input));
      moves |= is_moved.back();
      stays |= !is_on_grid && !is_moved.back();
    }
    if (!moves) return;
    move_rounding(index, *reader, is_moved);
    if (!stays) remove_rounding(index, *reader);
  }

  void move_rounding(size_t index, size_t reader, const std::vector<bool>& is_moved) {
    std::vector<ValueId> inputs = editor_.node(index).inputs;
    const Node rounding = editor_.node(reader);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const TensorType type = editor_.type(inputs[i]);
      if (is_moved[i])
        inputs[i] = editor_.compute_before(index, rounding.name, rounding.op, {inputs[i]}, type);
    }
    editor_.set_inputs(index, std::move(inputs));
  }

  void remove_rounding(size_t index, size_t reader) {
    editor_.replace_reads(editor_.node(reader).outputs[0], editor_.node(index).outputs[0]);
    editor_.remove(reader);
  }

  // The rounding whose results all elements of the value are.
  std::optional<Activation> grid_of(ValueId value, int most_nodes) const {
    const auto producer = editor_.producer(value);
    if (!producer || most_nodes == 0) return std::nullopt;
    if (auto rounding = rounding_of(match_node<Unary>(editor_, *producer))) return rounding;
    const Node& node = editor_.node(*producer);
    return moves_elements(node) ? grid_of(node.inputs[0], most_nodes - 1) : std::nullopt;
  }

  // Whether the value is the rounded function of a layer, and only the Concat reads it.
  bool is_rounded_layer(ValueId value) const {
    const auto rounding = match_producer<Unary>(editor_, value);
    const auto grid = rounding_of(rounding);
    if (!grid || grid->most - grid->least > ByteTable::kEntries - 1 || !editor_.only_reader(value))
      return false;
    return layer_of(rounding.input(), kMostBetween).has_value();
  }

  // The layer of which the value is an elementwise function.
  std::optional<size_t> layer_of(ValueId value, int most_nodes) const {
    const auto producer = editor_.producer(value);
    if (!producer || most_nodes == 0) return std::nullopt;
    const Node& node = editor_.node(*producer);
    if (match_node<Conv>(editor_, *producer) || match_node<Gemm>(editor_, *producer))
      return editor_.constant(node.inputs[1]) && !is_fused_with_input(node) ? producer : std::nullopt;
    if (match_node<Unary>(editor_, *producer) || match_node<Clip>(editor_, *producer))
      return layer_of(node.inputs[0], most_nodes - 1);
    const auto binary = match_node<Binary>(editor_, *producer);
    if (!binary || binary->fixed_point) return std::nullopt;
    const auto layer = layer_of(node.inputs[0], most_nodes - 1);
    return layer == layer_of(node.inputs[1], most_nodes - 1) ? layer : std::nullopt;
  }

  // Whether the layer is the only reader of a pool's result or of a depthwise convolution's: GPUs compute
  // both in one kernel, which has no table.
  bool is_fused_with_input(const Node& layer) const {
    ValueId input = layer.inputs[0];
    for (int i = 0; i < kMostBetween && editor_.only_reader(input); ++i) {
      if (match_producer<Pool>(editor_, input)) return true;
      if (const auto conv = match_producer<Conv>(editor_, input)) return conv->group > 1;
      const auto between = editor_.producer(input);
      if (!match_producer<Unary>(editor_, input) && !match_producer<Clip>(editor_, input)) return false;
      input = editor_.node(*between).inputs[0];
    }
    return false;
  }

  GraphEditor& editor_;
};

}  // namespace

void round_before_concats(GraphEditor& editor) { ConcatRounder(editor).run(); }

}  // namespace vellum
