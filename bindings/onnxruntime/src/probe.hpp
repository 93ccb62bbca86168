// Compiles a part of a network to find out which nodes run on the device, and how long they take.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bindings/plugins/predicted_times.hpp"
#include "network.hpp"
#include "vellum/vellum.hpp"

namespace vellum::ort {

// The result of compiling a part.
struct Probe {
  // Names of nodes that stay with the runtime, with the reason.
  std::map<std::string, std::string> refused;
  std::string failure;  // why no node of the part can run; empty if some can, or if `refused` has the reasons
  size_t dispatches = 0;
  plugin::PredictedTimes times;
  bool is_done() const { return refused.empty() && failure.empty(); }
};

// Compiles the part. Open dimensions of its inputs are tried with common sizes.
Probe probe(const Network& network, Graph part, const Device& device, const SessionOptions& options);

// Returns the shapes of the part's inputs with which probe() succeeds; nothing if there are none.
std::optional<InputShapes> likely_shapes(const Network& network, const Graph& part, const Device& device,
                                         const SessionOptions& options);

}  // namespace vellum::ort
