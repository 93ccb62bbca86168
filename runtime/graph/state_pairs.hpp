// Pairs of an input and an output of a graph that are state: the output is the input of the next run.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.hpp"

namespace vellum {

// Positions in the inputs and outputs of a graph.
struct StatePair {
  size_t input = 0, output = 0;
  bool operator==(const StatePair&) const = default;
};

// Returns the names in a list "INPUT=OUTPUT;INPUT=OUTPUT" (SessionOptions::state). Throws
// Error(invalid_argument) for an entry without two names.
std::vector<std::pair<std::string, std::string>> state_names(std::string_view text);

// Returns the pairs that `text` lists, in its order. With "auto" it returns the pairs that follow from the
// names of inputs and outputs, in the order of inputs. Throws Error(not_found) for an unknown name, and
// Error(invalid_argument) if an input or output is in two pairs, or if "auto" finds none.
std::vector<StatePair> state_pairs(const Graph& graph, std::string_view text);

}  // namespace vellum
