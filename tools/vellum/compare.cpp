#include "compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "inputs.hpp"
#include "output.hpp"
#include "timed_run.hpp"
#include "vellum/plan.hpp"

namespace vellum::cli {
namespace {

constexpr size_t kRuns = 5;

struct Ways {
  const char* name;
  bool fuse, in_place, views, reorder;
};
constexpr Ways kWays[] = {{"unfused", false, false, false, false}, {"none", true, false, false, false},
                          {"in place", true, true, false, false},  {"views", true, false, true, false},
                          {"reorder", true, false, false, true},   {"all", true, true, true, true}};
constexpr const Ways& kUnfused = kWays[0];
constexpr const Ways& kNoWays = kWays[1];
constexpr const Ways& kAll = kWays[std::size(kWays) - 1];

struct Row {
  MemoryMode mode;
  const Ways* ways;
  MemoryReport memory;
  std::optional<double> median_ms;  // of a session, whose memory is `memory` then
};

std::vector<Row> rows_to_fill() {
  std::vector<Row> rows{{MemoryMode::naive, &kUnfused, {}, {}}, {MemoryMode::naive, &kNoWays, {}, {}}};
  for (const MemoryMode mode : {MemoryMode::shared_objects, MemoryMode::offsets})
    for (const Ways& ways : kWays) rows.push_back({mode, &ways, {}, {}});
  return rows;
}

double median_milliseconds(Session& session) {
  timed_run(session);  // drivers compile at the first dispatch
  std::vector<double> times;
  for (size_t i = 0; i < kRuns; ++i) times.push_back(timed_run(session));
  std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
  return times[kRuns / 2];
}

// Passes that make tensors disappear.
void leave_out_fusion(SessionOptions& options) {
  for (const std::string& pass : graph_passes())
    if (pass.starts_with("fuse_") || pass.starts_with("fold_")) options.debug.disabled_passes.push_back(pass);
}

// The whole of each mode is run; of the ways alone it is enough to know the plan.
void measure(Row& row, const Model& model, const SessionOptions& options, const Device& device) {
  row.memory = planned_memory(model, options, &device);
  if (row.ways != (row.mode == MemoryMode::naive ? &kNoWays : &kAll)) return;
  Session session(device, model, options);
  Inputs inputs;
  fill_with_random(host_inputs(session), inputs, 1);
  set_inputs(session, inputs);
  row.median_ms = median_milliseconds(session);
  row.memory = session.memory();
}

size_t images(const MemoryReport& memory) {
  return static_cast<size_t>(
      std::count_if(memory.objects.begin(), memory.objects.end(),
                    [](const ObjectReport& object) { return object.kind != "buffer"; }));
}

uint32_t most_reused(const MemoryReport& memory) {
  uint32_t most = 0;
  for (const ObjectReport& object : memory.objects) most = std::max(most, object.reuse_count);
  return most;
}

nlohmann::json to_json(const Row& row) {
  nlohmann::json json{{"mode", row.memory.mode},
                      {"ways", row.ways->name},
                      {"planned_bytes", row.memory.planned_bytes},
                      {"lower_bound_bytes", row.memory.lower_bound_bytes},
                      {"images", images(row.memory)},
                      {"buffers", row.memory.objects.size() - images(row.memory)},
                      {"allocations", row.memory.arenas.size()},
                      {"tensors", row.memory.tensors.size()},
                      {"most_reused", most_reused(row.memory)}};
  if (row.median_ms) {
    json["allocated_bytes"] = row.memory.allocated_bytes;
    json["median_ms"] = *row.median_ms;
  }
  return json;
}

std::string table(const std::vector<Row>& rows) {
  Table table;
  table.column("mode");
  table.column("ways");
  for (const char* title :
       {"planned", "of naive", "allocated", "images", "buffers", "tensors", "most reused", "time"})
    table.column(title, Table::Align::right);
  const auto naive = static_cast<double>(rows[1].memory.planned_bytes);  // of the tensors left by fusion
  for (const Row& row : rows) {
    const MemoryReport& memory = row.memory;
    table.row(
        {memory.mode, row.ways->name, grouped(memory.planned_bytes),
         naive > 0 ? fmt::format("{:.1f}%", 100 * static_cast<double>(memory.planned_bytes) / naive) : "-",
         row.median_ms ? grouped(memory.allocated_bytes) : "-", std::to_string(images(memory)),
         std::to_string(memory.objects.size() - images(memory)), std::to_string(memory.tensors.size()),
         std::to_string(most_reused(memory)),
         row.median_ms ? fmt::format("{:.2f} ms", *row.median_ms) : "-"});
  }
  return table.text();
}

}  // namespace

void compare_memory(const std::string& model_file, const Options& options, const std::optional<Caps>& caps) {
  const Model model = load_model(model_file, options);
  const std::optional<OpenedDevice> device = open_if_named(options);
  std::vector<Row> rows = rows_to_fill();
  Progress progress("compare");
  for (size_t i = 0; i < rows.size(); ++i) {
    Row& row = rows[i];
    SessionOptions session = session_options(options, model_file);
    session.planning.strategy = "best";
    session.memory = row.mode;
    if (!row.ways->fuse) leave_out_fusion(session);
    session.planning.in_place = row.ways->in_place;
    session.planning.views = row.ways->views;
    session.planning.reorder = row.ways->reorder;
    if (device)
      measure(row, model, session, device->device());
    else
      row.memory = caps ? planned_memory(model, session, *caps) : planned_memory(model, session);
    progress.show(i + 1, rows.size());
  }
  if (device) device->check_validation();
  if (!options.json) return print(table(rows));
  nlohmann::json list = nlohmann::json::array();
  for (const Row& row : rows) list.push_back(to_json(row));
  print_json(nlohmann::json{{"comparison", list}});
}

}  // namespace vellum::cli
