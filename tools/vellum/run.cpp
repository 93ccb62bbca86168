// vellum run: inputs as .npy files or pictures, outputs as .npy files, and the classes that a classifier
// names.
#include <CLI/CLI.hpp>
#include <cctype>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands.hpp"
#include "inputs.hpp"
#include "io/file_name.hpp"
#include "io/picture_series.hpp"
#include "io/terminal.hpp"
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
  std::optional<std::string> folder;
  PictureOptions picture;
};

// File systems allow 255 bytes. TFLite's converter joins names of operators to longer ones, several of which
// may begin alike: the number of the output tells them apart.
std::string file_name(const std::string& tensor, std::size_t position) {
  constexpr std::size_t kLongest = 200;
  std::string file = tensor;
  for (char& c : file) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-';
    if (!plain) c = '_';
  }
  if (file.size() > kLongest) file = file.substr(0, kLongest) + "-" + std::to_string(position);
  return file + ".npy";
}

// Before anything runs: two names that differ only in what a file name cannot hold would overwrite each
// other.
void check_file_names(const std::vector<TensorInfo>& outputs) {
  std::map<std::string, std::string> taken;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = outputs[i].name;
    const auto [other, is_new] = taken.emplace(file_name(name, i), name);
    if (!is_new)
      throw Error(ErrorCode::unsupported, "the outputs '" + other->second + "' and '" + name +
                                              "' would both be written to " + other->first);
  }
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure)
    throw Error(ErrorCode::io,
                "the folder " + io::FileName(folder).text() + " cannot be made: " + failure.message());
}

// A picture of several, for one input.
struct SeriesPicture {
  std::string input, file;
  io::Picture picture;
};

std::string class_line(const NamedClass& named) {
  char percent[16];
  std::snprintf(percent, sizeof percent, "%5.1f%%  ", 100 * named.score.probability);
  return "  " + std::string(percent) + named.label + "\n";
}

// The outputs of the last run, states among them.
std::map<std::string, Tensor> results_of(const Session& session) {
  std::map<std::string, Tensor> results;
  for (const TensorInfo& output : session.outputs())
    results.emplace(output.name, is_state(session, output.name) ? session.state(output.name)
                                                                : session.output(output.name));
  return results;
}

// What one inference gave.
struct Outcome {
  nlohmann::json document;
  std::string text;
  std::vector<std::string> warnings;
};

class Runner {
 public:
  explicit Runner(const RunArguments& arguments)
      : arguments_(arguments), model_(load_model(arguments.model, arguments.options)) {
    check_file_names(model_.outputs());
  }

  const Model& model() const { return model_; }

  // Runs with these NAME=FILE arguments, writes the outputs to `folder` unless it is empty, and returns their
  // names and the classes. `series`: a picture for one more input; those of one size share a session.
  Outcome run(std::vector<std::string> files, const std::string& folder,
              const SeriesPicture* series = nullptr) {
    SessionOptions options = session_options(arguments_.options, arguments_.model);
    PictureInputs pictures = read_pictures(model_, files, options.input_shapes, arguments_.picture);
    if (series)
      add_picture(pictures, series->input, series->file, series->picture, options.input_shapes,
                  arguments_.picture);
    read_inputs(model_, files, pictures.inputs);
    add_shapes_of(pictures.model, pictures.inputs, options);
    pictures.inputs.insert(options.input_values.begin(), options.input_values.end());
    set_initial_values(pictures.model, pictures.inputs);
    if (options.state.empty()) require_all(pictures.model, pictures.inputs);
    prepare(pictures.model, options, series);
    set_inputs(*session_, pictures.inputs);
    session_->run();
    const std::map<std::string, Tensor> results = results_of(*session_);
    device_->check_validation();
    Outcome outcome{{}, {}, std::move(pictures.warnings)};
    describe_outputs(results, folder, pictures.names_classes, outcome);
    if (pictures.names_classes) describe_classes(results.begin()->second, outcome);
    return outcome;
  }

 private:
  void prepare(const Model& model, const SessionOptions& options, const SeriesPicture* series) {
    std::string size;
    if (series)
      size = std::to_string(series->picture.width) + "x" + std::to_string(series->picture.height) +
             (series->picture.is_deep() ? "x16" : "");
    if (session_ && size == size_) return;
    if (!device_) {
      device_.emplace(arguments_.options);
      tune_if_requested(arguments_.tune, arguments_.options, device_->device(), model, options);
    }
    // The earlier session lives until then, and with it the weights that both use.
    session_ = std::make_unique<Session>(device_->device(), model, options);
    size_ = size;
  }

