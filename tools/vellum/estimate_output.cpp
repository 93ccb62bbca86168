#include "estimate_output.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "output.hpp"

namespace vellum::cli {
namespace {

using nlohmann::json;

constexpr struct {
  const char *key, *title;
  uint64_t MemoryUse::*bytes;
} kCategories[] = {{"weights", "weights", &MemoryUse::weights},
                   {"in_out", "inputs and outputs", &MemoryUse::in_out},
                   {"state", "state", &MemoryUse::state},
                   {"intermediates", "intermediate tensors", &MemoryUse::intermediates},
                   {"workspace", "workspace", &MemoryUse::workspace},
                   {"staging", "staging", &MemoryUse::staging},
                   {"resident", "resident", &MemoryUse::resident}};

constexpr struct {
  const char *key, *title;
  uint64_t VulkanMemory::*bytes;
} kAllocations[] = {{"weights", "weights", &VulkanMemory::weights},
                    {"in_out", "inputs and outputs", &VulkanMemory::in_out},
                    {"state", "state", &VulkanMemory::state},
                    {"intermediates", "intermediate tensors, workspace", &VulkanMemory::intermediates},
                    {"staging", "staging", &VulkanMemory::staging},
                    {"peak", "at most at any time", &VulkanMemory::peak}};

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

// |estimate - measured| / measured x 100; not a number where nothing was measured but something estimated.
double error_percent(uint64_t estimate, uint64_t measured) {
  const double difference = std::abs(static_cast<double>(estimate) - static_cast<double>(measured));
  if (measured == 0) return difference == 0 ? 0 : kUndefined;
  return 100 * difference / static_cast<double>(measured);
}

std::string percent(double value) { return std::isnan(value) ? "-" : fmt::format("{:.2f}%", value); }

struct Rows {
  Table table;
  bool measured;

