// vellum plan --compare: the memory of each mode, and of each rewrite that reduces it.
#pragma once

#include <optional>
#include <string>

#include "options.hpp"
#include "vellum/caps.hpp"

namespace vellum::cli {

// If the options name a device, sessions are also made and run on it.
void compare_memory(const std::string& model_file, const Options& options, const std::optional<Caps>& caps);

}  // namespace vellum::cli
