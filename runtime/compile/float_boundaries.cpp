#include "compile/float_boundaries.hpp"

#include <algorithm>
#include <optional>
#include <sstream>

#include "graph/operators/elementwise/unary.hpp"
#include "graph/operators/movement/concat.hpp"
#include "kernels/framework/value_grids.hpp"

namespace vellum {
namespace {

using ByteGrids = std::vector<std::optional<ByteGrid>>;

std::string quoted(const Graph& graph, ValueId id) { return "'" + graph.values[id].name + "'"; }

std::string op_of(const Node& node) { return std::string(node.op->type()); }

std::vector<const Node*> readers_of(const Graph& graph, ValueId value) {
  std::vector<const Node*> readers;
  for (const Node& node : graph.nodes)
    if (std::ranges::count(node.inputs, value) > 0) readers.push_back(&node);
  return readers;
}

// Returns the rounding of a node that does nothing else; null for other nodes.
const Activation* rounding_in(const Node& node) {
  const auto* unary = dynamic_cast<const Unary*>(node.op.get());
  const bool rounds = unary && unary->kind == UnaryKind::activation && unary->activation.only_rounds();
  return rounds ? &unary->activation : nullptr;
}

// Returns why the numbers that a rounding gives do not fit in bytes; nothing if they do.
std::optional<std::string> reason_of_numbers(const Activation& rounding) {
  const float numbers = rounding.most - rounding.least + 1.0f;
  if (numbers <= 256.0f) return std::nullopt;
  std::ostringstream text;
  text << "it is rounded to " << static_cast<int64_t>(numbers) << " numbers, and a byte has 256";
  return text.str();
}

std::string reason_of_parts(const Graph& graph, const ByteGrids& grids, const Node& node) {
  const ValueId first = node.inputs[0];
  for (const ValueId input : node.inputs) {
    if (!grids[input])
      return "its part " + quoted(graph, input) + " is in floats, and nothing rounds the whole";
    if (grids[input]->step == grids[first]->step) continue;
    std::ostringstream text;
    text << "its parts " << quoted(graph, first) << " and " << quoted(graph, input) << " have the scales "
         << grids[first]->step << " and " << grids[input]->step << ", and nothing rounds the whole";
    return text.str();
  }
  return "its parts have more than 256 numbers together";
}

std::string reason_of(const Graph& graph, const ByteGrids& grids, const Node& node, ValueId value) {
  if (const Activation* activation = activation_of(*node.op); activation && activation->is_rounded())
    return reason_of_numbers(*activation).value_or("its scale is no positive number");
  const std::vector<const Node*> readers = readers_of(graph, value);
  const auto rounding =
      std::ranges::find_if(readers, [](const Node* reader) { return rounding_in(*reader); });
  if (rounding == readers.end()) {
    if (dynamic_cast<const Concat*>(node.op.get())) return reason_of_parts(graph, grids, node);
    const bool is_output = std::ranges::count(graph.outputs, value) > 0;
    if (is_output && readers.empty()) return "it is an output of the network, which nothing rounds";
    return "no QuantizeLinear rounds the result of " + op_of(node);
  }
  if (const auto reason = reason_of_numbers(*rounding_in(**rounding))) return *reason;
  if (readers.size() > 1)
    return std::to_string(readers.size()) + " nodes read it, and not all of them read it rounded";
  const Activation* activation = activation_of(*node.op);
  const std::string why = activation && activation->is_scaled()
                              ? "scales its result by a factor, and does not round as it stores"
                              : "does not round as it stores";
  return "the kernel of " + op_of(node) + " " + why + "; " + quoted(graph, (*rounding)->outputs[0]) +
         " is rounded after it";
}

}  // namespace

std::vector<FloatBoundary> float_boundaries(const Graph& graph) {
  std::vector<FloatBoundary> found;
  const ByteGrids grids = value_grids(graph);
  if (grids.empty()) return found;
  const auto in_bytes = [&](ValueId id) { return id != kNoValue && grids[id].has_value(); };
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (std::ranges::none_of(node.inputs, in_bytes)) continue;
    for (const ValueId value : node.outputs)
      if (value != kNoValue && !grids[value] && is_float(graph.values[value].type.dtype))
        found.push_back({value, i, reason_of(graph, grids, node, value)});
  }
  return found;
}

std::string to_text(const Graph& graph, const std::vector<FloatBoundary>& boundaries) {
  std::string text;
  for (const FloatBoundary& boundary : boundaries) {
    const Node& node = graph.nodes[boundary.node];
    text += (text.empty() ? "floats among integers:\n" : "") + std::string("  ") +
            quoted(graph, boundary.value) + ", computed by " + op_of(node) + " '" + node.name +
            "': " + boundary.reason + "\n";
  }
  return text;
}

}  // namespace vellum
