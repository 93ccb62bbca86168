// vellum pack: a model with all that a device needs, in one file.
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

void pack(const Arguments& arguments) {
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
  print(fmt::format("{}: {} bytes; {} shaders, {} packed weights of {} bytes\n", arguments.file,
                    grouped(made.file_bytes), made.shaders, made.weights, grouped(made.weights_bytes)));
}

}  // namespace

Command add_pack(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("pack", "One file that loads without compiling shaders or packing weights");
  add_model(*command, arguments->model)->required();
  command->add_option("-o,--output", arguments->file, "the file; one that is there is replaced")->required();
  command->add_option(
      "--caps", arguments->caps,
      "android_baseline_2022, or a file of `vellum devices --save-caps`: the device to pack for, "
      "instead of --device");
  add_options(*command, arguments->options, "of sharing memory, see docs/planner.md");
  command->footer(
      "The file takes the place of MODEL in every command and in the library, on any device and with any "
      "options;\n"
      "what it lacks for these is made when a session begins.\n"
      "Example:\n  vellum pack model.onnx -o model.vellum --precision fp16 && vellum bench model.vellum "
      "--precision fp16");
  return {command, [arguments] { pack(*arguments); }};
}

}  // namespace vellum::cli
