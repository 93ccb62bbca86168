// Flags for the options of the library: one function for each kind of the rows of vellum/*_options.def, which
// session_options.def explains.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "choice_words.hpp"
#include "io/file_name.hpp"

namespace vellum::cli {

// "search_ms" is "search-ms".
inline std::string dashed(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '_', '-');
  return text;
}

// Adds flags to a command, in a group of its help. A flag writes to the option that it is for; the option's
// value before is the default.
class OptionFlags {
 public:
  explicit OptionFlags(CLI::App& command, const char* group = "Options") : command_(command), group_(group) {}

  template <typename Value>
  CLI::Option* value(const std::string& flag, Value& option, const std::string& what) {
    return command_.add_option(flag, option, what)->group(group_);
  }

  // --NAME; for an option that is on by default also --no-NAME.
  void flag(const std::string& name, bool& option, const std::string& what) {
    const bool both = option;
    command_
        .add_flag("--" + name + (both ? ",!--no-" + name : ""), option,
                  what + (both ? "; on by default" : ""))
        ->group(group_);
  }
  void count(const std::string& name, uint32_t& option, const std::string& what) {
    limit_milliseconds(name, value("--" + name, option, what)->capture_default_str());
  }
  void count(const std::string& name, std::optional<uint32_t>& option, const std::string& what) {
    limit_milliseconds(name, value("--" + name, option, what));
  }
  void bytes(const std::string& name, uint64_t& option, const std::string& what) {
    value("--" + name, option, what + "; also like 64MiB")->transform(CLI::AsSizeValue(true));
  }
  template <typename Number>
  void number(const std::string& name, Number& option, const std::string& what) {
    value("--" + name, option, what)->check(CLI::NonNegativeNumber)->capture_default_str();
  }
  template <typename Choice>
  void choice(const std::string& name, Choice& option, const std::string& what) {
    const std::vector<std::string> words = choice_words(option);
    const auto set = [&option, words](const std::string& word) {
      option = static_cast<Choice>(std::ranges::find(words, word) - words.begin());
    };
    command_.add_option_function<std::string>("--" + name, set, what)
        ->check(CLI::IsMember(words))
        ->default_str(choice_word(option))
        ->group(group_);
  }
  void text(const std::string& name, std::string& option, const std::string& what) {
    CLI::Option* added = value("--" + name, option, what);
    if (!option.empty()) added->capture_default_str();
  }
  void folder(const std::string& name, std::filesystem::path& option, const std::string& what) {
    const auto set = [&option](const std::string& file) { option = io::FileName(file).path(); };
    command_.add_option_function<std::string>("--" + name, set, what)
        ->default_str(io::FileName(option).text())
        ->group(group_);
  }

 private:
  static void limit_milliseconds(const std::string& name, CLI::Option* added) {
    if (name.ends_with("-ms")) added->check(CLI::Range(0u, 3'600'000u));
  }

  CLI::App& command_;
  const char* group_;
};

}  // namespace vellum::cli
