// Chrome's trace event format: "Trace Event Format", Google, 2016; complete events (X), metadata (M),
// counters (C).
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "report/arena_view.hpp"
#include "report/live_bytes.hpp"
#include "vellum/error.hpp"
#include "vellum/report.hpp"

namespace vellum {
namespace {

using nlohmann::json;

constexpr int kQueues = 1, kObjects = 2;  // process ids
constexpr size_t kLanes = 1000;           // thread ids of an object: its index times this, plus the lane

// Microseconds.
struct Span {
  double begin = 0, end = 0;
};

// If nothing was timed, a task takes a millisecond. A host partition between timed tasks takes the time
// between them.
std::vector<Span> task_spans(const std::vector<LayerTime>& run, size_t count) {
  const bool timed = std::any_of(run.begin(), run.end(),
                                 [](const LayerTime& layer) { return std::isfinite(layer.begin_ms); });
  std::vector<Span> spans(count);
  double now = 0;
  for (size_t t = 0; t < count; ++t) {
    const bool has = t < run.size() && std::isfinite(run[t].begin_ms) && std::isfinite(run[t].gpu_ms);
    if (!timed)
      spans[t] = {1e3 * static_cast<double>(t), 1e3 * static_cast<double>(t + 1)};
    else if (has)
      spans[t] = {1e3 * run[t].begin_ms, 1e3 * (run[t].begin_ms + run[t].gpu_ms)};
    else
      spans[t] = {now, now};
    now = std::max(now, spans[t].end);
  }
  return spans;
}

// The first lane that is free at each span's begin; `spans` begin in ascending order.
std::vector<size_t> lanes(const std::vector<Span>& spans) {
  std::vector<double> ends;
  std::vector<size_t> result;
  for (const Span& span : spans) {
    size_t lane = 0;
    while (lane < ends.size() && ends[lane] > span.begin) ++lane;
    if (lane == ends.size()) ends.push_back(0);
    ends[lane] = span.end;
    result.push_back(lane);
  }
  return result;
}

json complete(const std::string& name, const char* category, int process, size_t thread, const Span& span,
              json args) {
  return {{"ph", "X"},
          {"name", name},
          {"cat", category},
          {"pid", process},
          {"tid", thread},
          {"ts", span.begin},
          {"dur", span.end - span.begin},
          {"args", std::move(args)}};
}

json metadata(const char* what, int process, size_t thread, const std::string& name) {
  return {{"ph", "M"},     {"name", what}, {"pid", process},
          {"tid", thread}, {"ts", 0},      {"args", {{"name", name}}}};
}

void add_queue(json& events, const std::vector<LayerTime>& run, const std::vector<Span>& spans) {
  events.push_back(metadata("process_name", kQueues, 0, "queues"));
  std::vector<size_t> order(run.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::erase_if(order, [&](size_t t) { return run[t].shader.empty(); });  // the host uses no queue
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return spans[a].begin < spans[b].begin; });
  std::vector<Span> sorted;
  for (size_t t : order) sorted.push_back(spans[t]);
  const std::vector<size_t> lane = lanes(sorted);  // tasks without a barrier between them may overlap
  const size_t most = lane.empty() ? 0 : *std::max_element(lane.begin(), lane.end());
  for (size_t l = 0; l <= most; ++l)
    events.push_back(metadata("thread_name", kQueues, l, l ? "compute queue, overlapping" : "compute queue"));
  for (size_t i = 0; i < order.size(); ++i) {
    const LayerTime& layer = run[order[i]];
    events.push_back(complete(layer.name.empty() ? layer.op : layer.name, "task", kQueues, lane[i], sorted[i],
                              {{"task", order[i]},
                               {"operator", layer.op},
                               {"shader", layer.shader},
                               {"storage", layer.storage},
                               {"workgroups", layer.workgroups}}));
  }
}

// A tensor occupies its memory from the end of the task before its first to the end of its last.
std::vector<Span> lifetimes(const MemoryReport& memory, const std::vector<Span>& tasks) {
  std::vector<double> done(tasks.size() + 1, tasks.empty() ? 0 : tasks.front().begin);
  for (size_t t = 0; t < tasks.size(); ++t) done[t + 1] = std::max(done[t], tasks[t].end);
  std::vector<Span> lives;
  for (const TensorReport& tensor : memory.tensors)
    lives.push_back(
        {done[static_cast<size_t>(tensor.first_task)], done[static_cast<size_t>(tensor.last_task) + 1]});
  return lives;
}

void add_object(json& events, const MemoryReport& memory, size_t object, const std::vector<Span>& lives) {
  const ObjectReport& report = memory.objects[object];
  std::vector<size_t> carried;
  for (size_t i = 0; i < memory.tensors.size(); ++i)
    if (memory.tensors[i].object == object) carried.push_back(i);
  std::stable_sort(carried.begin(), carried.end(),
                   [&](size_t a, size_t b) { return lives[a].begin < lives[b].begin; });
  std::vector<Span> sorted;
  for (size_t i : carried) sorted.push_back(lives[i]);
  const std::vector<size_t> lane =
      lanes(sorted);  // more than one in an arena, where tensors are side by side
  const size_t most = lane.empty() ? 0 : *std::max_element(lane.begin(), lane.end());
  for (size_t l = 0; l <= std::min(most, kLanes - 1); ++l)
    events.push_back(metadata("thread_name", kObjects, object * kLanes + l,
                              "object " + std::to_string(report.id) + ": " + report.kind + ", " +
                                  std::to_string(report.bytes) + " bytes, carries " +
                                  std::to_string(report.reuse_count)));
  for (size_t k = 0; k < carried.size(); ++k) {
    const TensorReport& tensor = memory.tensors[carried[k]];
    events.push_back(complete(tensor.name, "tensor", kObjects,
                              object * kLanes + std::min(lane[k], kLanes - 1), sorted[k],
                              {{"operator", tensor.op},
                               {"shape", tensor.shape},
                               {"bytes", tensor.bytes},
                               {"first_task", tensor.first_task},
                               {"last_task", tensor.last_task}}));
  }
}

void add_live_bytes(json& events, const MemoryReport& memory, const std::vector<Span>& tasks) {
  const std::vector<uint64_t> live = live_bytes(memory, tasks.size());
  for (size_t t = 0; t < tasks.size(); ++t)
    events.push_back({{"ph", "C"},
                      {"name", "live bytes"},
                      {"pid", kObjects},
                      {"tid", 0},
                      {"ts", tasks[t].begin},
                      {"args", {{"bytes", live[t]}}}});
}

}  // namespace

std::string profile_trace(const ProfileReport& report) {
  const std::vector<LayerTime>& run = report.run.empty() ? report.layers : report.run;
  const MemoryReport memory = with_arenas_as_objects(report.memory);
  for (const TensorReport& tensor : memory.tensors)
    if (static_cast<size_t>(tensor.last_task) >= run.size())
      throw Error(ErrorCode::invalid_argument,
                  "the report's tensor '" + tensor.name + "' lives beyond the tasks");
  const std::vector<Span> tasks = task_spans(run, run.size());
  json events = json::array();
  add_queue(events, run, tasks);
  events.push_back(
      metadata("process_name", kObjects, 0, memory.mode == "offsets" ? "arenas" : "shared objects"));
  const std::vector<Span> lives = lifetimes(memory, tasks);
  for (size_t object = 0; object < memory.objects.size(); ++object) add_object(events, memory, object, lives);
  add_live_bytes(events, report.memory, tasks);
  const json document{{"traceEvents", std::move(events)},
                      {"displayTimeUnit", "ms"},
                      {"otherData", {{"model", report.model}, {"about", report.subtitle}}}};
  return document.dump(-1, ' ', true, json::error_handler_t::replace);
}

}  // namespace vellum
