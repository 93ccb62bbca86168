// The expected outputs of a random graph, and how far rounding may move them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "differential/random_graph.hpp"
#include "support/rounding_study.hpp"

namespace vellum::test {

// By name.
using NamedTensors = std::map<std::string, HostTensor>;

class ExpectedOutputs {
 public:
  // Evaluates the graph, whose shapes are known, in double.
  ExpectedOutputs(const Graph& graph, std::span<const HostTensor> inputs);

  // Empty if the outputs are right, else which one is not.
  std::string difference(const NamedTensors& outputs, Rounding rounding) const;

 private:
  std::vector<double> spreads(Rounding rounding) const;

  RoundingStudy study_;
  std::vector<std::string> names_;
  std::vector<DType> types_;
};

// A random graph with inputs.
struct RandomCase {
  explicit RandomCase(uint32_t seed, Axes axes = Axes::small);

  RandomGraph random;
  Graph graph;  // imported, with all shapes
  NamedTensors inputs;
  ExpectedOutputs expected;
};

}  // namespace vellum::test
