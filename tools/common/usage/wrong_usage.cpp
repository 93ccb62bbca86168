#include "usage/wrong_usage.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace vellum::cli {
namespace {

// The number of characters to insert, delete, replace, or exchange with their neighbours (optimal string
// alignment).
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = a[i - 1] == b[j - 1];
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before.swap(row);
    row.swap(next);
  }
  return row.back();
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string found = nearest(word, candidates);
  return found.empty() ? "" : ": did you mean '" + found + "'?";
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string see(const std::string& program) { return " (see " + program + " --help)"; }

// `extras`: what no option and no argument took, in the order of the command line.
std::string explain_extras(const CLI::App& command, const std::string& program,
                           const std::vector<std::string>& extras) {
  const auto option =
      std::ranges::find_if(extras, [](const std::string& word) { return word.size() > 1 && word[0] == '-'; });
  if (option == extras.end()) return program + " takes no argument '" + extras.front() + "'" + see(program);
  const std::string name = option->substr(0, option->find('='));
  return program + " has no option '" + name + "'" + did_you_mean(name, option_names(command)) + see(program);
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  std::string found;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < least) {
      least = distance;
      found = candidate;
    }
  }
  return found;
}

std::string explain_command(const CLI::App& app, const std::string& word) {
  return "there is no command '" + word + "'" + did_you_mean(word, command_names(app)) + see(app.get_name());
}

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  const CLI::App& command = parsed.empty() ? app : *parsed.front();
  const std::string program = parsed.empty() ? app.get_name() : app.get_name() + " " + command.get_name();
  // CLI11 names a missing argument before an option that does not exist, and all of these from the last to
  // the first.
  const std::vector<std::string> extras = app.remaining(true);
  if (!extras.empty()) return explain_extras(command, program, extras);
  return error.what() + see(program);
}

CLI::Validator more_than_zero() {
  return {[](std::string& text) -> std::string {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            const bool is_number = !text.empty() && *end == '\0';
            return is_number && value > 0 ? "" : "takes a number above 0, and '" + text + "' is given";
          },
          "POSITIVE"};
}

}  // namespace vellum::cli
