#include "run_tool.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#ifndef _WIN32
#include <sys/wait.h>
#endif

namespace vellum::test {
namespace {

std::string quoted(const std::string& argument) {
  std::string text = "\"";
  text += argument;
  text += "\"";
  return text;
}

std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// Its exit status.
int run_command(const std::string& command) {
#ifdef _WIN32
  // The shell takes the first and the last quotation mark away.
  const std::string enclosed = quoted(command);
  return _wsystem(std::filesystem::path(std::u8string(enclosed.begin(), enclosed.end())).c_str());
#else
  const int result = std::system(command.c_str());
  return WIFEXITED(result) ? WEXITSTATUS(result) : -1;
#endif
}

}  // namespace

Finished run_program(const std::string& program, const std::vector<std::string>& arguments) {
  const TempFolder folder;
  // A string built by += alone: GCC 12 warns of overlaps in "..." + std::string that are not there (GCC bug
  // 105329).
  std::string command = VELLUM_TEST_EMULATOR;
  if (!command.empty()) command += ' ';
  command += quoted(program);
  for (const std::string& argument : arguments) {
    command += ' ';
    command += quoted(argument);
  }
  command += " >";
  command += quoted((folder / "out").string());
  command += " 2>";
  command += quoted((folder / "err").string());
  Finished finished;
  finished.status = run_command(command);
  finished.out = content(folder / "out");
  finished.err = content(folder / "err");
  return finished;
}

Finished run_tool(const std::vector<std::string>& arguments) { return run_program(VELLUM_TOOL, arguments); }

nlohmann::json run_json(std::vector<std::string> arguments) {
  arguments.push_back("--json");
  const Finished finished = run_tool(arguments);
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  nlohmann::json document = nlohmann::json::parse(finished.out, nullptr, false);
  EXPECT_FALSE(document.is_discarded()) << finished.out;
  return document;
}

testing::AssertionResult fails(const std::vector<std::string>& arguments, int status,
                               const std::vector<std::string>& parts) {
  const Finished finished = run_tool(arguments);
  if (finished.status != status)
    return testing::AssertionFailure()
           << "exit status " << finished.status << ", expected " << status << ": " << finished.err;
  const bool is_json = std::ranges::find(arguments, "--json") != arguments.end();
  const nlohmann::json document = nlohmann::json::parse(is_json ? finished.out : "null", nullptr, false);
  if (is_json ? !document.is_object() || !document.contains("error") : !finished.out.empty())
    return testing::AssertionFailure() << "printed " << finished.out;
  if (finished.err.empty() || finished.err.find('\n') != finished.err.size() - 1)
    return testing::AssertionFailure() << "not one line: " << finished.err;
  for (const std::string& part : parts)
    if (finished.err.find(part) == std::string::npos)
      return testing::AssertionFailure() << finished.err << " does not say '" << part << "'";
  if (is_json && finished.err != "vellum: " + document["error"]["message"].get<std::string>() + "\n")
    return testing::AssertionFailure() << finished.out << " is not " << finished.err;
  return testing::AssertionSuccess();
}

}  // namespace vellum::test
