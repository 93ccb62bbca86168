// Kernel candidates: the algorithms, each with its parameters, that can compute a node on a device. A kernel
// file answers with all of them; Lowering takes the best one.
#pragma once

#include <functional>
#include <string>
#include <utility>

namespace vellum {

class Lowering;

// Tells candidates of a node apart. Those of one algorithm differ in their parameters alone: {"pointwise",
// "4x2"}.
struct KernelName {
  std::string algorithm;
  std::string parameters = {};

  // As tuning tables and people have it: "pointwise 4x2".
  std::string text() const { return parameters.empty() ? algorithm : algorithm + " " + parameters; }
  bool operator==(const KernelName&) const = default;
};

// Factor on the predicted cost of a candidate that nothing but a measurement should choose.
inline constexpr double kOnlyIfMeasured = 100;

struct KernelCandidate {
  KernelName name;
  // The time that it should take, relative to the node's other candidates. Where nothing was measured, the
  // least predicted cost wins, and of equal ones the first.
  double predicted_cost = 1;
  // Lowers the node with this kernel.
  std::function<void(Lowering&)> emit = {};
  // The time that the device policy predicts; 0: unknown, or much more than that of the best. Of candidates
  // that are predicted to be as quick (kAsQuick) a program takes one whose pipeline it has
  // (share_pipelines.hpp).
  double predicted_us = 0;
};

// A candidate that differs from the others in some parameters alone.
template <typename Parameters>
struct ParameterCandidate {
  KernelName name;
  double predicted_cost = 1;
  Parameters parameters = {};
  double predicted_us = 0;
};

// The part of a candidate of either kind by which one is chosen.
struct KernelPrediction {
  KernelName name;
  double cost = 1;
  double us = 0;
};

}  // namespace vellum
