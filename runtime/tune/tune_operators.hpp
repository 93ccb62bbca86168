// Measures the kernel candidates of the operators of a network.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "kernels/framework/lowering.hpp"
#include "vulkan/context.hpp"

namespace vellum {

// Operators of a network whose choices have the same signature.
struct OperatorKind {
  Choice choice;     // of the first node
  size_t nodes = 1;  // their number
  CandidateTimes times;
  bool known = false;     // whether the table already had all times
  bool measured = false;  // whether this call measured it
};

// The device, limits and callbacks of tune_operators(), and the warnings that it adds.
struct OperatorTuning {
  std::shared_ptr<gpu::Context> context;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  bool again = false;  // true: also measures kinds whose times are in the table
  // Called after each kind.
  std::function<void(size_t done, size_t total, const OperatorKind& kind)> progress;
  // Returns for each program whether the device computes its kernels correctly. Null: all count as correct.
  std::function<std::vector<bool>(std::span<const Program> programs)> are_right;
  std::vector<std::string> warnings;  // candidates with wrong results

  bool is_late() const { return std::chrono::steady_clock::now() >= deadline; }
};

// Returns whether two candidates computed the same results up to rounding. The bound is wide, because wrong
// results differ by about their own magnitude.
bool same_results(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b, Precision precision);

// Measures the candidates of every choice that lowering `graph` with `options` makes, and adds their times to
// `table`. A candidate whose results differ from the first one's, or that the device refuses, gets no time.
// Candidates with a kernel that is not correct are skipped. After the deadline the remaining choices keep the
// table's times.
std::vector<OperatorKind> tune_operators(const Graph& graph, const LoweringOptions& options,
                                         OperatorTuning& tuning, TuningTable& table);

}  // namespace vellum
