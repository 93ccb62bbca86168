// vellum inspect: what is in a model.
#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "commands.hpp"
#include "kernel_output.hpp"
#include "options.hpp"
#include "output.hpp"
#include "usage/wrong_usage.hpp"
#include "vellum/caps.hpp"

namespace vellum::cli {
namespace {

struct InspectArguments {
  Options options;
  std::string model;
  std::string stage;
  std::string caps;
  double gigamacs = 0, gigabytes = 0;
  std::string code;
};

std::string join(const std::vector<Shape>& shapes) {
  std::string list;
  for (const Shape& shape : shapes) list += (list.empty() ? "" : ", ") + to_string(shape);
  return list;
}

struct Totals {
  uint64_t parameters = 0, macs = 0;
  std::map<std::string, size_t> operators;
};

Totals sum(const std::vector<NodeInfo>& nodes) {
  Totals totals;
  for (const NodeInfo& node : nodes) {
    totals.parameters += node.parameters;
    totals.macs += node.macs;
    ++totals.operators[node.op];
  }
  return totals;
}

std::string ports(const char* title, const std::vector<TensorInfo>& tensors) {
  std::string text;
  for (const TensorInfo& tensor : tensors)
    text += one_line(
                std::string(title) + "  " + tensor.name + "  " + std::string(name(tensor.dtype)) + " " +
                to_string(tensor.shape) + (tensor.decides_shapes ? "  decides shapes" : "") +
                (tensor.initial_value ? "  variable" : "") +
                (tensor.signature_name.empty() ? "" : "  '" + tensor.signature_name + "' in the signature")) +
            "\n";
  return text;
}

// Nothing for a file without any.
std::string signatures(const Model& model) {
  const std::vector<std::string>& names = model.signatures();
  if (names.empty()) return "";
  std::string text = "signature  " + names.front();
  for (size_t i = 1; i < names.size(); ++i) text += (i == 1 ? "  (others: " : ", ") + names[i];
  return one_line(text + (names.size() > 1 ? ")" : "")) + "\n";
}

std::string text(const Model& model, const std::vector<NodeInfo>& nodes) {
  Table table;
  for (const char* title : {"operator", "name", "output"}) table.column(title);
  table.column("parameters", Table::Align::right);
  table.column("MACs", Table::Align::right);
  table.column("attributes");
  for (const NodeInfo& node : nodes)
    table.row({node.op, ending(node.name, 50), join(node.output_shapes), grouped(node.parameters),
               grouped(node.macs), shortened(node.attributes, 60)});
  const Totals totals = sum(nodes);
  std::string result = signatures(model) + ports("input ", model.inputs()) +
                       ports("output", model.outputs()) + "\n" + table.text() + "\n";
  result += std::to_string(nodes.size()) + " nodes, " + grouped(totals.parameters) + " parameters, " +
            grouped(totals.macs) + " multiply-accumulates\n\n";
  Table histogram;
  histogram.column("operator");
  histogram.column("count", Table::Align::right);
  for (const auto& [op, count] : totals.operators) histogram.row({op, std::to_string(count)});
  return result + histogram.text();
}

nlohmann::json to_json(const Model& model, const std::vector<NodeInfo>& nodes) {
  nlohmann::json list = nlohmann::json::array();
  for (const NodeInfo& node : nodes)
    list.push_back({{"name", node.name},
                    {"op", node.op},
                    {"attributes", node.attributes},
                    {"inputs", node.inputs},
                    {"outputs", node.outputs},
                    {"output_shapes", node.output_shapes},
                    {"parameters", node.parameters},
                    {"macs", node.macs}});
  const Totals totals = sum(nodes);
  nlohmann::json document{{"inputs", tensor_infos_json(model.inputs())},
                          {"outputs", tensor_infos_json(model.outputs())},
                          {"nodes", list},
                          {"parameters", totals.parameters},
                          {"macs", totals.macs},
                          {"operators", totals.operators}};
  if (!model.signatures().empty()) document["signatures"] = model.signatures();
  return document;
}

void print_stage(const InspectArguments& arguments, const Model& model) {
  const SessionOptions options = session_options(arguments.options, arguments.model);
  const auto stage = [&](const auto& target) {
    return arguments.options.json ? describe_json(model, arguments.stage, options, target) + "\n"
                                  : describe(model, arguments.stage, options, target);
  };
  if (!arguments.caps.empty()) return print(stage(read_caps(arguments.caps)));
  const std::optional<OpenedDevice> device = open_if_named(arguments.options);
  print(stage(device ? &device->device() : nullptr));
}

std::optional<DeviceRates> given_rates(const InspectArguments& arguments) {
  if ((arguments.gigamacs > 0) != (arguments.gigabytes > 0))
    throw Error(ErrorCode::invalid_argument, "--gigamacs and --gigabytes are given together");
  if (arguments.gigamacs == 0) return std::nullopt;
  return DeviceRates{.gigamacs_per_s = arguments.gigamacs, .gigabytes_per_s = arguments.gigabytes};
}

void print_kernels(const InspectArguments& arguments, const Model& model) {
  if (!arguments.caps.empty())
    throw Error(ErrorCode::invalid_argument,
                "--stage kernels needs a device, whose compiler it asks, not --caps");
  const OpenedDevice device(arguments.options);
  const KernelReport report =
      kernels(device.device(), model, session_options(arguments.options, arguments.model),
              {.rates = given_rates(arguments), .representations = !arguments.code.empty()});
  device.check_validation();
  if (!arguments.code.empty()) write_code(report, arguments.code);
  if (arguments.options.json)
    print_json(kernels_json(report));
  else
    print(kernels_text(report));
}

void check(const InspectArguments& arguments) {
  if (!arguments.caps.empty() && arguments.stage.empty())
    throw Error(ErrorCode::invalid_argument, "--caps needs --stage");
  if (arguments.stage == "kernels") return;
  for (const auto& [option, is_given] : {std::pair{"--code", !arguments.code.empty()},
                                         {"--gigamacs", arguments.gigamacs > 0},
                                         {"--gigabytes", arguments.gigabytes > 0}})
    if (is_given) throw Error(ErrorCode::invalid_argument, std::string(option) + " needs --stage kernels");
}

void inspect(const InspectArguments& arguments) {
  check(arguments);
  const Model model = load_model(arguments.model, arguments.options);
  if (arguments.stage == "kernels") return print_kernels(arguments, model);
  if (!arguments.stage.empty()) return print_stage(arguments, model);
  const std::vector<NodeInfo> nodes =
      model.nodes(input_shapes(arguments.options), input_values(arguments.options, model));
  if (arguments.options.json)
    print_json(to_json(model, nodes));
  else
    print(text(model, nodes));
}

}  // namespace

Command add_inspect(CLI::App& app) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command =
      app.add_subcommand("inspect", "Show operators, shapes, parameters and multiply-accumulates of a model");
  add_model(*command, arguments->model)->required();
  command
      ->add_option("--stage", arguments->stage,
                   "graph (as optimised), program (dispatches), plan (memory), barriers, or kernels (as the "
                   "device's compiler reports them)")
      ->check(CLI::IsMember({"graph", "program", "plan", "barriers", "kernels"}));
  command->add_option("--caps", arguments->caps,
                      "android_baseline_2022, or a file of `vellum devices --save-caps`: the device that "
                      "stages are shown for");
  command
      ->add_option("--gigamacs", arguments->gigamacs,
                   "for --stage kernels: fp32 multiply-accumulates of the device in billions per second, if "
                   "Vellum does not know the chip")
      ->check(more_than_zero());
  command
      ->add_option("--gigabytes", arguments->gigabytes,
                   "for --stage kernels: bandwidth of its memory in GB per second")
      ->check(more_than_zero());
  command->add_option(
      "--code", arguments->code,
      "for --stage kernels: a folder for the compiler's representations of each pipeline, with its assembly");
  add_options(*command, arguments->options, "the strategy of --stage plan, see docs/planner.md");
  allow_int8(*command, arguments->options);
  command->footer(
      "Examples:\n  vellum inspect model.onnx\n  vellum inspect model.onnx --shape image=1x3x224x224 "
      "--stage program\n  vellum inspect model.onnx --stage kernels --device 0");
  return {command, [arguments] { inspect(*arguments); }};
}

}  // namespace vellum::cli
