// Runs the `vellum` tool as a process.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/temp_folder.hpp"

namespace vellum::test {

struct Finished {
  int status = -1;
  std::string out, err;
};

Finished run_program(const std::string& program, const std::vector<std::string>& arguments);
// The vellum tool.
Finished run_tool(const std::vector<std::string>& arguments);
// With --json: succeeds, says nothing on stderr, and prints one JSON document and nothing else.
nlohmann::json run_json(std::vector<std::string> arguments);

// Exit status, one line on stderr that has every part, and on stdout nothing, or with --json the same message.
testing::AssertionResult fails(const std::vector<std::string>& arguments, int status,
                               const std::vector<std::string>& parts);

}  // namespace vellum::test
