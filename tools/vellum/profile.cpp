// vellum profile: which memory carries which tensors, and where the time goes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "choice_words.hpp"
#include "commands.hpp"
#include "inputs.hpp"
#include "io/files.hpp"
#include "layer_times.hpp"
#include "options.hpp"
#include "output.hpp"
#include "tuning.hpp"
#include "usage/wrong_usage.hpp"
#include "vellum/report.hpp"

namespace vellum::cli {
namespace {

struct ProfileArguments {
  Options options;
  TuneArguments tune;
  std::string model;
  std::vector<std::string> inputs;
  size_t runs = 10;
  size_t top = 0;  // 0: all layers
  std::string order = "execution";
  uint32_t seed = 1;
  std::string html, trace;
};

std::string extent(const ObjectReport& object) {
  if (object.kind == "buffer") return "";
  std::string text = std::to_string(object.extent[0]) + "x" + std::to_string(object.extent[1]);
  return object.kind == "image3d" ? text + "x" + std::to_string(object.extent[2]) : text;
}

nlohmann::json extent_json(const ObjectReport& object) {
  if (object.kind == "buffer") return nullptr;
  if (object.kind == "image3d") return object.extent;
  return {object.extent[0], object.extent[1]};
}

nlohmann::json to_json(const MemoryReport& memory, const LayerTimes& measured, const Session& session,
                       const std::string& device) {
  nlohmann::json objects = nlohmann::json::array();
  for (const ObjectReport& object : memory.objects)
    objects.push_back({{"id", object.id},
                       {"kind", object.kind},
                       {"extent", extent_json(object)},
                       {"format", object.format},
                       {"bytes", object.bytes},
                       {"arena", object.arena},
                       {"offset", object.arena_offset},
                       {"reuse_count", object.reuse_count},
                       {"tensors", object.tensors}});
  nlohmann::json times = nlohmann::json::array();
  for (size_t l = 0; l < measured.layers.size(); ++l) {
    const LayerTime& layer = measured.layers[l];
    times.push_back({{"name", layer.name},
                     {"op", layer.op},
                     {"shader", layer.shader},
                     {"storage", layer.storage},
                     {"gpu_ms", milliseconds_json(layer.gpu_ms)},
                     {"gpu_min_ms", milliseconds_json(measured.least[l])}});
  }
  return {{"device", device},
          {"mode", memory.mode},
          {"strategy", memory.strategy},
          {"objects", objects},
          {"naive_bytes", memory.naive_bytes},
          {"planned_bytes", memory.planned_bytes},
          {"lower_bound_bytes", memory.lower_bound_bytes},
          {"allocated_bytes", memory.allocated_bytes},
          {"weights_bytes", memory.weights_bytes},
          {"peak_weights_bytes", memory.peak_weights_bytes},
          {"total_weights_bytes", memory.total_weights_bytes},
          {"streamed_weights_bytes", memory.streamed_weights_bytes},
          {"in_out_bytes", memory.in_out_bytes},
          {"state_bytes", memory.state_bytes},
          {"memory_budget", memory.memory_budget},
          {"budget_used_bytes", memory.budget_used_bytes},
          {"budget_peak_bytes", memory.budget_peak_bytes},
          {"dispatches", session.dispatch_count()},
          {"pipelines", session.pipeline_count()},
          {"layers", times}};
}

std::string object_table(const MemoryReport& memory) {
  Table table;
  table.column("object", Table::Align::right);
  table.column("kind");
  table.column("extent", Table::Align::right);
  table.column("format");
  table.column("bytes", Table::Align::right);
  table.column("reused", Table::Align::right);
  table.column("tensors");
  std::vector<std::string> names;
  for (const ObjectReport& object : memory.objects)
    names.insert(names.end(), object.tensors.begin(), object.tensors.end());
  const size_t skipped = common_path(names);
  for (const ObjectReport& object : memory.objects) {
    std::string tensors;
    for (const std::string& tensor : object.tensors) {
      if (!tensors.empty()) tensors += ", ";
      tensors += tensor.substr(skipped);
    }
    table.row({std::to_string(object.id), object.kind, extent(object), object.format, grouped(object.bytes),
               std::to_string(object.reuse_count), shortened(tensors, 60)});
  }
  return table.text();
}

std::string totals(const MemoryReport& memory) {
  Table table;
  table.column("bytes", Table::Align::right);
  table.column("");
  const auto share = [&](uint64_t bytes) {
    return memory.naive_bytes
               ? fmt::format(" ({:.1f}% of naive)",
                             100.0 * static_cast<double>(bytes) / static_cast<double>(memory.naive_bytes))
               : std::string();
  };
  table.row({grouped(memory.naive_bytes), "naive: every intermediate tensor on its own"});
  table.row(
      {grouped(memory.lower_bound_bytes), "lower bound of " + memory.mode + share(memory.lower_bound_bytes)});
  table.row({grouped(memory.planned_bytes), "planned, " + memory.strategy + share(memory.planned_bytes)});
  table.row({grouped(memory.allocated_bytes),
             "allocated from Vulkan for intermediates" + share(memory.allocated_bytes)});
  table.row({grouped(memory.weights_bytes), "allocated for weights"});
  if (memory.streamed_weights_bytes > 0)
    table.row({grouped(memory.streamed_weights_bytes),
               "of weights streamed to the device in every run, of " + grouped(memory.total_weights_bytes)});
  table.row({grouped(memory.in_out_bytes), "allocated for inputs and outputs"});
  if (memory.state_bytes > 0) table.row({grouped(memory.state_bytes), "allocated for state"});
  if (memory.memory_budget > 0)
    table.row({grouped(memory.budget_peak_bytes),
               "allocated at most at a time, of a memory budget of " + grouped(memory.memory_budget)});
  return table.text();
}

std::string layer_table(const std::vector<LayerTime>& layers, const ProfileArguments& arguments) {
  double total = 0;
  for (const LayerTime& layer : layers)
    if (!std::isnan(layer.gpu_ms)) total += layer.gpu_ms;
  std::vector<size_t> order(layers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (arguments.order == "time")
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      // Layers without a time come last.
      return (std::isnan(layers[b].gpu_ms) && !std::isnan(layers[a].gpu_ms)) ||
             layers[a].gpu_ms > layers[b].gpu_ms;
    });
  if (arguments.top && arguments.top < order.size()) order.resize(arguments.top);
  Table table;
  table.column("layer", Table::Align::right);
  table.column("operator");
  table.column("time", Table::Align::right);
  table.column("share", Table::Align::right);
  table.column("shader");
  table.column("name");
  for (size_t l : order) {
    const LayerTime& layer = layers[l];
    const bool timed = !std::isnan(layer.gpu_ms) && total > 0;
    table.row({std::to_string(l), layer.op, milliseconds(layer.gpu_ms),
               timed ? fmt::format("{:.1f}%", 100 * layer.gpu_ms / total) : "-",
               layer.shader.empty() ? "(host)" : layer.shader, ending(layer.name, 50)});
  }
  return table.text() + fmt::format("{} layers, {:.3f} ms on the device in all\n", layers.size(), total);
}

ProfileReport profile_report(const ProfileArguments& arguments, const MemoryReport& memory,
                             const LayerTimes& measured, const DeviceInfo& device) {
  const Options& options = arguments.options;
  ProfileReport report;
  report.model = io::FileName(arguments.model).last_part();
  report.subtitle = {device.name,
                     device.driver,
                     precision_word(options),
                     "storage " + choice_word(options.session.storage),
                     choice_word(options.session.memory),
                     memory.strategy,
                     "median of " + std::to_string(arguments.runs) + " runs"};
  report.memory = memory;
  report.layers = measured.layers;
  report.run = measured.last_run;
  return report;
}

// Empty if the driver does not report it. Compiles every pipeline once more.
std::optional<KernelReport> kernels_if_reported(const OpenedDevice& device, const Model& model,
                                                const SessionOptions& options) {
  try {
    return kernels(device.device(), model, options);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    return std::nullopt;
  }
}

void profile(const ProfileArguments& arguments) {
  const OpenedDevice device(arguments.options);
  const Model model = load_model(arguments.model, arguments.options);
  Inputs inputs = read_inputs(model, arguments.inputs);
  SessionOptions options = session_options(arguments.options, arguments.model);
  add_shapes_of(model, inputs, options);
  options.profile = true;
  tune_if_requested(arguments.tune, arguments.options, device.device(), model, options);
  Session session(device.device(), model, options);
  fill_with_random(host_inputs(session), inputs, arguments.seed);
  set_inputs(session, inputs);
  const LayerTimes measured = measure_layers(session, arguments.runs, "profile");
  device.check_validation();

  const MemoryReport memory = session.memory();
  ProfileReport report = profile_report(arguments, memory, measured, device.device().info());
  if (!arguments.html.empty()) report.kernels = kernels_if_reported(device, model, options);
  if (!arguments.html.empty()) io::write_text(arguments.html, profile_html(report));
  if (!arguments.trace.empty()) io::write_text(arguments.trace, profile_trace(report));
  const std::string device_name = device.device().info().name;
  if (arguments.options.json) return print_json(to_json(memory, measured, session, device_name));
  print(device_name + "\n\n" + object_table(memory) + "\n" + totals(memory) + "\n" +
        layer_table(measured.layers, arguments));
}

}  // namespace

