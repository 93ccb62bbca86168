// Measures the kernel candidates of the operators of a network.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "kernels/framework/lowering.hpp"
#include "vulkan/context.hpp"

namespace vellum {

// Operators of a network whose choices have one signature.
struct OperatorKind {
  Choice choice;     // of the first
  size_t nodes = 1;  // how many there are
  CandidateTimes times;
  bool known = false;     // the table had all times before
  bool measured = false;  // now
};

struct OperatorTuning {
  std::shared_ptr<gpu::Context> context;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  bool again = false;  // what the table knows is measured all the same
  // After each kind that was looked at: how many of how many.
  std::function<void(size_t done, size_t total, const OperatorKind& kind)> progress;
  std::vector<std::string> warnings;  // candidates with wrong results

  bool is_late() const { return std::chrono::steady_clock::now() >= deadline; }
};

// Whether two candidates computed the same: rounding differs from one to the other; what is wrong differs by
// as much as the results are large.
bool same_results(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b, Precision precision);

// Adds to `table` the times of the candidates for every choice that `graph` has with `options`; nothing for
// one that gives other results than the first, or that the device refuses. What no time is left for stays as
// the table has it.
std::vector<OperatorKind> tune_operators(const Graph& graph, const LoweringOptions& options,
                                         OperatorTuning& how, TuningTable& table);

}  // namespace vellum
