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

// Operators of a network whose choices have one signature.
struct OperatorKind {
  Choice choice;     // of the first
  size_t nodes = 1;  // their number
  CandidateTimes times;
  bool known = false;     // the table already had all times
  bool measured = false;  // by this call
};

struct OperatorTuning {
  std::shared_ptr<gpu::Context> context;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  bool again = false;  // also measures kinds whose times the table has
  // Called after each kind.
  std::function<void(size_t done, size_t total, const OperatorKind& kind)> progress;
  // Whether the device computes the kernels of each program rightly; null: nothing is known of them.
  std::function<std::vector<bool>(std::span<const Program> programs)> are_right;
  std::vector<std::string> warnings;  // candidates with wrong results

  bool is_late() const { return std::chrono::steady_clock::now() >= deadline; }
};

// Returns whether two candidates computed the same up to rounding. Wrong results differ by as much as they
// are large.
bool same_results(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b, Precision precision);

// Measures the candidates of every choice that `graph` has with `options`, and adds their times to `table`. A
// candidate with other results than the first, or that the device refuses, gets no time; one with a kernel
// that is not right is no candidate. When the deadline has passed, the other choices keep the table's times.
std::vector<OperatorKind> tune_operators(const Graph& graph, const LoweringOptions& options,
                                         OperatorTuning& tuning, TuningTable& table);

}  // namespace vellum