  Rows(const char* title, bool with_measured) : measured(with_measured) {
    table.column(title);
    table.column("estimate", Table::Align::right);
    if (!measured) return;
    table.column("measured", Table::Align::right);
    table.column("error", Table::Align::right);
  }
  // `comparable`: estimate and measurement are of the same things.
  void add(const std::string& title, uint64_t estimate, std::optional<uint64_t> real,
           bool comparable = true) {
    std::vector<std::string> cells{title, grouped(estimate)};
    if (measured && real) {
      cells.push_back(grouped(*real));
      cells.push_back(percent(comparable ? error_percent(estimate, *real) : kUndefined));
    }
    table.row(std::move(cells));
  }
};

json use_json(const MemoryUse& use) {
  json object = json::object();
  for (const auto& category : kCategories) object[category.key] = use.*category.bytes;
  object["total"] = use.total();
  return object;
}

json vulkan_json(const VulkanMemory& vulkan) {
  json object = json::object();
  for (const auto& category : kAllocations) object[category.key] = vulkan.*category.bytes;
  return object;
}

// Whether the total, and what is resident in it, has on both sides what the driver itself takes.
bool totals_compare(const Point& point) {
  return point.estimate.resident.driver || !point.measured || !point.measured->driver_included;
}

bool compares(const Point& point, uint64_t MemoryUse::*category) {
  return category != &MemoryUse::resident || totals_compare(point);
}

json errors_json(const Point& point) {
  json object = json::object();
  const auto add = [&](const char* key, uint64_t estimate, uint64_t measured, bool comparable) {
    const double error = comparable ? error_percent(estimate, measured) : kUndefined;
    object[key] = std::isnan(error) ? json(nullptr) : json(error);
  };
  for (const auto& category : kCategories)
    add(category.key, point.estimate.use.*category.bytes, point.measured->use.*category.bytes,
        compares(point, category.bytes));
  add("total", point.estimate.use.total(), point.measured->use.total(), totals_compare(point));
  return object;
}

json known(const std::optional<uint64_t>& bytes) { return bytes ? json(*bytes) : json(nullptr); }

std::string words(const ResidentMemory& resident, size_t pipelines) {
  std::string text = fmt::format("resident: padding {}, the model in host memory {}",
                                 grouped(resident.padding), grouped(resident.host));
  if (resident.driver)
    return text + fmt::format(", driver {}, {} pipelines {}\n", grouped(*resident.driver), pipelines,
                              grouped(resident.pipelines.value_or(0)));
  return text + "; what the driver itself takes is not known for this device and left out\n";
}

std::string interval_words(const MemoryEstimate& estimate) {
  if (!estimate.interval) return "";
  const std::string between = fmt::format("between {} and {} in all", grouped(estimate.interval->least),
                                          grouped(estimate.interval->most));
  if (estimate.driver_host.empty())
    return between +
           ": what the driver takes was not measured on this machine, as `vellum devices --calibrate` does\n";
  return between + ": what the driver takes was measured on another machine (" + estimate.driver_host +
         "), or with much smaller or larger networks\n";
}

std::string run_words(const PredictedRun& run) {
  std::string text = fmt::format("one run, predicted: {:.3g} ms", run.ms);
  if (run.streamed_bytes > 0)
    text += fmt::format("; its dispatches alone {:.3g} ms, the copies of {} bytes of weights alone {:.3g} ms",
                        run.computing_ms, grouped(run.streamed_bytes), run.streaming_ms);
  return text + "\n";
}

}  // namespace

std::string category_table(const Point& point) {
  const MemoryEstimate& estimate = point.estimate;
  const auto* measured = point.measured ? &*point.measured : nullptr;
  Rows use("bytes", measured != nullptr);
  for (const auto& category : kCategories)
    use.add(category.title, estimate.use.*category.bytes,
            measured ? std::optional(measured->use.*category.bytes) : std::nullopt,
            compares(point, category.bytes));
  use.add("total", estimate.use.total(), measured ? std::optional(measured->use.total()) : std::nullopt,
          totals_compare(point));
  Rows vulkan("allocated from Vulkan", measured != nullptr);
  for (const auto& category : kAllocations)
    vulkan.add(category.title, estimate.vulkan.*category.bytes,
               measured ? std::optional(measured->vulkan.*category.bytes) : std::nullopt);
  std::string text = use.table.text() + "\n" + vulkan.table.text() + "\n";
  text += words(estimate.resident, estimate.pipelines) + interval_words(estimate);
  text += run_words(estimate.run);
  text += fmt::format("shape inference alone: {} for every tensor and parameter\n",
                      grouped(estimate.shape_inference_bytes));
  if (measured && measured->driver_bytes)
    text += fmt::format("the driver says {}\n", grouped(*measured->driver_bytes));
  if (measured && measured->process_bytes)
    text += fmt::format("the process grew by {}\n", grouped(*measured->process_bytes));
  return text;
}

std::string curve_table(const std::vector<Point>& points, const std::string& axis) {
  Table table;
  table.column(axis, Table::Align::right);
  for (const auto& category : kCategories) table.column(category.title, Table::Align::right);
  table.column("total", Table::Align::right);
  table.column("shape inference", Table::Align::right);
  for (const Point& point : points) {
    std::vector<std::string> cells{std::to_string(point.x)};
    for (const auto& category : kCategories) cells.push_back(grouped(point.estimate.use.*category.bytes));
    cells.push_back(grouped(point.estimate.use.total()));
    cells.push_back(grouped(point.estimate.shape_inference_bytes));
    table.row(std::move(cells));
  }
  return table.text();
}

json to_json(const Point& point) {
  json shapes = json::object();
  for (const auto& [name, shape] : point.shapes) shapes[name] = shape;
  json object{{"batch", point.batch},
              {"x", point.x},
              {"shapes", shapes},
              {"estimate", use_json(point.estimate.use)},
              {"vulkan", {{"estimate", vulkan_json(point.estimate.vulkan)}}},
              {"resident_parts",
               {{"padding", point.estimate.resident.padding},
                {"driver", known(point.estimate.resident.driver)},
                {"pipelines", known(point.estimate.resident.pipelines)},
                {"host", point.estimate.resident.host}}},
              {"interval", nullptr},
              {"driver_host", point.estimate.driver_host},
              {"shape_inference_total", point.estimate.shape_inference_bytes},
              {"run",
               {{"ms", point.estimate.run.ms},
                {"computing_ms", point.estimate.run.computing_ms},
                {"streaming_ms", point.estimate.run.streaming_ms},
                {"streamed_bytes", point.estimate.run.streamed_bytes}}},
              {"dispatches", point.estimate.dispatches},
              {"pipelines", point.estimate.pipelines},
              {"shader_operations", point.estimate.shader_operations},
              {"largest_shader_operations", point.estimate.largest_shader_operations},
              {"warnings", point.estimate.warnings}};
  if (const auto& interval = point.estimate.interval)
    object["interval"] = {{"least", interval->least}, {"most", interval->most}};
  if (!point.measured) return object;
  const MemoryMeasurement& measured = *point.measured;
  object["measured"] = use_json(measured.use);
  object["error_percent"] = errors_json(point);
  object["vulkan"]["measured"] = vulkan_json(measured.vulkan);
  object["vulkan"]["device_estimate"] = vulkan_json(measured.estimate.vulkan);
  object["driver_bytes"] = known(measured.driver_bytes);
  object["process_bytes"] = known(measured.process_bytes);
  return object;
}

}  // namespace vellum::cli
