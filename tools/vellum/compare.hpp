// vellum plan --compare: what each memory mode, and each way to need less, comes to.
#pragma once

#include <optional>
#include <string>

#include "options.hpp"
#include "vellum/caps.hpp"

namespace vellum::cli {

// On the device that the options name, where they name one: then sessions are made and run as well.
void compare_memory(const std::string& model_file, const Options& options, const std::optional<Caps>& caps);

}  // namespace vellum::cli
