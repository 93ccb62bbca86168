// vellum tune: measures on the device how a model's operators are best computed.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "option_flags.hpp"
#include "output.hpp"
#include "tuning.hpp"
#include "usage/wrong_usage.hpp"

namespace vellum::cli {
namespace {

struct TuneCommandArguments {
  Options options;
  std::string model;
  TuneOptions tuning;
  bool forget = false, all = false;
};

double ratio(double before, double after) { return after > 0 ? before / after : 1.0; }

std::string title(const TunedOperator& op) { return op.op + " " + to_string(op.output); }

std::string progress_line(const TuneProgress& progress) {
  std::string line = fmt::format("tune: {} {}/{}", progress.step, progress.done, progress.total);
  if (const TunedOperator* op = progress.last)
    line += fmt::format(" {}: {}, {:.2f}x", title(*op), op->tuned, ratio(op->untuned_us, op->tuned_us));
  return line;
}

std::string measured_us(double value) { return value > 0 ? fmt::format("{:.1f}", value) : "-"; }

std::string table_of(const TuneReport& report, bool all) {
  using Align = Table::Align;
  Table table;
  table.column("operators");
  table.column("number", Align::right);
  table.column("cost model");
  table.column("µs", Align::right);
  table.column("tuned");
  table.column("µs", Align::right);
  table.column("gain", Align::right);
  size_t alike = 0;
  for (const TunedOperator& op : report.operators) {
    if (!all && op.tuned == op.untuned) {
      ++alike;
      continue;
    }
    table.row({title(op), std::to_string(op.count), op.untuned, measured_us(op.untuned_us), op.tuned,
               measured_us(op.tuned_us), fmt::format("{:.2f}x", ratio(op.untuned_us, op.tuned_us))});
  }
  std::string text = alike == report.operators.size() ? "" : table.text();
  if (alike > 0)
    text += fmt::format("{} of {} kinds of operators keep the kernel of the cost model (--all shows them)\n",
                        alike, report.operators.size());
  return text;
}

std::string summary(const TuneReport& report) {
  std::string text = fmt::format(
      "inference {:.2f} ms by the cost model, {:.2f} ms tuned ({:.2f}x); weights {} bytes, before {}; "
      "tensors in {}; tuned in {:.1f} s\n",
      report.untuned_ms, report.tuned_ms, ratio(report.untuned_ms, report.tuned_ms),
      grouped(report.tuned_weights_bytes), grouped(report.untuned_weights_bytes), report.storage,
      report.seconds);
  if (!report.kept) text += "the result was not kept: it makes the network slower as a whole\n";
  if (!report.complete) text += "not everything was measured in the given time: tune again to continue\n";
  return text;
}

nlohmann::json to_json(const TuneReport& report) {
  nlohmann::json operators = nlohmann::json::array();
  for (const TunedOperator& op : report.operators)
    operators.push_back({{"op", op.op},
                         {"name", op.name},
                         {"output", op.output},
                         {"count", op.count},
                         {"candidates", op.candidates},
                         {"untuned", op.untuned},
                         {"tuned", op.tuned},
                         {"untuned_us", op.untuned_us},
                         {"tuned_us", op.tuned_us},
                         {"measured", op.measured}});
  return {{"operators", operators},
          {"storage", report.storage},
          {"untuned_ms", report.untuned_ms},
          {"tuned_ms", report.tuned_ms},
          {"untuned_weights_bytes", report.untuned_weights_bytes},
          {"tuned_weights_bytes", report.tuned_weights_bytes},
          {"seconds", report.seconds},
          {"complete", report.complete},
          {"kept", report.kept},
          {"warnings", report.warnings}};
}

void tune(const TuneCommandArguments& arguments) {
  const OpenedDevice device(arguments.options);
  if (arguments.forget) forget_tuning(device.device());
  if (arguments.model.empty()) {
    if (!arguments.forget) throw Error(ErrorCode::invalid_argument, "give a model to tune, or --forget");
    if (arguments.options.json) print_json(nlohmann::json{{"forgotten", true}});
    return;
  }
  const TuneReport report =
      tune_and_show(device.device(), load_model(arguments.model, arguments.options),
                    session_options(arguments.options, arguments.model), arguments.tuning);
  device.check_validation();
  if (arguments.options.json) return print_json(to_json(report));
  print(table_of(report, arguments.all) + summary(report));
}

}  // namespace

TuneReport tune_and_show(const Device& device, const Model& model, const SessionOptions& options,
                         const TuneOptions& tune_options) {
  TuneOptions shown = tune_options;
  TuneReport report;
  {
    ProgressLine line;
    shown.progress = [&](const TuneProgress& progress) { line.show(progress_line(progress)); };
    report = vellum::tune(device, model, options, shown);
  }
  print_warnings(report.warnings);
  return report;
}

void add_tune_options(CLI::App& command, TuneArguments& arguments) {
  command.add_flag("--tune", arguments.tune,
                   "first measure which kernels are fastest on the device, and keep the result in --cache");
  command.add_option("--tune-seconds", arguments.seconds, "limit of --tune in seconds")
      ->check(more_than_zero())
      ->needs("--tune");
}

void tune_if_requested(const TuneArguments& arguments, const Options& options, const Device& device,
                       const Model& model, const SessionOptions& session) {
  if (!arguments.tune) return;
  TuneOptions tune_options;
  tune_options.seconds = arguments.seconds;
  const TuneReport report = tune_and_show(device, model, session, tune_options);
  if (!options.json) std::cerr << "vellum: " + summary(report);
}

Command add_tune(CLI::App& app) {
  auto arguments = std::make_shared<TuneCommandArguments>();
  CLI::App* command = app.add_subcommand(
      "tune", "Measure which kernel computes each operator fastest on the device, and save the result");
  add_model(*command, arguments->model);
  OptionFlags flags(*command);
#define VELLUM_OPTION(kind, name, member, what) flags.kind(dashed(#name), arguments->tuning.member, what);
#include "vellum/tune_options.def"
  command->add_flag("--forget", arguments->forget, "first discard all measurements of this device");
  command->add_flag("--all", arguments->all, "also show the operators whose kernel does not change");
  add_options(*command, arguments->options,
              "how tensors are assigned to memory: a strategy of docs/planner.md");
  command->footer(
      "The result is kept in the folder of --cache, for the device and its driver. Every command that runs a "
      "model\n"
      "there uses it, for this model and for the same operators of others, unless --no-tuned is given.\n"
      "Example:\n  vellum tune model.onnx && vellum bench model.onnx");
  return {command, [arguments] { tune(*arguments); }};
}

}  // namespace vellum::cli
