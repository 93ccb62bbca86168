// The choice between kernel candidates, and the times that were measured on the device for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "kernels/framework/candidate.hpp"
#include "vellum/options.hpp"

namespace vellum {

// Measured microseconds of an operator with each candidate, by KernelName::text().
using CandidateTimes = std::map<std::string, double, std::less<>>;

// The measurements of `vellum tune` on one device with one driver, as a plain value. tune/table_file.hpp
// reads and writes it.
struct TuningTable {
  // Times by the signature of an operator, which contains everything that determines its speed
  // (Choice::signature).
  std::map<std::string, CandidateTimes, std::less<>> operators;
  // The storage of each value of a graph (by ValueId), by network_fingerprint(). A network has an entry only
  // if a mixture of storages, or another storage than the default, was faster.
  std::map<std::string, std::vector<StorageChoice>, std::less<>> storages;

  bool empty() const { return operators.empty() && storages.empty(); }
};

// A choice that the lowering of a network made.
struct Choice {
  size_t node = 0;  // index in graph.nodes
  std::string signature;
  std::vector<KernelName> candidates;  // in ascending order of predicted cost
  size_t taken = 0;                    // index of the chosen candidate
};

// The kernels to use for each node of a graph, in the order of its choices. Empty: the kernels of least cost.
using ChosenKernels = std::vector<std::vector<KernelName>>;

// The whole layers of a graph that computes layers in strips (passes/tile), and the kernels chosen for them.
// A strip is computed by the kernel of its whole layer, so that its sums have the same terms in the same
// order.
struct WholeLayers {
  static constexpr size_t kNone = SIZE_MAX;

  const Graph* graph = nullptr;
  std::vector<size_t> node_of;  // per node of the graph with strips; kNone: no whole layer
  ChosenKernels chosen;         // per node of `graph`
};

// Returns whether the table has times for the operator.
bool is_measured(const TuningTable* table, std::string_view signature);

// Returns the index of the fastest measured candidate if it is clearly faster than the first, else 0.
// Candidates that are only in the table, or only in `candidates`, are ignored.
size_t quickest(const TuningTable* table, std::string_view signature, std::span<const KernelName> candidates);

// Returns the indices of the candidates in ascending order of predicted cost (a stable sort).
std::vector<size_t> by_predicted_cost(std::span<const KernelPrediction> predictions);

// A candidate is clearly faster if it takes at most this fraction of the first one's time, because noise may
// order similar times either way.
inline constexpr double kClearlyQuicker = 0.97;

}  // namespace vellum
