// The time that memory budgets cost: each network within the budgets of its frontier.
//
//   budget_bench ROUNDS MODEL...
//
// prints a JSON object in a line for each network and budget. Times are the fastest of ROUNDS runs, one of
// every budget of the network after the other. `peak_bytes` is what a layer between Vellum and the Vulkan
// loader counts. Fails if a budget was exceeded at any time, or an output differs in a bit.
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/impl.hpp"
#include "rounds_main.hpp"
#include "session_values.hpp"
#include "vellum/memory_frontier.hpp"
#include "vulkan/interposer.hpp"

namespace {

using vellum::FrontierPoint;
using vellum::bench::random_inputs, vellum::bench::same_bits, vellum::bench::Tensors;

// Open dimensions are given as for a photo: 1x3x224x224.
vellum::InputShapes shapes_of(const vellum::Model& model) {
  vellum::InputShapes shapes;
  for (const vellum::TensorInfo& input : model.inputs()) {
    vellum::Shape shape = input.shape;
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] == vellum::kUnknownDim) shape[i] = i == 0 ? 1 : 224;
    if (shape != input.shape) shapes[input.name] = shape;
  }
  return shapes;
}

struct Row {
  FrontierPoint point;
  vellum::Session session;
  uint64_t peak_bytes = 0;  // that the interposer counted
  // The least of all rounds: on the clock, and of the processor in all threads of the process.
  double milliseconds = std::numeric_limits<double>::infinity();
  double cpu_milliseconds = std::numeric_limits<double>::infinity();
};

class Network {
 public:
  Network(vellum::test::Interposer& vulkan, const vellum::Device& device, const std::filesystem::path& file)
      : vulkan_(vulkan),
        device_(device),
        name_(file.stem() == "model" ? file.parent_path().stem().string() : file.stem().string()),
        model_(vellum::Model::load(file)) {
    options_.input_shapes = shapes_of(model_);
  }

  // Returns false where a budget was exceeded or a bit differs.
  bool measure(int rounds) {
    vellum::Session resident(device_, model_, options_);
    inputs_ = random_inputs(resident);
    wanted_ = resident.run(inputs_);
    const vellum::MemoryFrontier frontier = vellum::memory_frontier(model_, options_, device_);
    bool right = true;
    for (const FrontierPoint& point : frontier.points) right = add(point) && right;
    for (int round = 0; round < rounds; ++round)
      for (Row& row : rows_) time(row);
    return right;
  }

  void print() const {
    for (const Row& row : rows_) {
      const FrontierPoint& point = row.point;
      std::printf("{\"network\": \"%s\", \"budget\": %" PRIu64 ", \"peak_bytes\": %" PRIu64
                  ", \"streamed_bytes\": %" PRIu64
                  ", \"predicted_ms\": %.6g, \"measured_ms\": %.6g, \"cpu_ms\": "
                  "%.6g}\n",
                  name_.c_str(), point.budget, row.peak_bytes, point.streamed_bytes, point.predicted_ms,
                  row.milliseconds, row.cpu_milliseconds);
    }
    std::fflush(stdout);
  }

 private:
  bool add(const FrontierPoint& point) {
    vellum::SessionOptions options = options_;
    options.memory_budget = point.budget;
    const uint64_t before = vulkan_.allocated_bytes();
    vulkan_.reset_peak();
    Row row{point, vellum::Session(device_, model_, options)};
    const bool same =
        same_bits(row.session.run(inputs_), wanted_) && same_bits(row.session.run(inputs_), wanted_);
    row.peak_bytes = vulkan_.peak_bytes() - before;
    const bool kept = row.peak_bytes <= point.budget;
    if (!same || !kept)
      std::fprintf(stderr, "budget_bench: %s, %" PRIu64 " bytes: %s\n", name_.c_str(), point.budget,
                   kept ? "other bits" : "exceeded");
    rows_.push_back(std::move(row));
    return same && kept;
  }

  static void time(Row& row) {
    const auto begin = std::chrono::steady_clock::now();
    const std::clock_t cpu_begin = std::clock();
    row.session.run();
    const std::clock_t cpu = std::clock() - cpu_begin;
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    row.milliseconds = std::min(row.milliseconds, took.count());
    row.cpu_milliseconds = std::min(row.cpu_milliseconds, 1e3 * static_cast<double>(cpu) / CLOCKS_PER_SEC);
  }

  vellum::test::Interposer& vulkan_;
  const vellum::Device& device_;
  std::string name_;
  vellum::Model model_;
  vellum::SessionOptions options_;
  Tensors inputs_, wanted_;
  std::vector<Row> rows_;
};

bool measure(int rounds, const std::vector<std::string>& files) {
  vellum::test::Interposer vulkan;
  vellum::gpu::ContextOptions options;
  options.get_instance_proc_addr = vulkan.get_instance_proc_addr();
  options.cache_folder = vellum::default_cache_folder();
  auto implementation = std::make_shared<vellum::Device::Impl>();
  implementation->context = vellum::gpu::Context::create(options);
  const vellum::Device device = vellum::Handles::device(std::move(implementation));
  bool right = true;
  for (const auto& file : files) {
    Network network(vulkan, device, file);
    right = network.measure(rounds) && right;
    network.print();
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  return vellum::bench::rounds_main(argc, argv, "budget_bench ROUNDS MODEL...", measure);
}
