// The commands of the tool, each in the file of its name.
#pragma once

#include <functional>
#include <vector>

namespace CLI {
class App;
}

namespace vellum::cli {

// The parser of a command's arguments, and the function that does its work.
struct Command {
  CLI::App* parser;
  std::function<void()> run;  // after parsing; may throw Error
};

Command add_devices(CLI::App& app);
Command add_inspect(CLI::App& app);
Command add_plan(CLI::App& app);
Command add_pool(CLI::App& app);
Command add_estimate(CLI::App& app);
Command add_run(CLI::App& app);
Command add_tiles(CLI::App& app);
Command add_bench(CLI::App& app);
Command add_profile(CLI::App& app);
Command add_bundle(CLI::App& app);
Command add_tune(CLI::App& app);
Command add_doctor(CLI::App& app);
Command add_quantize(CLI::App& app);

}  // namespace vellum::cli
