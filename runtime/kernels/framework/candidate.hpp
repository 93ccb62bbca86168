// Kernel candidates: the algorithms, each with parameters, that can compute a node on a device. A kernel file
// lists them; Lowering chooses the best one.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace vellum {

class Lowering;

// Identifies a candidate of a node: {"pointwise", "4x2"}. Candidates of one algorithm differ only in their
// parameters.
struct KernelName {
  std::string algorithm;
  std::string parameters = {};

  // The text in tuning tables and messages: "pointwise 4x2".
  std::string text() const { return parameters.empty() ? algorithm : algorithm + " " + parameters; }
  bool operator==(const KernelName&) const = default;
};

// A factor on the predicted cost of a candidate that only a measurement should choose.
inline constexpr double kOnlyIfMeasured = 100;

struct KernelCandidate {
  KernelName name;
  // The predicted time relative to the node's other candidates. Without measurements the candidate with the
  // least predicted cost is chosen, and among equal costs the first.
  double predicted_cost = 1;
  // Lowers the node with this kernel.
  std::function<void(Lowering&)> emit = {};
  // Predicted microseconds; 0: unknown, or much longer than the best. Among candidates of nearly the same
  // predicted time (kEquallyFast) a program chooses one whose pipeline it already has (share_pipelines.hpp).
  double predicted_us = 0;
};

// A candidate of a kernel that has only some parameters to choose.
template <typename Parameters>
struct ParameterCandidate {
  KernelName name;
  double predicted_cost = 1;
  Parameters parameters = {};
  double predicted_us = 0;
};

// The members of either kind of candidate that determine the choice.
struct KernelPrediction {
  KernelName name;
  double cost = 1;
  double us = 0;
};

// Returns the predicted cost of a microsecond: the quotient of the two predictions of the candidate with the
// least predicted time. 0: no candidate has a predicted time.
template <typename Candidate>
double cost_of_microsecond(const std::vector<Candidate>& candidates) {
  const Candidate* quickest = nullptr;
  for (const Candidate& candidate : candidates)
    if (candidate.predicted_us > 0 && (!quickest || candidate.predicted_us < quickest->predicted_us))
      quickest = &candidate;
  return quickest ? quickest->predicted_cost / quickest->predicted_us : 0;
}

}  // namespace vellum
