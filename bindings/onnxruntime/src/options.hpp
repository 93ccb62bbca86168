// The provider's options: texts with the names that the tool `vellum` uses.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "runtime_api.hpp"
#include "vellum/vellum.hpp"

namespace vellum::ort {

// Which nodes the provider claims.
enum class Claims : uint8_t {
  automatic,  // groups of nodes that are predicted to take less time on the device, transfers included
  all,        // every group of nodes that Vellum runs on the device
  whole,      // all nodes of the model, or none
};

// The runtime's own options ep.context_*: to write a model whose claimed parts are bundles.
struct ContextOptions {
  bool enabled = false, embed = false;
  std::filesystem::path file;  // of the model; empty: beside the model that is read
  std::string name_prefix;     // of the nodes
};

struct ProviderOptions {
  DeviceOptions device;
  SessionOptions session;
  Claims claim = Claims::automatic;
  std::filesystem::path claim_report;  // a text file: what was claimed, and what not and why; empty: none
  ContextOptions context;
  std::filesystem::path profile_html;  // the page of each network's first run; empty: none
};

// Reads the options with the provider's prefix from the session's configuration. Throws
// Error(invalid_argument), which names the option, for an unknown one and for an invalid value.
ProviderOptions read_options(const OrtSessionOptions& options);
ProviderOptions parse_options(const std::map<std::string, std::string>& options);

}  // namespace vellum::ort
