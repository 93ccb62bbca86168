// Decides which nodes of an interpreter the delegate claims, and in which parts they run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bindings/plugins/plugin_options.hpp"
#include "describe_part.hpp"
#include "vellum/vellum.hpp"

namespace vellum::lite {

struct ClaimedPart {
  Part part;
  ImportedPart imported;
  Description open;  // with open shapes, in case the application resizes inputs whose shapes the file fixes
};

// The claimed parts, and why other nodes are not claimed.
struct Claim {
  std::vector<ClaimedPart> parts;
  std::map<int, std::string> reasons;  // why a node stays with the interpreter
  size_t nodes = 0;                    // number of the interpreter's nodes
};

// Decides which nodes the delegate claims. A node stays with the interpreter if Vellum has no operator or no
// kernel for it, if only a run determines the shapes of its results, or if running its part on the device
// would not pay for the transfers. MediaPipe's custom operators, which the interpreter does not have, are
// always claimed.
Claim claim_nodes(TfLiteContext* context, const Device& device, const plugin::PluginOptions& options);

// Returns "Vellum claims 91 of 93 nodes in 1 part", and one more line for each reason with the nodes that it
// concerns.
std::string report(TfLiteContext* context, const Claim& claim);

}  // namespace vellum::lite
