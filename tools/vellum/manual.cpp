#include "manual.hpp"

#include <fmt/format.h>

#include <vector>

#include "help.hpp"

namespace vellum::cli {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// Without the hidden ones and those of help itself. `group`: empty: a command's own.
std::vector<const CLI::Option*> options_of(const CLI::App& command, const std::string& group = {}) {
  std::vector<const CLI::Option*> found;
  for (const CLI::Option* option : command.get_options()) {
    const std::string& its = option->get_group();
    const bool is_common = its == kCommonOptions || its == kExpertOptions;
    const bool is_help = option == command.get_help_ptr() || option == command.get_help_all_ptr();
    if (its.empty() || option->get_lnames().empty() || is_help) continue;
    if (group.empty() ? !is_common : its == group) found.push_back(option);
  }
  return found;
}

// The words that an option takes; empty: any.
std::vector<std::string> values_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find(":{"), end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 2, end - begin - 2), ',');
}

// Escapes what roff reads as a command, and keeps it from making hyphens of minus signs.
std::string roff(const std::string& text) {
  std::string escaped;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else
      escaped += c;
    line_begins = c == '\n';
  }
  return escaped;
}

std::string names_of(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames()) names += (names.empty() ? "\\-" : ", \\-") + roff(name);
  for (const std::string& name : option.get_lnames())
    names += (names.empty() ? "\\-\\-" : ", \\-\\-") + roff(name);
  return names;
}

std::string roff_options(const std::vector<const CLI::Option*>& options) {
  std::string text;
  for (const CLI::Option* option : options) {
    const std::vector<std::string> values = values_of(*option);
    const std::string value = option->get_expected_max() == 0 ? ""
                              : values.empty()                ? " \\fIVALUE\\fR"
                                               : " " + roff(fmt::format("{}", fmt::join(values, "|")));
    text += ".TP\n\\fB" + names_of(*option) + "\\fR" + value + "\n" + roff(option->get_description());
    if (!option->get_default_str().empty()) text += " (default: " + roff(option->get_default_str()) + ")";
    text += '\n';
  }
  return text;
}

std::string roff_command(const CLI::App& app, const CLI::App& command) {
  std::string text = ".SS vellum " + roff(command.get_name());
  for (const CLI::Option* option : command.get_options())
    if (!option->nonpositional()) text += " " + roff(option->get_name());
  text += "\n" + roff(command.get_description()) + ".\n" + roff_options(options_of(command));
  if (!command.get_footer().empty() && command.get_footer() != app.get_footer())
    text += ".PP\n.nf\n" + roff(command.get_footer()) + "\n.fi\n";
  return text;
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("\\'") : std::string(1, c);
  return result + "'";
}

std::string long_options(const CLI::App& command) {
  std::string words;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) words += " --" + name;
  return words;
}

}  // namespace

std::string manual_page(const CLI::App& app, const std::string& version) {
  const std::vector<const CLI::App*> commands = commands_of(app);
  std::string text = ".TH VELLUM 1 \"\" \"vellum " + version +
                     "\" \"User Commands\"\n.ad l\n.SH NAME\nvellum \\- " +
                     "run vision models on Vulkan devices and show their memory and time\n" +
                     ".SH SYNOPSIS\n.B vellum\n.I COMMAND\n[\\fIOPTION\\fR]...\n.SH DESCRIPTION\n" +
                     roff(app.get_description()) + "\n.SH COMMANDS\n";
  for (const CLI::App* command : commands) text += roff_command(app, *command);
  for (const char* group : {kCommonOptions, kExpertOptions}) {
    text += fmt::format(".SH \"{}\"\nEvery command has these.\n", group);
    text += roff_options(options_of(*commands.front(), group));
  }
  return text +
         ".SH \"EXIT STATUS\"\n0: done. 1: the work failed. 2: wrong usage.\n"
         ".SH \"SEE ALSO\"\n.BR vellum\\-plan (1)\n";
}

std::string bash_completion(const CLI::App& app) {
  std::string names, cases;
  for (const CLI::App* command : commands_of(app)) {
    names += " " + command->get_name();
    cases += fmt::format("    {}) words='{}' ;;\n", command->get_name(), long_options(*command));
  }
  std::string values;
  for (const CLI::App* command : commands_of(app))
    for (const CLI::Option* option : command->get_options())
      if (const std::vector<std::string> words = values_of(*option); !words.empty())
        values += fmt::format("    {}:--{}) words='{}' ;;\n", command->get_name(),
                              option->get_lnames().front(), fmt::join(words, " "));
  return "# Completion of vellum for bash, printed by `vellum --completion bash`.\n"
         "_vellum() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} "
         "words=\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    COMPREPLY=($(compgen -W '" +
         names +
         " --help --help-all --version' -- \"$word\"))\n    return\n  fi\n"
         "  case $command:$before in\n" +
         values +
         "  esac\n"
         "  if [[ -z $words && $word == -* ]]; then\n  case $command in\n" +
         cases +
         "  esac\n  fi\n"
         "  if [[ -n $words ]]; then\n    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "  else\n    COMPREPLY=($(compgen -f -- \"$word\"))\n  fi\n}\n"
         "complete -o filenames -F _vellum vellum\n";
}

std::string fish_completion(const CLI::App& app) {
  std::string text = "# Completion of vellum for fish, printed by `vellum --completion fish`.\n";
  for (const CLI::App* command : commands_of(app)) {
    text += "complete -c vellum -n __fish_use_subcommand -a " + command->get_name() + " -d " +
            quoted(command->get_description()) + "\n";
    for (const CLI::Option* option : command->get_options()) {
      const std::vector<std::string> words = values_of(*option);
      for (const std::string& name : option->get_lnames()) {
        text += "complete -c vellum -n '__fish_seen_subcommand_from " + command->get_name() + "' -l " + name;
        if (option->get_expected_max() > 0)
          text += words.empty() ? " -r" : fmt::format(" -x -a '{}'", fmt::join(words, " "));
        text += " -d " + quoted(option->get_description()) + "\n";
      }
    }
  }
  return text;
}

}  // namespace vellum::cli