  void describe_outputs(const std::map<std::string, Tensor>& results, const std::string& folder_name,
                        bool names_classes, Outcome& outcome) const {
    const std::filesystem::path folder = io::FileName(folder_name).path();
    if (!folder_name.empty()) make_folder(folder);
    outcome.document["outputs"] = nlohmann::json::array();
    const std::vector<TensorInfo>& outputs = session_->outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const TensorInfo& output = outputs[i];
      const Tensor& tensor = results.at(output.name);
      nlohmann::json& entry = outcome.document["outputs"].emplace_back();
      entry = {{"name", output.name}, {"dtype", name(tensor.dtype())}, {"shape", tensor.shape()}};
      std::string shown = one_line(output.name);
      if (!folder_name.empty()) {
        shown = io::FileName(folder / file_name(output.name, i)).text();
        write_tensor(shown, tensor);
        entry["file"] = shown;
      }
      if (folder_name.empty() && names_classes) continue;  // the classes say it all
      outcome.text +=
          shown + "  " + std::string(name(tensor.dtype())) + " " + to_string(tensor.shape()) + "\n";
    }
  }

  void describe_classes(const Tensor& scores, Outcome& outcome) const {
    nlohmann::json& classes = outcome.document["classes"] = nlohmann::json::array();
    for (const NamedClass& named : best_classes(scores, arguments_.picture, outcome.warnings)) {
      const auto& [index, probability] = named.score;
      classes.push_back({{"index", index}, {"label", named.label}, {"probability", probability}});
      outcome.text += class_line(named);
    }
  }

  const RunArguments& arguments_;
  const Model model_;
  std::optional<OpenedDevice> device_;
  std::unique_ptr<Session> session_;
  std::string size_;  // of the picture that the session reads
};

void run_once(Runner& runner, const RunArguments& arguments) {
  Outcome outcome = runner.run(arguments.inputs, arguments.folder.value_or("."));
  if (!arguments.options.json) {
    print(outcome.text);
    return print_warnings(outcome.warnings);
  }
  if (!outcome.warnings.empty()) outcome.document["warnings"] = outcome.warnings;
  print_json(outcome.document);
}

// One line of JSON, or some of text, for each picture. A picture that cannot be read does not end the run.
void run_series(Runner& runner, const RunArguments& arguments, const std::vector<std::string>& others,
                const InputFile& series_input) {
  io::PictureSeries series(series_input.file);
  std::optional<ProgressLine> progress;
  if (!io::stdout_is_terminal()) progress.emplace();  // the lines themselves show it otherwise
  std::size_t done = 0, failed = 0;
  while (const std::optional<io::PictureSeries::Item> item = series.next()) {
    const std::string place =
        std::to_string(++done) + (series.count() > 0 ? "/" + std::to_string(series.count()) : "");
    if (progress) progress->show("run " + place + " " + item->file);
    nlohmann::json line{{"input", item->file}};
    if (item->frame > 0) line["frame"] = item->frame;
    const std::string title = item->frame > 0 ? "frame " + std::to_string(item->frame) : item->file;
    io::Picture picture;
    try {
      picture = series.load();
    } catch (const Error& error) {
      ++failed;
      line["error"] = {{"code", to_string(error.code())}, {"message", one_line(error.what())}};
      arguments.options.json ? print_json_line(line) : print_warnings({error.what()});
      continue;
    }
    const std::string folder = arguments.folder ? *arguments.folder + "/" + item->label : "";
    const SeriesPicture given{series_input.name, title, std::move(picture)};
    const Outcome outcome = runner.run(others, folder, &given);
    if (!outcome.warnings.empty()) line["warnings"] = outcome.warnings;
    line.update(outcome.document);
    if (arguments.options.json) {
      print_json_line(line);
    } else {
      print(place + "  " + one_line(title) + "\n" + outcome.text);
      print_warnings(outcome.warnings);
    }
  }
  if (failed > 0)
    throw Error(ErrorCode::invalid_argument,
                std::to_string(failed) + " of " + std::to_string(done) + " pictures cannot be read");
}

void run(const RunArguments& arguments) {
  Runner runner(arguments);
  std::vector<std::string> others;
  std::optional<InputFile> series;
  for (const std::string& argument : arguments.inputs) {
    const InputFile input = split_input(runner.model(), argument);
    if (!io::is_picture_series(input.file)) {
      others.push_back(argument);
    } else if (series) {
      throw Error(ErrorCode::invalid_argument, "the inputs '" + series->name + "' and '" + input.name +
                                                   "' both have several pictures; one may");
    } else {
      series = input;
    }
  }
  if (series)
    run_series(runner, arguments, others, *series);
  else
    run_once(runner, arguments);
}

}  // namespace

Command add_run(CLI::App& app) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand(
      "run", "Run one inference, or one for each of several pictures, and write every output as a .npy file");
  add_model(*command, arguments->model)->required();
  command
      ->add_option("-i,--input", arguments->inputs,
                   "NAME=FILE: an input of the model, .npy, PNG, JPEG or BMP; FILE alone for its only input; "
                   "repeatable. One may be several "
                   "pictures: a folder, a pattern such as 'photos/*.jpg', or a video (needs ffmpeg)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option(
      "-o,--output", arguments->folder,
      "folder for the outputs, made if it is missing (default: this one; nothing is written of "
      "several pictures)");
  add_picture_options(*command, arguments->picture);
  add_tune_options(*command, arguments->tune);
  add_options(*command, arguments->options,
              "how tensors are assigned to memory: a strategy of docs/planner.md");
  command->footer(
      "Each file is named after its output; characters other than letters, digits, '.', '_' and '-' become "
      "'_',\nand a longer name than 200 of them is cut and gets the number of its output, from 0.\n"
      "A picture is resized, normalised and put in the input's order of dimensions on the device. Of a "
      "classifier the\n"
      "most likely classes are printed. For several pictures --json prints one line each, and -o has a "
      "folder for each.\n"
      "Examples:\n  vellum run model.onnx -i image=values.npy -o results\n"
      "  vellum run classifier.onnx -i image=photo.jpg --labels imagenet.txt\n"
      "  vellum run classifier.onnx -i image=photos --labels imagenet.txt --json");
  return {command, [arguments] { run(*arguments); }};
}

}  // namespace vellum::cli
