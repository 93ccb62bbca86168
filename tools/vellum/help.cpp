#include "help.hpp"

#include <utility>
#include <vector>

namespace vellum::cli {
namespace {

constexpr size_t kWidth = 100;       // columns of a line
constexpr size_t kDescription = 34;  // column where descriptions begin

bool is_folded(const std::string& group) { return group == kCommonOptions || group == kExpertOptions; }

// Appends words to `text`, whose last line has `column` columns so far. Further lines are indented by `indent`.
void append_wrapped(std::string& text, size_t column, size_t indent, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (column > indent && column + 1 + word.size() > kWidth) {
      text += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
  }
  text += '\n';
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::string& word : CLI::detail::split(text, ' '))
    if (!word.empty()) words.push_back(std::move(word));
  return words;
}

// "{a,b}" where these are few, else "N" for numbers and "TEXT". CLI11 calls them "TEXT:{a,b}", "UINT:POSITIVE".
std::string value_kind(const std::string& type) {
  constexpr size_t kLongest = 50;
  const size_t check = type.find(":{");
  if (check != std::string::npos && type.size() - check <= kLongest) return type.substr(check + 1);
  return type.rfind("UINT", 0) == 0 || type.rfind("INT", 0) == 0 || type.rfind("FLOAT", 0) == 0 ? "N" : "TEXT";
}

std::string name_options(const std::vector<const CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back("--" + option->get_lnames().front());
  std::string text(2, ' ');
  append_wrapped(text, 2, 2, names);
  return text;
}

}  // namespace

std::string HelpFormatter::option_groups(const CLI::App* app, bool fold) const {
  std::string described, named;
  for (const std::string& group : app->get_groups()) {
    if (group.empty()) continue;
    const std::vector<const CLI::Option*> options = app->get_options(
        [&](const CLI::Option* option) { return option->get_group() == group && option->nonpositional(); });
    if (options.empty()) continue;
    if (fold && is_folded(group))
      named += "\n" + group + " (--help-all describes them):\n" + name_options(options);
    else
      described += make_group(group, false, options);
  }
  return described + named;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  if (mode == CLI::AppFormatMode::Sub) return make_expanded(app);
  return make_description(app) + make_usage(app, std::move(name)) + make_positionals(app) +
         option_groups(app, mode != CLI::AppFormatMode::All) + make_subcommands(app, mode) + "\n" +
         make_footer(app);
}

// "--views,--no-views": without the value that CLI11 shows of the second.
std::string HelpFormatter::make_option_name(const CLI::Option* option, bool is_positional) const {
  return CLI::detail::find_and_replace(CLI::Formatter::make_option_name(option, is_positional), "{false}", "");
}

// " {fp32,fp16} = fp32"
std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_expected_max() == 0) return "";  // a flag
  std::string text;
  if (option->nonpositional()) text += " " + value_kind(option->get_type_name());
  if (!option->get_default_str().empty()) text += " = " + option->get_default_str();
  return text;
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  std::string text = "  " + make_option_name(option, is_positional) + make_option_opts(option);
  if (text.size() + 1 > kDescription)
    text += "\n" + std::string(kDescription, ' ');
  else
    text.resize(kDescription, ' ');
  append_wrapped(text, kDescription, kDescription, words_of(make_option_desc(option)));
  return text;
}

}  // namespace vellum::cli
