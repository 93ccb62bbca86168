#include "passes/fuse/byte_functions.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "graph/operators/elementwise/binary.hpp"
#include "graph/operators/elementwise/byte_table.hpp"
#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/moves_elements.hpp"
#include "passes/rewrite/match.hpp"

namespace vellum {
namespace {

// A rounding to at most 256 numbers.
std::optional<Activation> byte_rounding(const Operator& op) {
  const auto* unary = dynamic_cast<const Unary*>(&op);
  if (unary == nullptr || unary->kind != UnaryKind::activation || !unary->activation.only_rounds())
    return std::nullopt;
  const Activation& rounding = unary->activation;
  const bool fits = rounding.most - rounding.least <= ByteTable::kEntries - 1;
  return fits && rounding.step > 0.0f ? std::optional(rounding) : std::nullopt;
}

// An operator whose result's elements depend on one element of each tensor alone.
bool is_elementwise(const Operator& op) {
  if (const auto* binary = dynamic_cast<const Binary*>(&op)) return !binary->fixed_point;
  return dynamic_cast<const Unary*>(&op) != nullptr || dynamic_cast<const Clip*>(&op) != nullptr;
}

// Bounds of the search, far above what models have.
constexpr size_t kMostSources = 16, kMostNodes = 64;

class ByteFunctions {
 public:
  explicit ByteFunctions(GraphEditor& editor)
      : editor_(editor), grids_(editor.graph().values.size()), sources_(editor.graph().values.size()) {}

  void run() {
    std::vector<size_t> roundings;
    for (const size_t index : editor_.nodes()) {
      positions_[index] = positions_.size();
      visit(index);
      if (byte_rounding(*editor_.node(index).op)) roundings.push_back(index);
    }
    // The last rounding of a chain first: its function contains those of the others.
    for (size_t i = roundings.size(); i-- > 0;)
      if (!editor_.removed(roundings[i])) tabulate(roundings[i]);
  }

 private:
  // Finds the grid of a node's result, and the values that it is a function of.
  void visit(size_t index) {
    const Node& node = editor_.node(index);
    if (node.inputs.empty()) return;
    const ValueId y = node.outputs[0];
    if (moves_elements(node))
      for (const ValueId output : node.outputs)
        if (output != kNoValue) grids_[output] = grids_[node.inputs[0]];
    if (!is_elementwise(*node.op) || editor_.type(y).dtype != DType::f32) return;
    grids_[y] = byte_rounding(*node.op);
    std::optional<std::vector<ValueId>> common;
    for (const ValueId input : node.inputs) {
      if (is_scalar_or_absent(input)) continue;
      if (editor_.type(input) != editor_.type(y)) return;
      std::vector<ValueId> found = sources_[input];
      if (grids_[input]) found.push_back(input);
      if (common)
        std::erase_if(found,
                      [&](ValueId value) { return std::ranges::find(*common, value) == common->end(); });
      common = std::move(found);
    }
    if (!common) return;
    if (common->size() > kMostSources) common->erase(common->begin());
    sources_[y] = std::move(*common);
  }

  bool is_scalar_or_absent(ValueId value) const {
    if (value == kNoValue) return true;
    const HostTensor* constant = editor_.constant(value);
    return constant != nullptr && constant->elements() == 1;
  }

  void tabulate(size_t index) {
    std::vector<size_t> best;
    ValueId best_source = kNoValue;
    for (const ValueId source : sources_[editor_.node(index).outputs[0]]) {
      const std::vector<size_t> nodes = nodes_between(source, index);
      if (nodes.size() > best.size() && are_read_within(nodes)) best = nodes, best_source = source;
    }
    if (gains_by_table(best) || is_rounded_for_concat(best)) replace(index, best_source, best);
  }

  // The layer that computes the source can look results up as it stores them. One operator that only bounds
  // or multiplies elements stays: patterns match it, and its kernel rounds the result.
  bool gains_by_table(const std::vector<size_t>& nodes) const {
    constexpr int64_t kSeveral = 2;
    std::vector<size_t> computing;
    std::ranges::copy_if(nodes, std::back_inserter(computing),
                         [&](size_t node) { return !byte_rounding(*editor_.node(node).op); });
    if (std::ssize(computing) >= kSeveral) return true;
    const auto function = computing.empty() ? Match<Unary>{} : match_node<Unary>(editor_, computing[0]);
    if (!function) return false;
    return function->kind != UnaryKind::activation || !is_bounds_or_scaling(function->activation);
  }

  // A second rounding that round_before_concats() moved there. With the table the layer stores a part of the
  // Concat's result.
  bool is_rounded_for_concat(const std::vector<size_t>& nodes) const {
    if (nodes.empty()) return false;
    const auto reader = editor_.only_reader(editor_.node(nodes.back()).outputs[0]);
    if (!reader || !match_node<Concat>(editor_, *reader)) return false;
    const auto roundings = static_cast<size_t>(std::ranges::count_if(
        nodes, [&](size_t node) { return byte_rounding(*editor_.node(node).op).has_value(); }));
    return 2 * roundings > nodes.size();
  }

