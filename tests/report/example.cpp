#include "report/example.hpp"

#include <limits>

namespace vellum::test {
namespace {

constexpr const char* kOps[] = {"Conv", "Add", "Relu", "MaxPool", "Resize", "Concat", "Softmax"};

void add_object(MemoryReport& memory, uint64_t bytes) {
  ObjectReport object;
  object.id = static_cast<uint32_t>(memory.objects.size());
  object.kind = "image2d";
  object.extent = {static_cast<uint32_t>(bytes / 16), 1, 1};
  object.format = "rgba32f";
  object.bytes = bytes;
  memory.objects.push_back(object);
}

void add_tensor(MemoryReport& memory, const std::string& name, const std::string& op, uint32_t object,
                int64_t first, int64_t last, uint64_t bytes) {
  memory.tensors.push_back(
      {name, op, "intermediate", {1, 4, static_cast<int64_t>(bytes / 16), 1}, object, 0, first, last, bytes});
  memory.objects[object].tensors.push_back(name);
  ++memory.objects[object].reuse_count;
  memory.naive_bytes += bytes;
}

void add_layer(ProfileReport& report, const std::string& name, const std::string& op, double ms) {
  LayerTime layer{name, op, "conv", "image2d", {4, 2, 1}, ms, 0};
  if (!report.layers.empty()) layer.begin_ms = report.layers.back().begin_ms + report.layers.back().gpu_ms;
  report.layers.push_back(layer);
}

void finish(ProfileReport& report) {
  report.run = report.layers;
  for (const ObjectReport& object : report.memory.objects) report.memory.planned_bytes += object.bytes;
  report.memory.allocated_bytes = report.memory.planned_bytes;
  report.memory.lower_bound_bytes = report.memory.planned_bytes / 2;
  report.memory.weights_bytes = 4096;
  report.memory.in_out_bytes = 512;
}

// A pipeline that two dispatches run, and one of which nothing is known.
KernelReport example_kernels(const std::string& shader) {
  KernelReport report;
  KernelCode code;
  code.subgroup_size = 64;
  code.registers = 72;
  code.instructions = 1234;
  code.resident_subgroups = std::numeric_limits<double>::quiet_NaN();
  report.rates = DeviceRates{.gigamacs_per_s = 100, .gigabytes_per_s = 10};
  report.pipelines = {{shader, {{"TILE_P", "4"}}, "TILE_P=4", {64, 1, 1}, {code}},
                      {"copy", {}, {}, {8, 8, 1}, {}}};
  for (const size_t pipeline : {size_t{0}, size_t{1}, size_t{0}}) {
    KernelDispatch dispatch;
    dispatch.pipeline = pipeline;
    dispatch.macs = 500;
    dispatch.predicted_us = 7;
    report.dispatches.push_back(dispatch);
  }
  return report;
}

}  // namespace

ProfileReport hostile_profile() {
  ProfileReport report;
  report.model = "</title></script><script>document.title = 'broken'</script>";
  report.subtitle = {"<img src=x onerror=\"document.title = 'broken'\">", "&lt;", "@SCRIPT@"};
  for (const char* name : {"conv <b>1</b>", "</script><script>document.title='broken'</script>",
                           "\"quoted\" 'name' <!--", "\xff\xfe"})
    add_layer(report, name, "Conv<svg onload=alert(1)>", 0.5);
  add_object(report.memory, 1024);
  add_object(report.memory, 512);
  add_tensor(report.memory, "</script><script>document.title='broken'</script>", "Conv<svg onload=alert(1)>",
             0, 0, 1, 1024);
  add_tensor(report.memory, "<img src=x onerror=alert(1)>", "Add", 1, 1, 2, 512);
  add_tensor(report.memory, "\xff no UTF-8 \xc3", "Add", 0, 2, 3, 512);
  report.kernels = example_kernels("<img src=x onerror=alert(1)>");
  finish(report);
  return report;
}

ProfileReport large_profile(size_t count) {
  ProfileReport report;
  report.model = "large";
  for (uint32_t object = 0; object < 8; ++object) add_object(report.memory, 4096 * (object + 1));
  for (size_t i = 0; i < count; ++i) {
    const std::string op = kOps[i % std::size(kOps)];
    const auto task = static_cast<int64_t>(i), last = std::min(task + 4, static_cast<int64_t>(count) - 1);
    const auto object = static_cast<uint32_t>(i % 8);
    add_layer(report, "layer/" + std::to_string(i), op, 0.01 * static_cast<double>(1 + i % 9));
    add_tensor(report.memory, "block/" + std::to_string(i) + "/" + op + ":0", op, object, task, last,
               4096 * (object + 1) / (1 + i % 3));
  }
  // A task of the host in between: no time on the device.
  report.layers[count / 2].shader.clear();
  report.layers[count / 2].begin_ms = report.layers[count / 2].gpu_ms =
      std::numeric_limits<double>::quiet_NaN();
  for (size_t i = count / 2 + 1; i < count; ++i) report.layers[i].begin_ms = 100.0 + static_cast<double>(i);
  finish(report);
  return report;
}

}  // namespace vellum::test
