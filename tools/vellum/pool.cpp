// vellum pool: what networks that follow one another need together, without a GPU.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "io/file_name.hpp"
#include "io/files.hpp"
#include "options.hpp"
#include "output.hpp"
#include "vellum/plan.hpp"
#include "vellum/report.hpp"

namespace vellum::cli {
namespace {

struct PoolArguments {
  Options options;
  std::vector<std::string> models;
  std::string caps, svg;
};

std::vector<PooledNetwork> plan_networks(const PoolArguments& arguments) {
  const SessionOptions session = session_options(arguments.options, {});
  std::optional<Caps> caps;
  if (!arguments.caps.empty()) caps = read_caps(arguments.caps);
  const std::optional<OpenedDevice> device = caps ? std::nullopt : open_if_named(arguments.options);
  std::vector<PooledNetwork> networks;
  for (const std::string& file : arguments.models) {
    const Model model = load_model(file, arguments.options);
    networks.push_back({io::FileName(file).stem(),
                        caps ? planned_memory(model, session, *caps)
                             : planned_memory(model, session, device ? &device->device() : nullptr)});
  }
  return networks;
}

uint64_t bytes_apart(const std::vector<PooledNetwork>& networks) {
  uint64_t bytes = 0;
  for (const PooledNetwork& network : networks) bytes += network.memory.planned_bytes;
  return bytes;
}

std::string table_of(const std::vector<PooledNetwork>& networks) {
  Table table;
  table.column("network");
  for (const char* title : {"tensors", "objects", "each tensor its own", "bytes"})
    table.column(title, Table::Align::right);
  for (const auto& [name, memory] : networks)
    table.row({name, grouped(memory.tensors.size()), grouped(memory.objects.size()),
               grouped(memory.naive_bytes), grouped(memory.planned_bytes)});
  const uint64_t apart = bytes_apart(networks), together = pool_bytes(networks);
  return table.text() +
         fmt::format("apart {} bytes; in one pool {} ({:.0f}%)\n", grouped(apart), grouped(together),
                     apart ? 100.0 * static_cast<double>(together) / static_cast<double>(apart) : 100.0);
}

nlohmann::json to_json(const std::vector<PooledNetwork>& networks) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [name, memory] : networks)
    list.push_back({{"name", name},
                    {"tensors", memory.tensors.size()},
                    {"objects", memory.objects.size()},
                    {"naive_bytes", memory.naive_bytes},
                    {"planned_bytes", memory.planned_bytes},
                    {"arenas", memory.arenas}});
  return {{"networks", list}, {"bytes_apart", bytes_apart(networks)}, {"pool_bytes", pool_bytes(networks)}};
}

void plan_pool(const PoolArguments& arguments) {
  require_caps_or_device(arguments.caps, arguments.options);
  const std::vector<PooledNetwork> networks = plan_networks(arguments);
  if (!arguments.svg.empty()) {
    const std::string title = fmt::format("{} networks in one pool: {} instead of {} bytes", networks.size(),
                                          grouped(pool_bytes(networks)), grouped(bytes_apart(networks)));
    const std::string svg = memory_pool_svg(networks, title);
    io::write_text(arguments.svg, svg);
  }
  if (arguments.options.json)
    print_json(to_json(networks));
  else
    print(table_of(networks));
}

}  // namespace

Command add_pool(CLI::App& app) {
  auto arguments = std::make_shared<PoolArguments>();
  CLI::App* command =
      app.add_subcommand("pool", "Plan the memory pool of networks that run one after another; needs no GPU");
  command
      ->add_option("MODEL", arguments->models,
                   "ONNX or TFLite models, or bundles, in the order in which they run")
      ->required()
      ->expected(1, 1000);
  command->add_option("--svg", arguments->svg,
                      "draw the networks, one after the other, in the pool's memory to this file");
  command->add_option(
      "--caps", arguments->caps,
      "android_baseline_2022, or a file of `vellum devices --save-caps`: plan for that device");
  add_options(*command, arguments->options,
              "how tensors are assigned to memory: a strategy of docs/planner.md");
  command->footer(
      "Sessions with one vellum::MemoryPool share the memory of their intermediate tensors (docs/memory.md). "
      "Without\n"
      "--device and --caps the limits are those of the Android Baseline 2022 profile.\n"
      "Example:\n  vellum pool detector.onnx landmarks.onnx segmentation.onnx --svg pool.svg");
  return {command, [arguments] { plan_pool(*arguments); }};
}

}  // namespace vellum::cli
