#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "graph/operators/elementwise/quantize.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/moves_elements.hpp"
#include "graph/operators/movement/pad.hpp"
#include "passes/fuse/byte_functions.hpp"
#include "passes/fuse/rounded_concats.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// Whether the node moves elements of integers as it moves floats. Quantisation keeps order: the largest
// integer is that of the largest float. The zeros of a Pad of integers are not the zero point.
bool picks_elements(const Node& node) {
  return moves_elements(node) && dynamic_cast<const Pad*>(node.op.get()) == nullptr;
}

// The scale and the zero point of a QuantizeLinear or DequantizeLinear, where both are constants of one
// element.
struct Grid {
  float scale = 0.0f;
  int64_t zero = 0;
  bool operator==(const Grid&) const = default;
};

std::optional<Grid> grid_of(const GraphEditor& editor, const Node& node) {
  const HostTensor* scale = editor.constant(node.inputs[1]);
  if (scale == nullptr || scale->elements() != 1) return std::nullopt;
  Grid grid{scale->to_floats()[0], 0};
  if (!std::isfinite(grid.scale) || grid.scale <= 0.0f) return std::nullopt;
  if (node.inputs.size() < 3 || node.inputs[2] == kNoValue) return grid;
  const HostTensor* zero = editor.constant(node.inputs[2]);
  if (zero == nullptr || zero->elements() != 1) return std::nullopt;
  grid.zero = zero->to_ints()[0];
  return grid;
}

class QuantizationFuser {
 public:
  explicit QuantizationFuser(GraphEditor& editor) : editor_(editor) {}

  void run() {
    for (const size_t index : editor_.nodes()) {
      if (match_node<DequantizeLinear>(editor_, index)) dequantize(index);
      if (!editor_.removed(index)) follow(index);
    }
  }

 private:
  // An operator between a quantisation and a dequantisation, and the value in integers that it picks from.
  struct Step {
    std::shared_ptr<const Operator> op;
    std::vector<ValueId> others;  // the inputs after the first
    ValueId source = kNoValue;
  };

  // MaxPool, Resize and others of integers are operators of floats between two casts by now
  // (decompose_integers.cpp).
  std::optional<Step> step_between_casts(const Node& cast) const {
    const auto picked = match_producer<Operator>(editor_, cast.inputs[0]);
    if (!picked || picked.node->outputs[0] != cast.inputs[0] || !picks_elements(*picked.node))
      return std::nullopt;
    if (editor_.type(picked.input()).dtype != DType::f32) return std::nullopt;
    const auto widened = match_producer<Operator>(editor_, picked.input());
    if (!widened || widened->type() != "Cast") return std::nullopt;
    if (editor_.type(widened.input()).dtype != editor_.type(cast.outputs[0]).dtype) return std::nullopt;
    return Step{
        picked.node->op, {picked.node->inputs.begin() + 1, picked.node->inputs.end()}, widened.input()};
  }

  std::optional<Step> step_to(ValueId integers) const {
    const auto found = match_producer<Operator>(editor_, integers);
    if (!found || found.node->outputs.size() != 1) return std::nullopt;
    if (found->type() == "Cast" || found->type() == "CastLike") return step_between_casts(*found.node);
    if (!picks_elements(*found.node)) return std::nullopt;
    return Step{found.node->op, {found.node->inputs.begin() + 1, found.node->inputs.end()}, found.input()};
  }

