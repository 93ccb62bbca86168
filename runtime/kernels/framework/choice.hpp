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

// Microseconds that an operator took with each candidate, by KernelName::text().
using CandidateTimes = std::map<std::string, double, std::less<>>;

// The measurements of `vellum tune` on one device with one driver, as a plain value. tune/table_file.hpp
// reads and writes it.
struct TuningTable {
  // By the signature of an operator, which contains everything that determines its speed (Choice::signature).
  std::map<std::string, CandidateTimes, std::less<>> operators;
  // By network_fingerprint(): the storage of each value of the graph, by ValueId. Present only if a mixture,
  // or another storage than that of StorageChoice::automatic, was faster.
  std::map<std::string, std::vector<StorageChoice>, std::less<>> storages;

  bool empty() const { return operators.empty() && storages.empty(); }
};

// A choice that the lowering of a network made.
struct Choice {
  size_t node = 0;  // in graph.nodes
  std::string signature;
  std::vector<KernelName> candidates;  // by predicted cost, the least first
  size_t taken = 0;
};

// The kernels to take for each node of a graph, in the order of its choices; empty for those of least cost.
using ChosenKernels = std::vector<std::vector<KernelName>>;

// The graph of which another one computes layers in strips (passes/tile), and the choices of its lowering. A
// strip is computed by the kernel of the whole, so that its sums have the same terms in the same order.
struct WholeLayers {
  static constexpr size_t kNone = SIZE_MAX;

  const Graph* graph = nullptr;
  std::vector<size_t> node_of;  // per node of the other graph; kNone: it has no whole
  ChosenKernels chosen;         // per node of `graph`
};

// Whether the table has times of an operator's candidates.
bool is_measured(const TuningTable* table, std::string_view signature);

// Returns the candidate that was measured to be the fastest if it is clearly faster than the first, else the
// first. Candidates that only the table or only the kernel knows do not count.
size_t quickest(const TuningTable* table, std::string_view signature, std::span<const KernelName> candidates);

// The numbers of the candidates, the least predicted cost first, and of equal ones the first.
std::vector<size_t> by_predicted_cost(std::span<const KernelPrediction> predictions);

// A candidate must take at most this fraction of the first candidate's time, because noise may order similar
// times either way.
inline constexpr double kClearlyQuicker = 0.97;

}  // namespace vellum
