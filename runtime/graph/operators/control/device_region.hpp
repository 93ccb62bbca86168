// DeviceRegion: layers behind operators with data-dependent shapes, which run on the device once a run has
// told the shapes of what they read.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/graph.hpp"
#include "graph/operator_support.hpp"

namespace vellum {

// A node of a HostTail. Inputs and outputs: those of the body.
struct DeviceRegion : Operator {
  Graph body;
  // For each input whether it is computed behind an operator with a data-dependent shape: its first dimension
  // may be a number of rows that is known only in a run.
  std::vector<bool> is_late;

  std::string_view type() const override { return "DeviceRegion"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  // On the host.
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;

  // The body for inputs of these types, all dimensions known.
  Graph body_for(std::span<const TensorType> types) const;
  // Whether row i of each output depends on row i of the late inputs alone, so that rows may be appended to
  // all of them and be cut off the outputs. `typed` is a body_for() types in which all late inputs have the
  // same first dimension.
  bool keeps_rows(const Graph& typed) const;
};

// Whether an operator may be in the body of a region.
bool fits_region(const Graph& graph, const Node& node);

// Computes a region's outputs in place of DeviceRegion::evaluate().
using RunRegion = std::function<std::vector<HostTensor>(const DeviceRegion& region, HostInputs inputs)>;

// Does what evaluate(graph, inputs) does; `run` computes the regions, unless it is empty.
std::vector<HostTensor> evaluate_with_regions(const Graph& graph, std::span<const HostTensor> inputs,
                                              const RunRegion& run);

}  // namespace vellum
