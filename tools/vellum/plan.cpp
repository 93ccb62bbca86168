// vellum plan: memory plans without a GPU, of a model or of tensor usage records.
#include "vellum/plan.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "commands.hpp"
#include "compare.hpp"
#include "io/files.hpp"
#include "options.hpp"
#include "output.hpp"
#include "plan_json.hpp"
#include "usage/wrong_usage.hpp"
#include "vellum/planner/memory_map.hpp"
#include "vellum/planner/plan_report.hpp"
#include "vellum/planner/records_csv.hpp"

namespace vellum::cli {
namespace {

struct PlanArguments {
  Options options;
  std::string model;
  std::string records;
  std::string mode;
  std::string csv;
  std::string svg;
  std::string caps;
  bool compare = false;
  uint64_t alignment = 0;  // 0: by default
  uint64_t target = 0;
};

struct Planned {
  std::string device;  // that a model is planned for; empty for records
  std::vector<std::string> ids;
  std::vector<planner::TensorUsageRecord> records;
  planner::PlanReport report;
};

planner::PlanOptions plan_options(const PlanArguments& arguments, uint64_t default_alignment) {
  planner::PlanOptions options;
  options.alignment = arguments.alignment ? arguments.alignment : default_alignment;
  options.search_budget = std::chrono::milliseconds(arguments.options.session.planning.search_ms);
  options.target_bytes = arguments.target;
  return options;
}

Planned plan_records(const PlanArguments& arguments) {
  planner::RecordsTable table = planner::read_records_csv(io::FileName(arguments.records).path());
  std::optional<planner::PlanMode> mode;
  if (!arguments.mode.empty()) mode = planner::plan_mode_from_name(arguments.mode);
  const planner::PlanOptions options = plan_options(arguments, 1);
  planner::PlanReport report =
      planner::make_plan_report(table.records, arguments.options.session.planning.strategy, mode, options);
  return {"", std::move(table.ids), std::move(table.records), std::move(report)};
}

bool has_strategy(planner::PlanMode mode, const std::string& strategy) {
  const auto listed = [&](auto strategies) {
    return std::any_of(strategies.begin(), strategies.end(),
                       [&](auto s) { return planner::name(s) == strategy; });
  };
  return strategy == "all" || (mode == planner::PlanMode::objects ? listed(planner::all_object_strategies())
                                                                  : listed(planner::all_offset_strategies()));
}

// `name` receives that of the device.
TensorUsage usage_of(const PlanArguments& arguments, const SessionOptions& session, std::string& name) {
  const Model model = load_model(arguments.model, arguments.options);
  if (const std::optional<OpenedDevice> device = open_if_named(arguments.options)) {
    name = device->device().info().name;
    return tensor_usage(model, session, &device->device());
  }
  name = caps_name(arguments.caps);
  return tensor_usage(model, session,
                      arguments.caps.empty() ? Caps::android_baseline_2022() : read_caps(arguments.caps));
}

// Textures for shared objects, bytes for offsets, each with the alignment that goes with it.
Planned plan_model(const PlanArguments& arguments) {
  SessionOptions session = session_options(arguments.options, arguments.model);
  if (arguments.mode == "offsets") session.memory = MemoryMode::offsets;
  // A budget is fitted with one strategy.
  if (session.planning.strategy == "all") session.planning.strategy = SessionOptions().planning.strategy;
  std::string device;
  const TensorUsage usage = usage_of(arguments, session, device);
  const std::string& strategy = arguments.options.session.planning.strategy;
  const bool objects = arguments.mode == "objects" ||
                       (arguments.mode.empty() && has_strategy(planner::PlanMode::objects, strategy));
  const bool offsets = arguments.mode == "offsets" ||
                       (arguments.mode.empty() && has_strategy(planner::PlanMode::offsets, strategy));

  const std::vector<planner::TensorUsageRecord>& bytes = usage.arena_records;
  planner::PlanOptions object_options = plan_options(arguments, 1);
  object_options.object_bytes = usage.object_bytes;
  const planner::PlanOptions offset_options = plan_options(arguments, usage.offset_alignment);
  // Also where the name is nobody's: then the report refuses it with the list of names.
  planner::PlanReport report;
  if (objects || !offsets)
    report = planner::make_plan_report(usage.records, strategy, planner::PlanMode::objects, object_options);
  planner::PlanReport arena;
  if (offsets) arena = planner::make_plan_report(bytes, strategy, planner::PlanMode::offsets, offset_options);
  report.record_count = usage.records.size();
  report.plans.insert(report.plans.end(), arena.plans.begin(), arena.plans.end());
  report.naive_bytes = objects ? planner::naive_bytes(usage.records, object_options)
                               : planner::naive_bytes(bytes, offset_options);
  report.objects_lower_bound = planner::objects_lower_bound(usage.records, object_options);
  report.offsets_lower_bound = planner::offsets_lower_bound(bytes, offset_options);
  report.any_order_bound = usage.any_order_bound;
  return {device, usage.tensors, objects ? usage.records : bytes, std::move(report)};
}

// The smallest plan of the first mode in the report, as a picture.
void write_svg(const PlanArguments& arguments, const Planned& planned) {
  const auto smallest = std::find_if(planned.report.plans.begin(), planned.report.plans.end(),
                                     [](const planner::PlanRow& row) { return row.smallest; });
  if (smallest == planned.report.plans.end()) return;
  const std::string source = arguments.records.empty() ? arguments.model : arguments.records;
  const std::string title = io::FileName(source).last_part() + ": " + smallest->strategy + ", " +
                            grouped(smallest->total_bytes) + " of " + grouped(planned.report.naive_bytes) +
                            " bytes";
  const std::string svg = planner::memory_map_svg(planned.records, planned.ids, *smallest, title);
  io::write_text(arguments.svg, svg);
}

void compare(const PlanArguments& arguments) {
  if (!arguments.records.empty())
    throw Error(ErrorCode::invalid_argument, "--compare compares the plans of a model, not of --records");
  std::optional<Caps> caps;
  if (!arguments.caps.empty()) caps = read_caps(arguments.caps);
  compare_memory(arguments.model, arguments.options, caps);
}

void plan(const PlanArguments& arguments) {
  require_caps_or_device(arguments.caps, arguments.options);
  if (arguments.compare) return compare(arguments);
  const Planned planned = arguments.records.empty() ? plan_model(arguments) : plan_records(arguments);
  if (!arguments.csv.empty()) {
    std::ostringstream csv;
    planner::write_plan_csv(csv, planned.ids, planned.records, planned.report);
    const std::string text = csv.str();
    io::write_text(arguments.csv, text);
  }
  if (!arguments.svg.empty()) write_svg(arguments, planned);
  if (arguments.options.json) {
    nlohmann::json document = plan_json(planned.report);
    if (!planned.device.empty()) document["device"] = planned.device;
    return print_json(document);
  }
  const bool is_default = arguments.caps.empty() && arguments.options.device.device.empty();
  print((planned.device.empty() ? "" : device_line(planned.device, is_default) + "\n") +
        planner::plan_table(planned.report));
}

}  // namespace

Command add_plan(CLI::App& app) {
  auto arguments = std::make_shared<PlanArguments>();
  arguments->options.session.planning.strategy = "all";
  CLI::App* command =
      app.add_subcommand("plan", "Plan the memory of a model or of tensor usage records; needs no GPU");
  CLI::Option* model = add_model(*command, arguments->model);
  CLI::Option* records =
      command->add_option("--records", arguments->records, "CSV file id,first,last,size instead");
  records->excludes(model);
  command->add_option("--mode", arguments->mode, "objects or offsets; default: both")
      ->check(CLI::IsMember({"objects", "offsets"}));
  command
      ->add_option("--alignment", arguments->alignment,
                   "bytes, a power of two; default: the device's, or 1 with --records")
      ->check(more_than_zero());
  command
      ->add_option(
          "--budget", arguments->options.session.planning.search_ms,
          "milliseconds that exact and best may search in each mode, as --search-ms of sessions; 0: none")
      ->check(CLI::Range(0u, 3'600'000u))
      ->capture_default_str();
  command->add_option("--target", arguments->target,
                      "stop the search once the total is at or below these bytes");
  command->add_option("--csv", arguments->csv, "write the records with each plan's assignment to this file");
  command->add_option("--svg", arguments->svg, "draw the smallest plan as a memory map to this file");
  command->add_option(
      "--caps", arguments->caps,
      "android_baseline_2022, or a file of `vellum devices --save-caps`: plan for that device");
  command->add_flag("--compare", arguments->compare,
                    "compare the memory modes and each way to need less; with --device on it, with times");
  add_options(*command, arguments->options, "a strategy of docs/planner.md, or all");
  allow_int8(*command, arguments->options);
  command->footer(
      "Without --device and --caps the limits are those of the Android Baseline 2022 profile.\nExamples:\n"
      "  vellum plan model.onnx --strategy greedy_by_size_improved\n"
      "  vellum plan --records network.csv --mode objects --json\n"
      "  vellum plan model.onnx --compare --caps lavapipe.json");
  command->final_callback([model, records] {
    if (model->count() + records->count() == 0) throw CLI::RequiredError("MODEL or --records");
  });
  return {command, [arguments] { plan(*arguments); }};
}

}  // namespace vellum::cli