  // Dequantises before the operators that pick from the integers of a QuantizeLinear, rather than after them.
  void dequantize(size_t index) {
    constexpr size_t kMostSteps = 8;
    const Node node = editor_.node(index);
    const auto grid = grid_of(editor_, node);
    if (!grid) return;
    std::vector<Step> steps;
    ValueId integers = node.inputs[0];
    for (;;) {
      const auto quantize = match_producer<QuantizeLinear>(editor_, integers);
      if (quantize && grid_of(editor_, *quantize.node) == grid) break;
      const auto step = quantize || steps.size() == kMostSteps ? std::nullopt : step_to(integers);
      if (!step) return;
      integers = step->source;
      steps.push_back(*step);
    }
    const DType dtype = editor_.type(node.outputs[0]).dtype;
    const auto rounded = round(*editor_.producer(integers), *grid, dtype);
    if (!rounded) return;
    ValueId value = *rounded;
    for (size_t i = steps.size(); i-- > 1;) {
      const TensorType type{dtype, editor_.type(steps[i - 1].source).shape};
      value = editor_.compute_before(index, node.name, steps[i].op, inputs_of(steps[i], value), type);
      grids_[value] = *grids_of(*rounded);
    }
    if (!steps.empty()) {
      editor_.replace(index, steps[0].op, inputs_of(steps[0], value));
    } else if (editor_.is_graph_output(node.outputs[0])) {
      editor_.replace(index, std::make_shared<Identity>(), {value});
    } else {
      editor_.replace_reads(node.outputs[0], value);
      editor_.remove(index);
    }
  }

  static std::vector<ValueId> inputs_of(const Step& step, ValueId data) {
    std::vector<ValueId> inputs{data};
    inputs.insert(inputs.end(), step.others.begin(), step.others.end());
    return inputs;
  }

  // The floats that the integers of a QuantizeLinear stand for.
  std::optional<ValueId> round(size_t quantize, const Grid& grid, DType dtype) {
    const Node node = editor_.node(quantize);
    const ValueId x = node.inputs[0], integers = node.outputs[0];
    if (!is_float_value(editor_, x) || editor_.type(x).dtype != dtype) return std::nullopt;
    const auto known = rounded_.find(integers);
    if (known != rounded_.end()) return known->second;
    const auto& op = dynamic_cast<const QuantizeLinear&>(*node.op);
    const IntegerRange range = op.range_of(editor_.type(integers).dtype);
    auto rounding = std::make_shared<Unary>();
    rounding->activation = {.step = grid.scale,
                            .least = static_cast<float>(range.low - grid.zero),
                            .most = static_cast<float>(range.high - grid.zero)};
    ValueId rounded = x;
    if (grids_of(x) != rounding->activation) {
      const TensorType type = editor_.type(x);
      rounded = editor_.compute_before(quantize, node.name, rounding, {x}, type);
      std::vector<ValueId> inputs = node.inputs;
      inputs[0] = rounded;  // what else reads the integers: the same ones
      editor_.set_inputs(quantize, std::move(inputs));
      grids_[rounded] = rounding->activation;
    }
    rounded_[integers] = rounded;
    return rounded;
  }

  // The rounding whose result all elements of the value are; nothing where it is not known.
  std::optional<Activation> grids_of(ValueId value) const {
    const auto found = grids_.find(value);
    return found == grids_.end() ? std::nullopt : std::optional(found->second);
  }

  void follow(size_t index) {
    const Node& node = editor_.node(index);
    const bool joins = dynamic_cast<const Concat*>(node.op.get()) != nullptr;
    if ((!joins && !moves_elements(node)) || node.inputs.empty()) return;
    const auto grid = grids_of(node.inputs[0]);
    if (!grid) return;
    for (const ValueId input : node.inputs)
      if (joins && grids_of(input) != grid) return;
    for (const ValueId output : node.outputs)
      if (output != kNoValue) grids_[output] = *grid;
  }

  GraphEditor& editor_;
  std::map<ValueId, ValueId> rounded_;   // by the integers of a QuantizeLinear
  std::map<ValueId, Activation> grids_;  // by value
};

}  // namespace

void fuse_quantization(Graph& graph) {
  {
    GraphEditor editor(graph);
    QuantizationFuser(editor).run();
    editor.commit();
  }
  remove_dead_code(graph);  // QuantizeLinear whose integers nothing reads: patterns count readers
  GraphEditor editor(graph);
  round_before_concats(editor);
  tabulate_byte_functions(editor);
  editor.commit();
  remove_dead_code(graph);
}

}  // namespace vellum
