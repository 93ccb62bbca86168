// What came of each test of a suite, and the comparison with what is recorded to pass.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace vellum::conformance {

struct Scoreboard {
  std::set<std::string> passed;
  std::map<std::string, std::string> refused;  // test -> reason
  std::map<std::string, std::string> failed;

  // Counts, then each failure, then the reasons of refusals by how many tests they cost.
  std::string text(const std::string& suite) const;
};

// One test name a line; '#' starts a comment. Throws where the file cannot be read.
std::set<std::string> read_names(const std::filesystem::path& file);

}  // namespace vellum::conformance
