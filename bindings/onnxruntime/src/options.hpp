// The provider's options.
#pragma once

#include <filesystem>
#include <string>

#include "bindings/plugins/plugin_options.hpp"
#include "runtime_api.hpp"

namespace vellum::ort {

using plugin::Claims;

// The runtime's own options ep.context_*, which make it write a model whose claimed parts are bundles.
struct ContextOptions {
  bool enabled = false, embed = false;
  std::filesystem::path file;  // the model to write; empty: beside the model that is read
  std::string name_prefix;     // of the EPContext nodes
};

struct ProviderOptions : plugin::PluginOptions {
  ContextOptions context;
};

// Reads the options with the provider's prefix from the session's configuration. Throws
// Error(invalid_argument), which names the option, for an unknown one and for an invalid value.
ProviderOptions read_options(const OrtSessionOptions& options);

}  // namespace vellum::ort
