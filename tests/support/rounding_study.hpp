// How far rounding moves what a network computes: what the tolerances of whole models are derived from
// (rounding.json, which e2e/rounding_table.cpp writes).
//
// The network is evaluated in double, which counts as exact, and again with every rounding that an engine
// makes replaced by a random one of its size. How far the outputs move tells how well the precision
// determines them. Nothing of that depends on the machine.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "support/fetched_model.hpp"

namespace vellum::test {

class RoundingStudy {
 public:
  // Evaluates the graph, whose shapes are known, in double.
  RoundingStudy(Graph graph, std::span<const HostTensor> inputs);

  // Each output as float64, in the graph's order.
  const std::vector<HostTensor>& exact() const { return exact_; }

  // The outputs with random roundings: a stored value or weight moves by up to a unit roundoff of itself, the
  // result of a sum by up to a unit roundoff of the sum of its terms' magnitudes, which is what rounding one
  // factor of each term amounts to at most.
  std::vector<HostTensor> rounded(Rounding rounding, uint32_t seed) const;

 private:
  Graph graph_;
  std::vector<HostTensor> inputs_, exact_;
  std::vector<HostTensor> magnitudes_;  // of each node: the sums of its terms' magnitudes, or empty
};

// The study of a fetched model on its input, optimised as sessions do, but for what fuses sums into one
// operator. Outputs in the model's order; in place of one that is suppressed (Suppression) the map before
// that.
RoundingStudy rounding_study(const FetchedModel& model);

// For each output, by name, the largest distances of eight rounded evaluations from the exact one; for one
// that is suppressed of the map, and under margin_name() of how far each element stands out.
std::map<std::string, Distance> rounding_spread(const FetchedModel& model, const RoundingStudy& study,
                                                Rounding rounding);

}  // namespace vellum::test
