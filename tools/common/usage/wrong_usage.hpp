// Messages for command lines that are wrong.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace vellum::cli {

// Returns the candidate that `word` is probably a misspelling of, or an empty string.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

// Returns one line for a first argument that is no command.
std::string explain_command(const CLI::App& app, const std::string& word);
// Returns one line for an exception of app.parse(). It names the first argument that is wrong.
std::string explain(const CLI::App& app, const CLI::ParseError& error);

// Returns a check that a number is positive. (CLI::PositiveNumber prints the largest double in its message.)
CLI::Validator more_than_zero();

}  // namespace vellum::cli
