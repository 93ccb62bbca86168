#include "graph/state_pairs.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "vellum/error.hpp"

namespace vellum {
namespace {

const std::string& name_of(const Graph& graph, ValueId id) { return graph.values[id].name; }

std::optional<size_t> find_name(const Graph& graph, const std::vector<ValueId>& ids, std::string_view name) {
  const auto found = std::ranges::find_if(ids, [&](ValueId id) { return name_of(graph, id) == name; });
  if (found == ids.end()) return std::nullopt;
  return static_cast<size_t>(found - ids.begin());
}

size_t checked_position(const Graph& graph, const std::vector<ValueId>& ids, const std::string& name,
                        const char* kind) {
  if (const auto found = find_name(graph, ids, name)) return *found;
  throw Error(ErrorCode::not_found, "state '" + name + "' is no " + kind + " of the model");
}

// The names that exporters give to a state: a part of the input's name, and the text that replaces it in the
// output's name. An empty part: the output's name is the input's name followed by the text.
struct NameRule {
  std::string_view part, replacement;
};
constexpr std::array<NameRule, 12> kPartRules{{{"past_key_values", "present_key_values"},
                                               {"past_key_values", "present"},
                                               {"past_key_values", "new_key_values"},
                                               {"past", "present"},
                                               {"past", "new"},
                                               {"cache_in", "cache_out"},
                                               {"state_in", "state_out"},
                                               {"_in", "_out"},
                                               {"in_", "out_"},
                                               {"prev_", "next_"},
                                               {"h0", "hn"},
                                               {"c0", "cn"}}};
constexpr std::array<std::string_view, 4> kSuffixes{".next", "_next", "_out", "_new"};

std::optional<size_t> output_of(const Graph& graph, const std::string& input) {
  for (const NameRule& rule : kPartRules) {
    const size_t at = input.find(rule.part);
    if (at == std::string::npos) continue;
    std::string name = input;
    name.replace(at, rule.part.size(), rule.replacement);
    if (const auto found = find_name(graph, graph.outputs, name)) return found;
  }
  for (const std::string_view suffix : kSuffixes)
    if (const auto found = find_name(graph, graph.outputs, input + std::string(suffix))) return found;
  return std::nullopt;
}

// A name alone is no proof: "mask_in" and "mask_out" may be pictures of other types, and the constants that
// optimum's exporter writes where a branch does not compute an output continue nothing. Before shapes are
// inferred the type of an output need not be known.
bool may_continue(const Value& a, const Value& b) {
  if (b.constant) return false;
  if (!a.type_known || !b.type_known) return true;
  return a.type.dtype == b.type.dtype && a.type.shape.size() == b.type.shape.size();
}

std::vector<StatePair> recognised_pairs(const Graph& graph) {
  std::vector<StatePair> pairs;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const std::optional<size_t> output = output_of(graph, name_of(graph, graph.inputs[i]));
    if (output && may_continue(graph.values[graph.inputs[i]], graph.values[graph.outputs[*output]]))
      pairs.push_back({i, *output});
  }
  if (pairs.empty())
    throw Error(ErrorCode::invalid_argument,
                "state 'auto' finds no input that an output continues, such as past_key_values.0.key and "
                "present.0.key, or NAME and NAME.next: name the pairs, INPUT=OUTPUT");
  return pairs;
}

void check_once(const Graph& graph, const std::vector<StatePair>& pairs) {
  for (size_t i = 0; i < pairs.size(); ++i)
    for (size_t other = 0; other < i; ++other) {
      if (pairs[i].input == pairs[other].input)
        throw Error(ErrorCode::invalid_argument,
                    "state: input '" + name_of(graph, graph.inputs[pairs[i].input]) + "' is in two pairs");
      if (pairs[i].output == pairs[other].output)
        throw Error(ErrorCode::invalid_argument,
                    "state: output '" + name_of(graph, graph.outputs[pairs[i].output]) + "' is in two pairs");
    }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> state_names(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> names;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(entry.size() + 1, text.size()));
    const size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == entry.size())
      throw Error(ErrorCode::invalid_argument,
                  "state '" + std::string(entry) + "': write it like past=present, or 'auto'");
    names.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return names;
}

std::vector<StatePair> state_pairs(const Graph& graph, std::string_view text) {
  std::vector<StatePair> pairs;
  if (text == "auto") {
    pairs = recognised_pairs(graph);
  } else {
    for (const auto& [input, output] : state_names(text))
      pairs.push_back({checked_position(graph, graph.inputs, input, "input"),
                       checked_position(graph, graph.outputs, output, "output")});
  }
  check_once(graph, pairs);
  return pairs;
}

}  // namespace vellum
