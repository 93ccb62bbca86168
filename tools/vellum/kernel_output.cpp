#include "kernel_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "io/files.hpp"
#include "output.hpp"

namespace vellum::cli {
namespace {

// Dispatches of a pipeline, and their multiply-accumulates.
struct Use {
  size_t dispatches = 0;
  uint64_t macs = 0;
};

std::vector<Use> uses(const KernelReport& report) {
  std::vector<Use> result(report.pipelines.size());
  for (const KernelDispatch& dispatch : report.dispatches) {
    ++result[dispatch.pipeline].dispatches;
    result[dispatch.pipeline].macs += dispatch.macs;
  }
  return result;
}

std::string figure(double value) {
  return std::isnan(value) ? "-" : grouped(static_cast<uint64_t>(std::llround(value)));
}

std::string microseconds(double value) { return std::isnan(value) ? "-" : fmt::format("{:.1f}", value); }

std::string sizes(const std::array<uint32_t, 3>& size) {
  return size[2] > 1   ? fmt::format("{}x{}x{}", size[0], size[1], size[2])
         : size[1] > 1 ? fmt::format("{}x{}", size[0], size[1])
                       : std::to_string(size[0]);
}

double least_us(const KernelDispatch& dispatch) { return std::fmax(dispatch.compute_us, dispatch.memory_us); }

std::string pipeline_table(const KernelReport& report) {
  Table table;
  table.column("pipeline", Table::Align::right);
  table.column("shader");
  for (const char* title : {"dispatches", "MACs", "workgroup", "subgroup", "registers", "spills", "resident",
                            "shared", "instructions", "cycles"})
    table.column(title, Table::Align::right);
  table.column("variant");
  const std::vector<Use> use = uses(report);
  for (size_t i = 0; i < report.pipelines.size(); ++i) {
    const KernelPipeline& pipeline = report.pipelines[i];
    bool is_first = true;
    for (const KernelCode& code : pipeline.code) {
      table.row({is_first ? std::to_string(i) : "", is_first ? pipeline.shader : "  " + code.name,
                 is_first ? std::to_string(use[i].dispatches) : "", is_first ? grouped(use[i].macs) : "",
                 sizes(pipeline.workgroup_size),
                 code.subgroup_size ? std::to_string(code.subgroup_size) : "-", figure(code.registers),
                 figure(code.spills), figure(code.resident_subgroups), figure(code.shared_memory_bytes),
                 figure(code.instructions), figure(code.cycles),
                 is_first ? shortened(one_line(pipeline.variant), 60) : ""});
      is_first = false;
    }
  }
  return table.text();
}

std::string dispatch_table(const KernelReport& report) {
  Table table;
  table.column("dispatch", Table::Align::right);
  table.column("operator");
  for (const char* title : {"pipeline", "workgroups", "subgroups", "MACs", "bytes", "compute us", "memory us",
                            "latency us", "predicted us"})
    table.column(title, Table::Align::right);
  table.column("name");
  for (size_t i = 0; i < report.dispatches.size(); ++i) {
    const KernelDispatch& dispatch = report.dispatches[i];
    table.row({std::to_string(i), dispatch.op, std::to_string(dispatch.pipeline), sizes(dispatch.workgroups),
               dispatch.subgroups ? grouped(dispatch.subgroups) : "-", grouped(dispatch.macs),
               grouped(dispatch.bytes), microseconds(dispatch.compute_us), microseconds(dispatch.memory_us),
               microseconds(dispatch.latency_us), microseconds(dispatch.predicted_us),
               ending(dispatch.name, 50)});
  }
  return table.text();
}

std::string summary(const KernelReport& report) {
  uint64_t macs = 0;
  double least = 0, predicted = 0, overhead = 0, spills = 0;
  for (const KernelDispatch& dispatch : report.dispatches) {
    macs += dispatch.macs;
    least += least_us(dispatch);
    predicted += dispatch.predicted_us;
    overhead += dispatch.overhead_us;
  }
  for (const KernelPipeline& pipeline : report.pipelines)
    for (const KernelCode& code : pipeline.code) spills += std::isnan(code.spills) ? 0 : code.spills;
  std::string text = fmt::format("{} dispatches of {} pipelines, {} multiply-accumulates, {} spills\n",
                                 report.dispatches.size(), report.pipelines.size(), grouped(macs),
                                 grouped(static_cast<uint64_t>(spills)));
  if (report.rates)
    text += fmt::format(
        "at {:.0f} billion multiply-accumulates and {:.0f} GB a second the dispatches take at least {:.3f} "
        "ms;\npredicted: {:.3f} ms, of it {:.3f} ms for launches and barriers\n",
        report.rates->gigamacs_per_s, report.rates->gigabytes_per_s, least / 1e3, predicted / 1e3,
        overhead / 1e3);
  return text;
}

nlohmann::json to_json(const KernelCode& code) {
  nlohmann::json statistics = nlohmann::json::object();
  for (const KernelStatistic& statistic : code.statistics) statistics[statistic.name] = statistic.value;
  return {{"name", code.name},
          {"subgroup_size", code.subgroup_size},
          {"registers", figure_json(code.registers)},
          {"spills", figure_json(code.spills)},
          {"resident_subgroups", figure_json(code.resident_subgroups)},
          {"shared_memory_bytes", figure_json(code.shared_memory_bytes)},
          {"instructions", figure_json(code.instructions)},
          {"cycles", figure_json(code.cycles)},
          {"statistics", std::move(statistics)}};
}

}  // namespace

nlohmann::json figure_json(double value) {
  return std::isnan(value) ? nlohmann::json(nullptr) : nlohmann::json(value);
}

nlohmann::json rates_json(const std::optional<DeviceRates>& rates) {
  if (!rates) return nullptr;
  return {{"gigamacs_per_s", rates->gigamacs_per_s},
          {"gigabytes_per_s", rates->gigabytes_per_s},
          {"units", rates->units},
          {"lanes", rates->lanes},
          {"latency_ns", rates->latency_ns},
          {"launch_us", rates->launch_us},
          {"barrier_us", rates->barrier_us}};
}

std::string kernels_text(const KernelReport& report) {
  return report.device + ", " + report.driver + "\n\n" + pipeline_table(report) + "\n" +
         dispatch_table(report) + summary(report);
}

nlohmann::json kernels_json(const KernelReport& report) {
  nlohmann::json pipelines = nlohmann::json::array(), dispatches = nlohmann::json::array();
  for (const KernelPipeline& pipeline : report.pipelines) {
    nlohmann::json defines = nlohmann::json::object(), code = nlohmann::json::array();
    for (const auto& [name, value] : pipeline.defines) defines[name] = value;
    for (const KernelCode& each : pipeline.code) code.push_back(to_json(each));
    pipelines.push_back({{"shader", pipeline.shader},
                         {"defines", std::move(defines)},
                         {"workgroup_size", pipeline.workgroup_size},
                         {"code", std::move(code)}});
  }
  for (const KernelDispatch& dispatch : report.dispatches)
    dispatches.push_back({{"name", dispatch.name},
                          {"op", dispatch.op},
                          {"pipeline", dispatch.pipeline},
                          {"workgroups", dispatch.workgroups},
                          {"invocations", dispatch.invocations},
                          {"subgroups", dispatch.subgroups},
                          {"macs", dispatch.macs},
                          {"bytes", dispatch.bytes},
                          {"barrier", dispatch.barrier},
                          {"compute_us", figure_json(dispatch.compute_us)},
                          {"memory_us", figure_json(dispatch.memory_us)},
                          {"latency_us", figure_json(dispatch.latency_us)},
                          {"overhead_us", figure_json(dispatch.overhead_us)},
                          {"steps", dispatch.steps},
                          {"busy", figure_json(dispatch.busy)},
                          {"waves", figure_json(dispatch.waves)},
                          {"efficiency", dispatch.efficiency},
                          {"predicted_us", figure_json(dispatch.predicted_us)}});
  double predicted = 0;
  for (const KernelDispatch& dispatch : report.dispatches) predicted += dispatch.predicted_us;
  return {{"stage", "kernels"},
          {"device", report.device},
          {"driver", report.driver},
          {"rates", rates_json(report.rates)},
          {"predicted_ms", figure_json(predicted / 1e3)},
          {"pipelines", std::move(pipelines)},
          {"dispatches", std::move(dispatches)}};
}

void write_code(const KernelReport& report, const io::FileName& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder.path(), failure);
  if (failure)
    throw Error(ErrorCode::io, "the folder " + folder.text() + " cannot be made: " + failure.message());
  for (size_t i = 0; i < report.pipelines.size(); ++i)
    for (size_t c = 0; c < report.pipelines[i].code.size(); ++c) {
      std::string text;
      for (const KernelRepresentation& form : report.pipelines[i].code[c].representations)
        text += "==== " + form.name + ": " + form.description + "\n" + form.text + "\n";
      io::write_text(folder.path() / fmt::format("{}.{}.txt", i, c), text);
    }
}

}  // namespace vellum::cli
