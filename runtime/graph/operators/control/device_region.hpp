// DeviceRegion: layers that follow operators with data-dependent shapes. They run on the device after a run
// has determined the shapes of their inputs.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/graph.hpp"
#include "graph/operator_support.hpp"

namespace vellum {

// A node of a HostTail, or of a Loop in it. It has the inputs and outputs of its body.
struct DeviceRegion : Operator {
  Graph body;
  // For each input whether its shape is data-dependent: its first dimension may be a number of rows that only
  // a run determines.
  std::vector<bool> is_late;

  std::string_view type() const override { return "DeviceRegion"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  // Evaluates the body on the host.
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;

  // Returns the body for inputs of these types. All dimensions must be known.
  Graph body_for(std::span<const TensorType> types) const;
  // Returns whether row i of each output depends only on row i of the late inputs. Then rows may be appended
  // to the late inputs and cut off the outputs. `typed`: the result of body_for() types in which all late
  // inputs have the same first dimension.
  bool keeps_rows(const Graph& typed) const;
};

// Returns whether an operator may be in the body of a region.
bool fits_region(const Graph& graph, const Node& node);

// Returns the number of regions in a graph and in the bodies of its Loops.
size_t count_regions(const Graph& graph);

// Computes a region's outputs in place of DeviceRegion::evaluate().
using RunRegion = std::function<std::vector<HostTensor>(const DeviceRegion& region, HostInputs inputs)>;

// Evaluates a graph as evaluate(graph, inputs) does, but computes its regions, and those in its Loops, with
// `run`, unless `run` is empty.
std::vector<HostTensor> evaluate_with_regions(const Graph& graph, std::span<const HostTensor> inputs,
                                              const RunRegion& run);

}  // namespace vellum
