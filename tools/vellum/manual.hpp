// The manual page and completion for shells, from the command line's own description.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace vellum::cli {

// Returns the page vellum(1) for man.
std::string manual_page(const CLI::App& app, const std::string& version);

// Return scripts that complete commands, options and their values.
std::string bash_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace vellum::cli
