// vellum quantize: an ONNX file with integers, made of a model of floats and pictures.
#include "vellum/quantize.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands.hpp"
#include "inputs.hpp"
#include "io/files.hpp"
#include "io/picture_format.hpp"
#include "options.hpp"
#include "output.hpp"
#include "picture.hpp"

namespace vellum::cli {
namespace {

struct QuantizeArguments {
  Options options;
  PictureOptions picture;
  std::string model, folder, output, svg, ranges = "mse", activations = "uint8";
  size_t examples = 100;
  bool keep_biases = false;
  QuantizeOptions quantize;
};

// Examples: the pictures and .npy files of a folder, in the order of their names.
class ExampleFiles {
 public:
  ExampleFiles(const Model& model, const QuantizeArguments& arguments)
      : model_(model), arguments_(arguments), shapes_(input_shapes(arguments.options)) {
    if (arguments.folder.empty()) return;
    find_input();
    find_files();
  }

  size_t count() const { return files_.size(); }

  InputTensors read(size_t index) const {
    const std::string& file = files_[index];
    InputTensors inputs;
    inputs.emplace(input_->name, is_picture(file)
                                     ? picture_values(model_, input_->name, file, shapes_, arguments_.picture)
                                     : read_tensor(file));
    set_initial_values(model_, inputs);
    return inputs;
  }

 private:
  static bool is_picture(const std::string& file) { return !io::picture_format(io::FileName(file)).empty(); }

  void find_input() {
    for (const TensorInfo& input : model_.inputs()) {
      if (input.initial_value) continue;
      if (input_)
        throw Error(ErrorCode::unsupported, "the model has several inputs; examples are read for one");
      input_ = input;
    }
    if (!input_) throw Error(ErrorCode::unsupported, "the model has no input");
  }

  void find_files() {
    namespace fs = std::filesystem;
    std::error_code failure;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(io::FileName(arguments_.folder).path(), failure)) {
      const std::string file = io::FileName(entry.path()).text();
      if (entry.is_regular_file() && (entry.path().extension() == ".npy" || is_picture(file)))
        files_.push_back(file);
    }
    if (failure)
      throw Error(ErrorCode::not_found, "the folder " + arguments_.folder + ": " + failure.message());
    std::ranges::sort(files_);
    if (files_.empty())
      throw Error(ErrorCode::not_found,
                  "the folder " + arguments_.folder + " has no picture and no .npy file");
    files_.resize(std::min(files_.size(), arguments_.examples));
  }

