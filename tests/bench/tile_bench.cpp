// Layers in strips: bytes of intermediate tensors and time of every tiling that the cost model offers.
//
//   tile_bench ROUNDS NETWORK...
//
// A network is the file of a model, `unet` (256 x 256) or `super_resolution` (256 x 256 to 768 x 768), and
// with `@8` after it eight images at a time. Prints a JSON object in a line for the network in whole layers,
// by the smallest plan, and for each tiling that needs less than those before it. Times are of the processor,
// in all threads, of runs in turn. Fails where an output differs in a bit from that of whole layers.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compile/compile.hpp"
#include "estimate/device_footprint.hpp"
#include "estimate/run_time.hpp"
#include "exec/executor.hpp"
#include "import/import.hpp"
#include "rounds_main.hpp"
#include "support/tensors.hpp"
#include "tile/local_networks.hpp"
#include "vellum/vellum.hpp"
#include "vulkan/context.hpp"

namespace {

using vellum::CompiledModel, vellum::Graph, vellum::HostTensor, vellum::Tiling;

struct Row {
  std::shared_ptr<const CompiledModel> model;
  std::unique_ptr<vellum::Executor> executor;
  Tiling tiling;
  double predicted_ms = 0;
  std::vector<double> cpu_ms = {};
};

class Network {
 public:
  // `images`: of a batch; 0: as the model says.
  Network(std::shared_ptr<vellum::gpu::Context> context, const std::string& name, int64_t images)
      : context_(std::move(context)),
        name_(name.ends_with(".onnx") || name.ends_with(".tflite") ? stem(name) : name),
        imported_(import(name)),
        images_(images) {}

  // Returns false where a bit differs.
  bool measure(int rounds) {
    vellum::CompileOptions options{.plan = {.mode = vellum::MemoryMode::offsets}};
    for (const vellum::ValueId input : imported_.inputs) {
      if (images_ == 0) continue;
      vellum::Shape shape = imported_.values[input].type.shape;
      shape[0] = images_;
      options.input_shapes[imported_.values[input].name] = shape;
    }
    const Graph graph = vellum::prepare_graph(imported_, context_->caps(), options);
    inputs_ = vellum::test::random_inputs(graph, 1);
    bool right = add(graph, options);
    for (const vellum::PredictedTiling& tiling : vellum::tilings(graph, context_->caps(), options)) {
      options.tiling = tiling.nodes;
      right = add(graph, options) && right;
    }
    for (int round = 0; round < rounds; ++round)
      for (Row& row : rows_) {
        const std::clock_t begin = std::clock();
        row.executor->run();
        row.cpu_ms.push_back(1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
      }
    return right;
  }

  void print() {
    for (Row& row : rows_) {
      std::sort(row.cpu_ms.begin(), row.cpu_ms.end());
      std::string tiles;
      for (const vellum::TiledNodes& tiled : row.tiling)
        tiles += (tiles.empty() ? "" : " ") + std::to_string(tiled.first) + "-" + std::to_string(tiled.end) +
                 "/" + std::to_string(tiled.strips) +
                 (tiled.axis == vellum::ImageAxis::images ? " of the images"
                                                          : " keeping " + std::to_string(tiled.kept.size()));
      std::printf("{\"network\": \"%s\", \"images\": %" PRId64 ", \"intermediates_bytes\": %" PRIu64
                  ", \"tasks\": %zu, \"predicted_ms\": %.6g, \"cpu_min_ms\": %.6g, \"cpu_median_ms\": %.6g, "
                  "\"tiles\": \"%s\"}\n",
                  name_.c_str(), images_, row.model->plan.planned_bytes, row.model->program.tasks.size(),
                  row.predicted_ms, row.cpu_ms.front(), row.cpu_ms[row.cpu_ms.size() / 2], tiles.c_str());
    }
    std::fflush(stdout);
  }

 private:
  static std::string stem(const std::filesystem::path& file) {
    return file.stem() == "model" ? file.parent_path().stem().string() : file.stem().string();
  }

  static Graph import(const std::string& name) {
    if (name == "unet") return vellum::test::unet({1, 3, 256, 256}).graph();
    if (name == "super_resolution") return vellum::test::super_resolution({1, 3, 256, 256}).graph();
    return vellum::import_model(name);
  }

  bool add(const Graph& graph, const vellum::CompileOptions& options) {
    auto model =
        std::make_shared<const CompiledModel>(vellum::compile_prepared(graph, context_->caps(), options));
    if (!rows_.empty() && model->plan.planned_bytes >= rows_.back().model->plan.planned_bytes) return true;
    const vellum::EstimateInputs in{*model, imported_, context_->caps(),
                                    vellum::modelled_rules(context_->caps())};
    Row row{model, std::make_unique<vellum::Executor>(context_, model), options.tiling,
            predicted_run(in, device_footprint(in).weights).ms};
    for (size_t i = 0; i < inputs_.size(); ++i) row.executor->set_input(i, inputs_[i]);
    row.executor->run();
    bool same = true;
    for (size_t i = 0; i < model->program.outputs.size(); ++i) {
      HostTensor output = row.executor->output(i);
      if (rows_.empty())
        wanted_.push_back(std::move(output));
      else
        same = vellum::test::same_bits(output, wanted_[i]) && same;
    }
    if (!same) std::fprintf(stderr, "tile_bench: %s: other bits\n", name_.c_str());
    rows_.push_back(std::move(row));
    return same;
  }

  const std::shared_ptr<vellum::gpu::Context> context_;
  const std::string name_;
  const Graph imported_;
  const int64_t images_;
  std::vector<HostTensor> inputs_, wanted_;
  std::vector<Row> rows_;
};

bool measure(int rounds, const std::vector<std::string>& names) {
  vellum::gpu::ContextOptions options;
  options.cache_folder = vellum::default_cache_folder();
  const std::shared_ptr<vellum::gpu::Context> context = vellum::gpu::Context::create(options);
  bool right = true;
  for (const std::string& name : names) {
    const size_t at = name.rfind('@');
    Network network(context, name.substr(0, at),
                    at == std::string::npos ? 0 : std::stoll(name.substr(at + 1)));
    right = network.measure(rounds) && right;
    network.print();
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  return vellum::bench::rounds_main(argc, argv, "tile_bench ROUNDS NETWORK...", measure);
}
