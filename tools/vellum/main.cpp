// vellum: what Vellum can do, from the command line. Exit status: 0 done, 1 the work failed, 2 usage.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "commands.hpp"
#include "help.hpp"
#include "interrupts.hpp"
#include "io/terminal.hpp"
#include "manual.hpp"
#include "output.hpp"
#include "usage/wrong_usage.hpp"

namespace {

using namespace vellum::cli;

// The line on stderr; with --json also a document, for programs that read stdout alone.
int fail(int status, std::string_view code, const std::string& message, bool json) {
  std::cerr << "vellum: " + one_line(message) + "\n";
  if (json) print_json_line({{"error", {{"code", code}, {"message", one_line(message)}}}});
  return status;
}

int run(const std::vector<Command>& commands, bool json) {
  try {
    for (const Command& command : commands)
      if (command.parser->parsed()) command.run();
    return 0;
  } catch (const vellum::Error& error) {
    return fail(1, vellum::to_string(error.code()), error.what(), json);
  } catch (const std::exception& error) {
    return fail(1, "failed", error.what(), json);
  }
}

bool known(const std::vector<Command>& commands, const std::string& name) {
  return std::any_of(commands.begin(), commands.end(),
                     [&](const Command& command) { return command.parser->check_name(name); });
}

}  // namespace

int main(int argc, char** argv) {
  vellum::io::prepare_output();
  discard_attempts_on_interrupts();
  CLI::App app("Runs vision models on Vulkan devices and shows the memory and time that they need.",
               "vellum");
  app.set_version_flag("--version", VELLUM_VERSION_TEXT);
  app.allow_windows_style_options(false);  // a file may be /folder/name there, too
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_all_flag("--help-all",
                        "Print this help message and every command's, all options described, and exit");
  // They print and end as --version does.
  app.add_flag_callback(
      "--manual",
      [&app] {
        print(manual_page(app, VELLUM_VERSION_TEXT));
        throw CLI::Success();
      },
      "Print the manual page for man, and exit");
  app.add_option_function<std::string>(
         "--completion",
         [&app](const std::string& shell) {
           print(shell == "bash" ? bash_completion(app) : fish_completion(app));
           throw CLI::Success();
         },
         "Print a script that completes commands and options in this shell, and exit")
      ->check(CLI::IsMember({"bash", "fish"}));
  app.footer("`vellum COMMAND --help` describes a command. Exit status: 0 done, 1 the work failed, 2 usage.");
  const std::vector<Command> commands{add_devices(app),  add_inspect(app), add_plan(app),  add_pool(app),
                                      add_estimate(app), add_run(app),     add_tiles(app), add_bench(app),
                                      add_profile(app),  add_bundle(app),  add_tune(app),  add_doctor(app),
                                      add_quantize(app)};
  const bool json =
      std::any_of(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--json"; });
  if (argc > 1 && argv[1][0] != '-' && !known(commands, argv[1]))
    return fail(2, "wrong usage", explain_command(app, argv[1]), json);
  if (argc <= 1) {
    std::cerr << app.help();
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);  // --help, --help-all, --version
  } catch (const CLI::ParseError& error) {
    return fail(2, "wrong usage", explain(app, error), json);
  }
  return run(commands, json);
}