Command add_profile(CLI::App& app) {
  auto arguments = std::make_shared<ProfileArguments>();
  CLI::App* command = app.add_subcommand(
      "profile", "Show the memory objects, how often each is reused, and the time of each layer");
  add_model(*command, arguments->model)->required();
  command
      ->add_option("-i,--input", arguments->inputs,
                   "NAME=FILE.npy: an input of the model; repeatable; inputs that are not named are random")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--runs", arguments->runs, "how many inferences; times are medians over them")
      ->check(more_than_zero())
      ->capture_default_str();
  command->add_option("--order", arguments->order, "of layers: execution, or time (slowest first)")
      ->check(CLI::IsMember({"execution", "time"}))
      ->capture_default_str();
  command->add_option("--top", arguments->top, "print only the first N layers of that order");
  command->add_option("--html", arguments->html,
                      "write a page with the memory map, the times and the kernels");
  command->add_option("--trace", arguments->trace, "write a trace for Perfetto or chrome://tracing");
  command->add_option("--seed", arguments->seed, "seed of the random inputs")->capture_default_str();
  add_tune_options(*command, arguments->tune);
  add_options(*command, arguments->options,
              "how tensors are assigned to memory: a strategy of docs/planner.md");
  allow_int8(*command, arguments->options);
  command->footer(
      "Examples:\n  vellum profile model.onnx --order time --top 10\n"
      "  vellum profile model.onnx --memory naive --json\n"
      "  vellum profile model.onnx --html profile.html --trace profile.trace.json");
  return {command, [arguments] { profile(*arguments); }};
}

}  // namespace vellum::cli
