#include "vellum/tune.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <vector>

#include "api/cache_capacity.hpp"
#include "api/guard.hpp"
#include "api/impl.hpp"
#include "api/tensor_names.hpp"
#include "compile/tuned_storages.hpp"
#include "exec/executor.hpp"
#include "kernels/fused/fused_kernels.hpp"
#include "passes/caches/growing_caches.hpp"
#include "tune/one_node.hpp"
#include "tune/time_network.hpp"
#include "tune/tune_operators.hpp"
#include "vulkan/timestamps.hpp"

namespace vellum {
namespace {

using Clock = std::chrono::steady_clock;

// A network with tuned kernels is kept unless it takes more than this factor of the time without: the clock's
// noise may make it seem slower.
constexpr double kNoise = 1.05;

TunedOperator to_public(const Graph& graph, const OperatorKind& kind) {
  const Node& node = graph.nodes[kind.choice.node];
  const auto time = [&](const std::string& candidate) {
    const auto found = kind.times.find(candidate);
    return found == kind.times.end() ? 0.0 : found->second;
  };
  TunedOperator result;
  result.op = node.op->type();
  result.name = node.name;
  result.output = graph.values[node.outputs.front()].type.shape;
  result.count = kind.nodes;
  result.candidates = kind.choice.candidates.size();
  result.untuned = kind.choice.candidates.front().text();
  result.tuned = kind.choice.candidates[kind.choice.taken].text();
  result.untuned_us = time(result.untuned);
  result.tuned_us = time(result.tuned);
  result.measured = kind.measured;
  return result;
}

class Tuner {
 public:
  Tuner(const Device& device, const Model& model, const SessionOptions& options,
        const TuneOptions& tune_options)
      : device_(device),
        options_(options),
        tune_options_(tune_options),
        compile_options_(impl(device)->compile_options(options)),
        graph_(prepare_graph(impl(model)->graph, impl(device)->context->caps(), compile_options_)),
        weights_(impl(device)->weights_for(model, options)),
        before_(*impl(device)->tuning()) {
    operators_.context = impl(device)->context;
    // A run must not change what the next one computes: states are inputs and outputs here.
    compile_options_.state.clear();
    // Layers are fused as in sessions: a fused kernel is one node, which has candidates.
    fuse(graph_, operators_.context->caps(), options.precision, compile_options_.wrong_kernels.get());
    operators_.again = tune_options.again;
    operators_.are_right = [this](std::span<const Program> programs) {
      return impl(device_)->have_right_kernels(programs, options_.precision, options_.arithmetic);
    };
    if (tune_options.seconds > 0)
      operators_.deadline = begin_ + std::chrono::duration_cast<Clock::duration>(
                                         std::chrono::duration<double>(std::min(tune_options.seconds, 1e6)));
    fingerprint_ = network_fingerprint(graph_, options.precision);
  }

  TuneReport run() {
    TuningTable table = before_;
    table.storages.erase(fingerprint_);
    std::vector<TuningTable> tables;
    std::vector<std::vector<OperatorKind>> kinds;
    for (const std::vector<StorageChoice>& storages : worthwhile_storages()) {
      kinds.push_back(tune_with(storages, table));
      tables.push_back(table);
      if (!storages.empty()) tables.back().storages[fingerprint_] = storages;
    }
    for (TuningTable& each : tables) each.operators = table.operators;
    return choose(std::move(tables), kinds);
  }

 private:
  void report_progress(const TuneProgress& progress) const {
    if (tune_options_.progress)
      call_application("the function that is told of progress", [&] { tune_options_.progress(progress); });
  }

  // Returns the network as a session with this table runs it; null: without measurements.
  std::unique_ptr<Executor> make_executor(std::shared_ptr<const TuningTable> table, bool timestamps) {
    compile_options_.tuning = std::move(table);
    auto executor = std::make_unique<Executor>(
        operators_.context,
        std::make_shared<const CompiledModel>(impl(device_)->compile(graph_, compile_options_)),
        ExecutorOptions{.submits = impl(device_)->submit_limits(options_), .timestamps = timestamps},
        weights_);
    set_some_inputs(*executor);
    set_cache_length(*executor);
    return executor;
  }

