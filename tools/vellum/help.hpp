// The layout of --help: a command's own options first, then the names of the options that every command has.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace vellum::cli {

inline constexpr const char* kCommonOptions = "Common options";
inline constexpr const char* kExpertOptions = "Expert options";

// --help names the options of the two groups above; --help-all describes them too. Descriptions are wrapped.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;

 private:
  std::string option_groups(const CLI::App* app, bool fold) const;
};

}  // namespace vellum::cli
