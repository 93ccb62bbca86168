// Decides which nodes of a network the provider claims, and in which groups they run.
#pragma once

#include <string>
#include <vector>

#include "network.hpp"
#include "options.hpp"
#include "vellum/vellum.hpp"

namespace vellum::ort {

// The claimed nodes, and why the others are not.
struct Claim {
  std::vector<std::vector<size_t>> parts;  // indices of nodes; each part runs as one
  std::vector<std::string> reasons;        // per node: why it stays with the runtime; empty if it is claimed
};

// Decides which nodes Vellum claims. A node stays with the runtime if Vellum has no operator or no kernel for
// it, if only a run determines the shapes of its results, or if running its group on the device would not pay
// for the transfers. Open dimensions are tried with common sizes.
Claim claim_nodes(const Network& network, const Device& device, const ProviderOptions& options);

// Returns one line: "Vellum claims 91 of 93 nodes in 1 part".
std::string summary(const Network& network, const Claim& claim);
// Returns the summary and one more line for each reason, with the nodes that it concerns.
std::string report(const Network& network, const Claim& claim);

}  // namespace vellum::ort