  // Fills half of growing caches: attention takes the longer, the more tokens they have.
  void set_cache_length(Executor& executor) const {
    const std::vector<Port>& inputs = executor.program().inputs;
    const auto length = std::ranges::find(inputs, kCacheLength, &Port::name);
    if (length == inputs.end() || length->type != TensorType{DType::i64, {1}}) return;
    const int64_t room = int64_t{options_.state_capacity} - tokens_of_run(graph_);
    executor.set_input(static_cast<size_t>(length - inputs.begin()),
                       HostTensor::i64({1}, std::vector<int64_t>{std::max<int64_t>(room, 0) / 2}));
  }

  std::unique_ptr<Executor> make_executor(const std::vector<StorageChoice>& storages, bool timestamps) {
    TuningTable table;
    table.storages[fingerprint_] = storages;
    return make_executor(std::make_shared<const TuningTable>(std::move(table)), timestamps);
  }

  // Returns the storages to try: the device's default first, then others that may be quicker. Empty: the
  // options name the storage.
  std::vector<std::vector<StorageChoice>> worthwhile_storages() {
    std::vector<std::vector<StorageChoice>> all{{}};
    if (!tune_options_.storages || options_.storage != StorageChoice::automatic) return all;
    if (!gpu::timestamps_supported(*operators_.context)) return quickest_whole_network();
    size_t done = 0;
    std::map<std::vector<StorageChoice>, std::unique_ptr<Executor>> made;
    const auto [problem, image] =
        measure_storages(graph_, [&](const std::vector<std::vector<StorageChoice>>& networks) {
          std::vector<std::unique_ptr<Executor>> executors;
          for (const std::vector<StorageChoice>& storages : networks) {
            if (made[storages] == nullptr) {
              report_progress({"storages", ++done, 5, nullptr});
              made[storages] = make_executor(storages, true);
            }
            executors.push_back(std::move(made[storages]));
          }
          made.clear();  // frees networks that are not needed any more
          std::vector<std::vector<double>> times = node_times(graph_, executors);
          for (size_t i = 0; i < networks.size(); ++i) made[networks[i]] = std::move(executors[i]);
          return times;
        });
    const InImages buffers(graph_.values.size(), false), images(graph_.values.size(), true);
    const InImages& liked = operators_.context->caps().prefers_images ? images : buffers;
    const InImages& other = operators_.context->caps().prefers_images ? buffers : images;
    const InImages best = assign_storages(problem);
    // Devices that prefer images are assumed to prefer image2d.
    if (liked == images && image != StorageChoice::image2d) all.push_back(to_storages(liked, image));
    const double bar = kClearlyQuicker * cost(problem, liked);
    if (cost(problem, other) < bar) all.push_back(to_storages(other, image));
    if (best != liked && best != other && cost(problem, best) < bar) all.push_back(to_storages(best, image));
    return all;
  }

  // Without timestamps only whole networks can be compared, by the clock, not their operators.
  std::vector<std::vector<StorageChoice>> quickest_whole_network() {
    std::vector<std::vector<StorageChoice>> others;
    for (const StorageChoice storage :
         {StorageChoice::buffer, StorageChoice::image2d, StorageChoice::image3d})
      if (storage !=
          (operators_.context->caps().prefers_images ? StorageChoice::image2d : StorageChoice::buffer))
        others.emplace_back(graph_.values.size(), storage);
    std::vector<std::unique_ptr<Executor>> networks;
    networks.push_back(make_executor(nullptr, false));
    for (const std::vector<StorageChoice>& storages : others)
      networks.push_back(make_executor(storages, false));
    const std::vector<double> times = least_times(networks);
    std::vector<std::vector<StorageChoice>> all{{}};
    const size_t best = times[1] <= times[2] ? 1 : 2;
    if (times[best] < kClearlyQuicker * times[0]) all.push_back(std::move(others[best - 1]));
    return all;
  }

