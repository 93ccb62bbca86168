// The result of each test of a suite, and the comparison with the recorded passes.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace vellum::conformance {

using Reasons = std::map<std::string, std::string>;  // by test

struct Scoreboard {
  std::set<std::string> passed;
  Reasons refused, failed;

  // Counts, then each failure, then the reasons of refusals by how many tests they cost.
  std::string text(const std::string& suite) const;
};

// "  <what> <number of tests>: <reason>", the commonest first.
std::string by_count(const std::string& what, const Reasons& reasons);

// Returns an error's message without the names of node and file, so that equal reasons are counted together.
std::string reason(const std::string& message);

// Reads one test name per line; '#' starts a comment. Throws if the file cannot be read.
std::set<std::string> read_names(const std::filesystem::path& file);

}  // namespace vellum::conformance