  static bool is_bounds_or_scaling(const Activation& activation) {
    return activation.kind == ActivationKind::none || is_bounds(activation);
  }

  // The nodes that compute the result of node `last` from `source`, in the order of execution; none if they
  // are too many.
  std::vector<size_t> nodes_between(ValueId source, size_t last) const {
    std::set<size_t> found{last};
    std::vector<size_t> open{last};
    while (!open.empty()) {
      const Node& node = editor_.node(open.back());
      open.pop_back();
      for (const ValueId input : node.inputs) {
        if (input == source || is_scalar_or_absent(input)) continue;
        const size_t producer = *editor_.producer(input);
        if (found.insert(producer).second) open.push_back(producer);
      }
      if (found.size() > kMostNodes) return {};
    }
    std::vector<size_t> ordered(found.begin(), found.end());
    std::ranges::sort(ordered, {}, [&](size_t node) { return positions_.at(node); });
    return ordered;
  }

  // Whether nothing else reads the results of the nodes, except that of the last.
  bool are_read_within(const std::vector<size_t>& nodes) const {
    return std::all_of(nodes.begin(), nodes.end() - 1, [&](size_t index) {
      const ValueId result = editor_.node(index).outputs[0];
      const auto& readers = editor_.readers(result);
      return !editor_.is_graph_output(result) &&
             std::all_of(readers.begin(), readers.end(), [&](size_t reader) {
               return std::ranges::find(nodes, reader) != nodes.end() || !is_read(reader);
             });
    });
  }

  // The QuantizeLinear of a pair that became a rounding is still there, and nothing reads it.
  bool is_read(size_t index) const {
    const std::vector<ValueId>& outputs = editor_.node(index).outputs;
    return std::ranges::any_of(outputs,
                               [&](ValueId value) { return value != kNoValue && editor_.is_read(value); });
  }

  // The results of the nodes for all 256 numbers of the source.
  std::vector<float> results(ValueId source, const std::vector<size_t>& nodes) const {
    const Activation& grid = *grids_[source];
    std::vector<float> numbers;
    for (int i = 0; i < ByteTable::kEntries; ++i)
      numbers.push_back(grid.step * (grid.least + static_cast<float>(i)));
    std::map<ValueId, HostTensor> known;
    known[source] = HostTensor::f32({ByteTable::kEntries}, numbers);
    for (const size_t index : nodes) {
      const Node& node = editor_.node(index);
      std::vector<const HostTensor*> inputs;
      for (const ValueId input : node.inputs) {
        const HostTensor* constant = input == kNoValue ? nullptr : editor_.constant(input);
        if (constant != nullptr && !known.contains(input)) known[input] = constant->reshaped({});
        inputs.push_back(input == kNoValue ? nullptr : &known.at(input));
      }
      known[node.outputs[0]] = node.op->evaluate(inputs)[0];
    }
    return known.at(editor_.node(nodes.back()).outputs[0]).to_floats();
  }

  void replace(size_t index, ValueId source, const std::vector<size_t>& nodes) {
    const std::vector<float> entries = results(source, nodes);
    if (!std::all_of(entries.begin(), entries.end(), [](float entry) { return std::isfinite(entry); }))
      return;
    const Activation grid = *grids_[source], rounding = *byte_rounding(*editor_.node(index).op);
    auto table = std::make_shared<ByteTable>();
    table->x_step = grid.step;
    table->first = static_cast<int64_t>(grid.least);
    table->y_step = rounding.step;
    table->y_least = static_cast<int64_t>(rounding.least);
    table->y_most = static_cast<int64_t>(rounding.most);
    const ValueId constant = editor_.add_constant(editor_.node(index).name + "/table",
                                                  HostTensor::f32({ByteTable::kEntries}, entries));
    editor_.replace(index, std::move(table), {source, constant});
    for (size_t i = nodes.size() - 1; i-- > 0;) {
      const std::vector<size_t> readers = editor_.readers(editor_.node(nodes[i]).outputs[0]);
      for (const size_t reader : readers)
        if (!editor_.removed(reader)) editor_.remove(reader);
      editor_.remove(nodes[i]);
    }
  }

  GraphEditor& editor_;
  std::map<size_t, size_t> positions_;            // of nodes, in the order of execution
  std::vector<std::optional<Activation>> grids_;  // by value
  std::vector<std::vector<ValueId>> sources_;     // by value: those on a grid that it is a function of
};

}  // namespace

void tabulate_byte_functions(GraphEditor& editor) { ByteFunctions(editor).run(); }

}  // namespace vellum
