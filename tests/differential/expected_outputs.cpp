#include "differential/expected_outputs.hpp"

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <utility>

#include "graph/operator_support.hpp"
#include "passes/passes.hpp"
#include "support/rounding.hpp"
#include "support/tensors.hpp"

namespace vellum::test {
namespace {

Graph with_shapes(const OnnxModel& model) {
  Graph graph = model.graph();
  infer_shapes_and_fold(graph, {});
  return graph;
}

NamedTensors named_inputs(const Graph& graph, uint32_t seed) {
  NamedTensors inputs;
  const std::vector<HostTensor> values = random_inputs(graph, seed);
  for (size_t i = 0; i < graph.inputs.size(); ++i) inputs[graph.values[graph.inputs[i]].name] = values[i];
  return inputs;
}

}  // namespace

ExpectedOutputs::ExpectedOutputs(const Graph& graph, std::span<const HostTensor> inputs)
    : study_(graph, inputs) {
  for (const ValueId id : graph.outputs) {
    names_.push_back(graph.values[id].name);
    types_.push_back(graph.values[id].type.dtype);
  }
}

std::string ExpectedOutputs::difference(const NamedTensors& outputs, Rounding rounding) const {
  std::vector<double> spread;  // takes several evaluations, and most outputs are nearer than any
  const double least = rounding == Rounding::fp32 ? 2e-5 : 1e-2;
  for (size_t i = 0; i < names_.size(); ++i) {
    const HostTensor &output = outputs.at(names_[i]), &exact = study_.exact()[i];
    if (output.dtype() != types_[i] || output.shape() != exact.shape())
      return names_[i] + " is " + to_string(output.type()) + " and should be " +
             to_string(TensorType{types_[i], exact.shape()});
    const double apart = distance_between(output, exact).largest;
    if (apart <= least) continue;
    if (spread.empty()) spread = spreads(rounding);
    if (!(apart <= least + 8 * spread[i]))
      return (std::ostringstream() << names_[i] << " is off by " << apart << ", and rounding moves it by "
                                   << spread[i])
          .str();
  }
  return "";
}

std::vector<double> ExpectedOutputs::spreads(Rounding rounding) const {
  std::vector<double> spread(names_.size(), 0.0);
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    const std::vector<HostTensor> rounded = study_.rounded(rounding, seed);
    for (size_t i = 0; i < spread.size(); ++i)
      spread[i] = std::max(spread[i], distance_between(rounded[i], study_.exact()[i]).largest);
  }
  return spread;
}

RandomCase::RandomCase(uint32_t seed, Axes axes)
    : random(random_graph(seed, axes)),
      graph(with_shapes(random.model)),
      inputs(named_inputs(graph, seed)),
      expected(graph, random_inputs(graph, seed)) {}

}  // namespace vellum::test
