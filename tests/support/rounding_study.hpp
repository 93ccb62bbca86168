// Measures how far rounding changes the outputs of a network. The tolerances of whole models are derived from
// this (rounding.json, which e2e/rounding_table.cpp writes).
//
// The network is evaluated in double, which counts as exact, and again with a random error of the size of
// each rounding that an engine makes. The distance between both is how far outputs may differ in this
// precision. The result does not depend on the machine.
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

  // Returns the outputs with random rounding errors. A stored value or weight changes by up to a unit
  // roundoff of itself. The result of a sum changes by up to a unit roundoff of the sum of its terms'
  // magnitudes: the most that rounding one factor of each term can cause.
  std::vector<HostTensor> rounded(Rounding rounding, uint32_t seed) const;

 private:
  Graph graph_;
  std::vector<HostTensor> inputs_, exact_;
  std::vector<HostTensor> magnitudes_;  // per node: the sums of its terms' magnitudes, or empty
};

// Returns the study of a fetched model on its input. The graph is optimised as in sessions, without the
// passes that fuse several sums into one operator. Outputs are in the model's order; a suppressed output
// (Suppression) is replaced by the map before suppression.
RoundingStudy rounding_study(const FetchedModel& model);

// Returns for each output, by name, the largest distances of eight rounded evaluations from the exact one.
// For a suppressed output these are the distances of its map, and under margin_name() the distances of its
// margins().
std::map<std::string, Distance> rounding_spread(const FetchedModel& model, const RoundingStudy& study,
                                                Rounding rounding);

}  // namespace vellum::test
