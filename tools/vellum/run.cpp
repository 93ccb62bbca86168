// vellum run: inputs and outputs as .npy files.
#include <CLI/CLI.hpp>
#include <cctype>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "inputs.hpp"
#include "options.hpp"
#include "output.hpp"
#include "tuning.hpp"

namespace vellum::cli {
namespace {

struct Arguments {
  Options options;
  TuneArguments tune;
  std::string model;
  std::vector<std::string> inputs;
  std::string folder = ".";
};

std::string file_name(const std::string& tensor) {
  std::string file = tensor;
  for (char& c : file) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-';
    if (!plain) c = '_';
  }
  return file + ".npy";
}

// Before anything runs: two names that differ only in what a file name cannot hold would overwrite each
// other.
void check_file_names(const std::vector<TensorInfo>& outputs) {
  std::map<std::string, std::string> taken;
  for (const TensorInfo& output : outputs) {
    const auto [other, is_new] = taken.emplace(file_name(output.name), output.name);
    if (!is_new)
      throw Error(ErrorCode::unsupported, "the outputs '" + other->second + "' and '" + output.name +
                                              "' would both be written to " + other->first);
  }
}

void run(const Arguments& arguments) {
  const Model model = load_model(arguments.model, arguments.options);
  check_file_names(model.outputs());
  const Inputs inputs = read_inputs(model, arguments.inputs);
  require_all(model, inputs);
  SessionOptions options = session_options(arguments.options);
  options.input_shapes = with_shapes_of(model, inputs, std::move(options.input_shapes));

  const OpenedDevice device(arguments.options);
  tune_if_asked(arguments.tune, arguments.options, device.device(), model, options);
  Session session(device.device(), model, options);
  const std::map<std::string, Tensor> results = session.run(inputs);
  device.check_validation();

  std::error_code failure;
  std::filesystem::create_directories(arguments.folder, failure);
  if (failure)
    throw Error(ErrorCode::io, "the folder " + arguments.folder + " cannot be made: " + failure.message());
  nlohmann::json list = nlohmann::json::array();
  std::string text;
  for (const TensorInfo& output : session.outputs()) {
    const Tensor& tensor = results.at(output.name);
    const std::string file = (std::filesystem::path(arguments.folder) / file_name(output.name)).string();
    write_tensor(file, tensor);
    list.push_back(
        {{"name", output.name}, {"dtype", name(tensor.dtype())}, {"shape", tensor.shape()}, {"file", file}});
    text += file + "  " + std::string(name(tensor.dtype())) + " " + to_string(tensor.shape()) + "\n";
  }
  if (arguments.options.json)
    print_json(nlohmann::json{{"outputs", list}});
  else
    print(text);
}

}  // namespace

Command add_run(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("run", "Run one inference and write every output as a .npy file");
  add_model(*command, arguments->model)->required();
  command->add_option("-i,--input", arguments->inputs, "NAME=FILE.npy: an input of the model; repeatable")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("-o,--output", arguments->folder, "folder for the outputs, made if it is missing")
      ->capture_default_str();
  add_tune_options(*command, arguments->tune);
  add_options(*command, arguments->options, "how tensors are assigned to memory: a strategy of docs/planner.md");
  command->footer(
      "Each file is named after its output; characters other than letters, digits, '.', '_' and '-' become '_'.\n"
      "Example:\n  vellum run model.onnx -i image=photo.npy -o results");
  return {command, [arguments] { run(*arguments); }};
}

}  // namespace vellum::cli
