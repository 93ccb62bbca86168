// vellum: what Vellum can do, from the command line. Exit status: 0 done, 1 the work failed, 2 usage.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "commands.hpp"
#include "help.hpp"
#include "io/terminal.hpp"
#include "output.hpp"

namespace {

using namespace vellum::cli;

int run(const std::vector<Command>& commands) {
  try {
    for (const Command& command : commands)
      if (command.parser->parsed()) command.run();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "vellum: " << one_line(error.what()) << '\n';
    return 1;
  }
}

bool known(const std::vector<Command>& commands, const std::string& name) {
  return std::any_of(commands.begin(), commands.end(),
                     [&](const Command& command) { return command.parser->check_name(name); });
}

}  // namespace

int main(int argc, char** argv) {
  vellum::io::prepare_output();
  CLI::App app("Runs vision models on Vulkan devices and shows the memory and time that they need.",
               "vellum");
  app.set_version_flag("--version", VELLUM_VERSION_TEXT);
  app.allow_windows_style_options(false);  // a file may be /folder/name there, too
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_all_flag("--help-all",
                        "Print this help message and every command's, all options described, and exit");
  app.footer("`vellum COMMAND --help` describes a command. Exit status: 0 done, 1 the work failed, 2 usage.");
  const std::vector<Command> commands{add_devices(app),  add_inspect(app), add_plan(app),  add_pool(app),
                                      add_estimate(app), add_run(app),     add_tiles(app), add_bench(app),
                                      add_profile(app),  add_bundle(app),  add_tune(app),  add_doctor(app)};
  if (argc > 1 && argv[1][0] != '-' && !known(commands, argv[1])) {
    std::cerr << "vellum: there is no command '" << one_line(argv[1]) << "' (see vellum --help)\n";
    return 2;
  }
  if (argc <= 1) {
    print(app.help());
    return 0;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);  // --help, --help-all, --version
  } catch (const CLI::ParseError& error) {
    std::cerr << "vellum: " << one_line(error.what()) << " (see vellum --help)\n";
    return 2;
  }
  return run(commands);
}