  const Model& model_;
  const QuantizeArguments& arguments_;
  InputShapes shapes_;
  std::optional<TensorInfo> input_;
  std::vector<std::string> files_;
};

QuantizeOptions quantize_options(const QuantizeArguments& arguments) {
  static const std::map<std::string, QuantizeRanges> kRanges{{"minmax", QuantizeRanges::minmax},
                                                             {"percentile", QuantizeRanges::percentile},
                                                             {"entropy", QuantizeRanges::entropy},
                                                             {"mse", QuantizeRanges::mse}};
  QuantizeOptions options = arguments.quantize;
  options.ranges = kRanges.at(arguments.ranges);
  options.signed_activations = arguments.activations == "int8";
  options.correct_biases = !arguments.keep_biases;
  options.input_shapes = input_shapes(arguments.options);
  return options;
}

std::string decibels(double ratio) {
  if (!std::isfinite(ratio)) return "exact";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f dB", ratio);
  return text;
}

nlohmann::json ratio_json(double ratio) {
  return std::isfinite(ratio) ? nlohmann::json(ratio) : nlohmann::json(nullptr);
}

std::string table(const QuantizedModel& model) {
  Table table;
  table.column("layer");
  table.column("operator");
  table.column("range");
  table.column("own", Table::Align::right);
  table.column("network", Table::Align::right);
  constexpr size_t kLongest = 48;
  for (const QuantizedLayer& layer : model.layers) {
    char range[48];
    std::snprintf(range, sizeof range, "%.4g ... %.4g", static_cast<double>(layer.low),
                  static_cast<double>(layer.high));
    table.row({ending(one_line(layer.name), kLongest), layer.op, layer.in_integers ? range : "floats",
               decibels(layer.own_ratio), decibels(layer.network_ratio)});
  }
  std::string text = table.text();
  for (const QuantizedOutput& output : model.outputs)
    text += "output " + one_line(output.name) + ": " + decibels(output.ratio) + "\n";
  return text;
}

nlohmann::json to_json(const QuantizedModel& model, const std::string& file) {
  nlohmann::json document{{"file", file},
                          {"bytes", model.onnx.size()},
                          {"layers", nlohmann::json::array()},
                          {"outputs", nlohmann::json::array()}};
  for (const QuantizedLayer& layer : model.layers)
    document["layers"].push_back({{"name", layer.name},
                                  {"op", layer.op},
                                  {"integers", layer.in_integers},
                                  {"low", layer.low},
                                  {"high", layer.high},
                                  {"own_db", ratio_json(layer.own_ratio)},
                                  {"network_db", ratio_json(layer.network_ratio)}});
  for (const QuantizedOutput& output : model.outputs)
    document["outputs"].push_back(
        {{"name", output.name}, {"db", ratio_json(output.ratio)}, {"error", output.error}});
  return document;
}

QuantizedModel quantized(const QuantizeArguments& arguments, const Model& model, const Device& device) {
  const ExampleFiles files(model, arguments);
  QuantizeOptions options = quantize_options(arguments);
  if (options.weight_only_bits == 0 && arguments.folder.empty())
    throw Error(ErrorCode::invalid_argument, "--calibrate names the folder of example pictures");
  ProgressLine line;
  options.progress = [&](std::string_view stage, size_t done, size_t total) {
    line.show("quantize: " + std::string(stage) + " " + std::to_string(done) + "/" + std::to_string(total));
  };
  return quantize(
      device, model, files.count(), [&](size_t i) { return files.read(i); }, options);
}

void run_quantize(const QuantizeArguments& arguments) {
  const Model model = load_model(arguments.model, arguments.options);
  const OpenedDevice device(arguments.options);
  const QuantizedModel result = quantized(arguments, model, device.device());
  device.check_validation();
  io::write_text(arguments.output, result.onnx);
  if (!arguments.svg.empty()) io::write_text(arguments.svg, quantized_model_svg(arguments.model, result));
  if (arguments.options.json) return print_json(to_json(result, arguments.output));
  const bool measured = !result.outputs.empty();
  print((measured ? table(result) : "") + arguments.output + ": " + grouped(result.onnx.size()) + " bytes, " +
        std::to_string(std::ranges::count(result.layers, true, &QuantizedLayer::in_integers)) + " of " +
        std::to_string(result.layers.size()) + " layers in integers\n");
}

}  // namespace

Command add_quantize(CLI::App& app) {
  auto arguments = std::make_shared<QuantizeArguments>();
  CLI::App* command = app.add_subcommand("quantize", "Write an ONNX file of a model with 8-bit integers");
  add_model(*command, arguments->model)->required();
  command->add_option("--calibrate", arguments->folder,
                      "folder of pictures, or of .npy files of the input, that the model is run on");
  command->add_option("-o,--output", arguments->output, "the file to write; an existing one is replaced")
      ->required();
  command->add_option("--examples", arguments->examples, "how many files of the folder to use")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--ranges", arguments->ranges, "how ranges of tensors follow from their values")
      ->check(CLI::IsMember({"minmax", "percentile", "entropy", "mse"}))
      ->capture_default_str();
  command
      ->add_option("--percentile", arguments->quantize.percentile, "percent of the values within the range")
      ->capture_default_str();
  command->add_option("--activations", arguments->activations, "type of the integers of tensors")
      ->check(CLI::IsMember({"uint8", "int8"}))
      ->capture_default_str();
  command->add_flag("--equalize", arguments->quantize.equalize,
                    "first scale channels of layers that follow each other to equal ranges");
  command->add_flag("--keep-biases", arguments->keep_biases, "do not correct biases by the mean error");
  command->add_option(
      "--max-drop", arguments->quantize.max_drop,
      "largest error of an output as a fraction of its root mean square; the worst layers stay "
      "in floats until it is met");
  command
      ->add_option("--weight-only", arguments->quantize.weight_only_bits,
                   "only weights become integers, of 8 or 4 bits")
      ->check(CLI::IsMember({8, 4}));
  command->add_option("--svg", arguments->svg, "draw the errors of all layers to this file");
  add_picture_options(*command, arguments->picture);
  add_options(*command, arguments->options,
              "how tensors are assigned to memory: a strategy of docs/planner.md");
  command->footer(
      "The table has the signal to noise ratio of each layer's output: with its own integers alone, and in "
      "the "
      "network.\n"
      "Examples:\n  vellum quantize model.onnx --calibrate photos -o model_int8.onnx --svg layers.svg\n"
      "  vellum quantize model.tflite --weight-only 4 -o model_int4.onnx");
  return {command, [arguments] { run_quantize(*arguments); }};
}

}  // namespace vellum::cli