  std::vector<OperatorKind> tune_with(const std::vector<StorageChoice>& storages, TuningTable& table) {
    LoweringOptions lowering{.precision = options_.precision,
                             .storage = options_.storage,
                             .winograd = options_.winograd,
                             .arithmetic = options_.arithmetic,
                             .value_storages = storages};
    operators_.progress = [&](size_t done, size_t total, const OperatorKind& kind) {
      const TunedOperator last = to_public(graph_, kind);
      report_progress({"operators", done, total, &last});
    };
    return tune_operators(graph_, lowering, operators_, table);
  }

  // Returns the quickest network, without a table or with one of these.
  TuneReport choose(std::vector<TuningTable> tables, const std::vector<std::vector<OperatorKind>>& kinds) {
    std::vector<std::unique_ptr<Executor>> networks;
    networks.push_back(make_executor(nullptr, false));
    for (const TuningTable& table : tables)
      networks.push_back(make_executor(std::make_shared<const TuningTable>(table), false));
    report_progress({"network", 0, networks.size(), nullptr});
    const std::vector<double> times = least_times(networks);
    report_progress({"network", networks.size(), networks.size(), nullptr});
    size_t best = 1;  // the device's default, unless another storage is clearly quicker
    for (size_t i = 2; i < times.size(); ++i)
      if (times[i] < kClearlyQuicker * times[best]) best = i;
    TuneReport report;
    report.kept = !anything_new(tables[best - 1], kinds) || times[best] <= kNoise * times[0];
    const size_t now = report.kept ? best : 0;
    if (report.kept) impl(device_)->keep_tuning(std::move(tables[best - 1]));
    for (const OperatorKind& kind : kinds[best - 1]) report.operators.push_back(to_public(graph_, kind));
    report.storage = storage_of(networks[now]->program());
    report.untuned_ms = times[0];
    report.tuned_ms = times[now];
    report.untuned_weights_bytes = networks[0]->weight_bytes().in_all;
    report.tuned_weights_bytes = networks[now]->weight_bytes().in_all;
    report.complete = !operators_.is_late();
    report.warnings = operators_.warnings;
    report.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    return report;
  }

  bool anything_new(const TuningTable& table, const std::vector<std::vector<OperatorKind>>& kinds) const {
    return table.storages != before_.storages ||
           std::any_of(kinds.begin(), kinds.end(), [](const std::vector<OperatorKind>& of_storages) {
             return std::any_of(of_storages.begin(), of_storages.end(),
                                [](const OperatorKind& kind) { return kind.measured; });
           });
  }

  // The storage of the tensors in channels4; those in linear layout are always in buffers.
  static std::string storage_of(const Program& program) {
    std::string found;
    for (const VirtualTensor& tensor : program.tensors) {
      if (tensor.role != TensorRole::intermediate || tensor.desc.layout != Layout::channels4) continue;
      const std::string_view storage = name(tensor.desc.storage);
      if (!found.empty() && found != storage) return "mixed";
      found = storage;
    }
    return found.empty() ? std::string(name(Storage::buffer)) : found;
  }

  const Clock::time_point begin_ = Clock::now();
  Device device_;
  SessionOptions options_;
  TuneOptions tune_options_;
  CompileOptions compile_options_;
  Graph graph_;
  std::shared_ptr<WeightSource> weights_;
  TuningTable before_;
  OperatorTuning operators_;
  std::string fingerprint_;
};

}  // namespace

TuneReport tune(const Device& device, const Model& model, const SessionOptions& options,
                const TuneOptions& tune_options) {
  return guard([&] {
    if (options.weights_budget > 0)
      throw Error(ErrorCode::invalid_argument,
                  "with a weights_budget nothing that was tuned is used: tune without one");
    const Model whole = with_cache_capacity(model, options);
    return Tuner(device, whole, by_tensor_name(whole, options), tune_options).run();
  });
}

void forget_tuning(const Device& device) {
  guard([&] { impl(device)->keep_tuning({}); });
}

}  // namespace vellum
