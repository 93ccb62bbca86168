// vellum run: inputs as .npy files or pictures, outputs as .npy files, and the classes that a classifier
// names.
#include <CLI/CLI.hpp>
#include <cctype>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "inputs.hpp"
#include "io/file_name.hpp"
#include "options.hpp"
#include "output.hpp"
#include "picture.hpp"
#include "tuning.hpp"

namespace vellum::cli {
namespace {

struct RunArguments {
  Options options;
  TuneArguments tune;
  std::string model;
  std::vector<std::string> inputs;
  std::string folder = ".";
  PictureOptions picture;
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

std::string class_line(const NamedClass& named) {
  char percent[16];
  std::snprintf(percent, sizeof percent, "%5.1f%%  ", 100 * named.score.probability);
  return "  " + std::string(percent) + named.label + "\n";
}

void run(const RunArguments& arguments) {
  const Model loaded = load_model(arguments.model, arguments.options);
  check_file_names(loaded.outputs());
  SessionOptions options = session_options(arguments.options, arguments.model);
  std::vector<std::string> files = arguments.inputs;
  PictureInputs pictures = read_pictures(loaded, files, options.input_shapes, arguments.picture);
  const Model& model = pictures.model;
  Inputs& inputs = pictures.inputs;
  read_inputs(loaded, files, inputs);
  take_shapes_of(model, inputs, options);
  inputs.insert(options.input_values.begin(), options.input_values.end());
  begin_variables(model, inputs);
  require_all(model, inputs);

  const OpenedDevice device(arguments.options);
  tune_if_asked(arguments.tune, arguments.options, device.device(), model, options);
  Session session(device.device(), model, options);
  const std::map<std::string, Tensor> results = session.run(inputs);
  device.check_validation();

  std::error_code failure;
  const std::filesystem::path folder = io::FileName(arguments.folder).path();
  std::filesystem::create_directories(folder, failure);
  if (failure)
    throw Error(ErrorCode::io, "the folder " + arguments.folder + " cannot be made: " + failure.message());
  nlohmann::json list = nlohmann::json::array();
  std::string text;
  for (const TensorInfo& output : session.outputs()) {
    const Tensor& tensor = results.at(output.name);
    const std::string file = io::FileName(folder / file_name(output.name)).text();
    write_tensor(file, tensor);
    list.push_back(
        {{"name", output.name}, {"dtype", name(tensor.dtype())}, {"shape", tensor.shape()}, {"file", file}});
    text += file + "  " + std::string(name(tensor.dtype())) + " " + to_string(tensor.shape()) + "\n";
  }
  nlohmann::json document{{"outputs", list}};
  if (!pictures.warnings.empty()) document["warnings"] = pictures.warnings;
  if (pictures.names_classes) {
    document["classes"] = nlohmann::json::array();
    for (const NamedClass& named : best_classes(results.begin()->second, arguments.picture)) {
      const auto& [index, probability] = named.score;
      document["classes"].push_back({{"index", index}, {"label", named.label}, {"probability", probability}});
      text += class_line(named);
    }
  }
  if (arguments.options.json)
    print_json(document);
  else
    print(text);
  if (!arguments.options.json) print_warnings(pictures.warnings);
}

}  // namespace

Command add_run(CLI::App& app) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "Run one inference and write every output as a .npy file");
  add_model(*command, arguments->model)->required();
  command
      ->add_option("-i,--input", arguments->inputs,
                   "NAME=FILE: an input of the model, .npy, PNG, JPEG or BMP; repeatable")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("-o,--output", arguments->folder, "folder for the outputs, made if it is missing")
      ->capture_default_str();
  add_picture_options(*command, arguments->picture);
  add_tune_options(*command, arguments->tune);
  add_options(*command, arguments->options,
              "how tensors are assigned to memory: a strategy of docs/planner.md");
  command->footer(
      "Each file is named after its output; characters other than letters, digits, '.', '_' and '-' become "
      "'_'.\n"
      "A picture is resized, normalised and put in the input's order of dimensions on the device. Of a "
      "classifier the\n"
      "most likely classes are printed.\n"
      "Examples:\n  vellum run model.onnx -i image=values.npy -o results\n"
      "  vellum run classifier.onnx -i image=photo.jpg --labels imagenet.txt");
  return {command, [arguments] { run(*arguments); }};
}

}  // namespace vellum::cli
