// vellum bundle: a model with its compiled shaders and prepacked weights, in one file.
#include "vellum/pack.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "options.hpp"
#include "output.hpp"

namespace vellum::cli {
namespace {

struct Arguments {
  Options options;
  std::string model, file, caps;
};

void bundle(const Arguments& arguments) {
  const Caps caps =
      arguments.caps.empty() ? Caps::of(OpenedDevice(arguments.options).device()) : read_caps(arguments.caps);
  const PackSummary made =
      vellum::pack(arguments.model, arguments.file, caps, session_options(arguments.options));
  if (arguments.options.json)
    return print_json(nlohmann::json{{"file", arguments.file},
                                     {"file_bytes", made.file_bytes},
                                     {"shaders", made.shaders},
                                     {"weights", made.weights},
                                     {"weights_bytes", made.weights_bytes}});
  print(fmt::format("{}: {} bytes; {} shaders, {} prepacked weights of {} bytes\n", arguments.file,
                    grouped(made.file_bytes), made.shaders, made.weights, grouped(made.weights_bytes)));
}

}  // namespace

Command add_bundle(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("bundle", "Write a model with its compiled shaders and prepacked weights to one file");
  command->alias("pack");
  add_model(*command, arguments->model)->required();
  command->add_option("-o,--output", arguments->file, "the file to write; an existing one is replaced")->required();
  command->add_option(
      "--caps", arguments->caps,
      "android_baseline_2022, or a file of `vellum devices --save-caps`: the device of the bundle, "
      "instead of --device");
  add_options(*command, arguments->options, "of sharing memory, see docs/planner.md");
  command->footer(
      "Every command and the library take the file in place of MODEL, on any device and with any options;\n"
      "shaders and weights that it lacks for these are made when a session is created.\n"
      "Example:\n  vellum bundle model.onnx -o model.vellum --precision fp16 && vellum bench model.vellum "
      "--precision fp16");
  return {command, [arguments] { bundle(*arguments); }};
}

}  // namespace vellum::cli
