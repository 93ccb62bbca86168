// Options of the plug-ins for other runtimes: texts with the names that the tool `vellum` uses.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "vellum/vellum.hpp"

namespace vellum::plugin {

// Which nodes the plug-in claims.
enum class Claims : uint8_t {
  automatic,  // groups of nodes that are predicted to take less time on the device, transfers included
  all,        // every group of nodes that Vellum runs on the device
  whole,      // all nodes of the model, or none
};

struct PluginOptions {
  DeviceOptions device;
  SessionOptions session;
  Claims claim = Claims::automatic;
  std::filesystem::path claim_report;  // text file to write: claimed nodes, why others are not; empty: none
  std::filesystem::path profile_html;  // profile page of each network to write; empty: none
};

// Throws Error(invalid_argument), which names the option, for an unknown one and for an invalid value.
PluginOptions parse_options(const std::map<std::string, std::string>& options);

}  // namespace vellum::plugin
