// How the planner's strategies grow with the number of records, at 1k, 10k and 100k: a chain of tasks like
// that of a network, where each tensor lives for up to 20 tasks, so that about ten are live at once. The fit
// of growth to n log n is printed below each group.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "vellum/planner/plan.hpp"

namespace {

using namespace vellum::planner;

std::vector<TensorUsageRecord> records_like_a_network(int64_t count) {
  std::mt19937_64 random(1);
  std::vector<TensorUsageRecord> records;
  for (int64_t task = 0; task < count; ++task) {
    const auto life = static_cast<int64_t>(random() % 20);
    records.push_back({Bytes{64 * (1 + random() % 100000)}, task, task + life});
  }
  return records;
}

void objects(benchmark::State& state, ObjectStrategy strategy) {
  const auto records = records_like_a_network(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(plan_objects(records, strategy));
  state.SetComplexityN(state.range(0));
}

void offsets(benchmark::State& state, OffsetStrategy strategy) {
  const auto records = records_like_a_network(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(plan_offsets(records, strategy));
  state.SetComplexityN(state.range(0));
}

void validation(benchmark::State& state) {
  const auto records = records_like_a_network(state.range(0));
  const OffsetPlan plan = plan_offsets(records, OffsetStrategy::greedy_by_size);
  for (auto _ : state) validate(records, plan);
  state.SetComplexityN(state.range(0));
}

void at_all_sizes(benchmark::internal::Benchmark* bench) {
  bench->Arg(1000)->Arg(10000)->Arg(100000)->Complexity(benchmark::oNLogN)->Unit(benchmark::kMillisecond);
}

void register_all() {
  for (const ObjectStrategy strategy : all_object_strategies()) {
    // Without a budget these two are the sum of the others.
    if (strategy == ObjectStrategy::exact || strategy == ObjectStrategy::best) continue;
    if (most_records(strategy) < 100000) continue;
    at_all_sizes(
        benchmark::RegisterBenchmark(("objects/" + std::string(name(strategy))).c_str(), objects, strategy));
  }
  for (const OffsetStrategy strategy : all_offset_strategies()) {
    if (strategy == OffsetStrategy::exact || strategy == OffsetStrategy::best) continue;
    at_all_sizes(
        benchmark::RegisterBenchmark(("offsets/" + std::string(name(strategy))).c_str(), offsets, strategy));
  }
  at_all_sizes(benchmark::RegisterBenchmark("validate/offsets", validation));
}

}  // namespace

int main(int argc, char** argv) {
  register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
