#include "tune/time_network.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>

#include "tune/one_node.hpp"

namespace vellum {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::chrono::milliseconds kTimeForRuns{3000};
constexpr double kWorthMixing = 0.95;
constexpr int kSettledAfter = 4;

// Calls `run`, which returns the sum of the least times so far, until that has settled: what else the machine
// does only makes times longer.
template <typename Run>
void repeat(Run run) {
  const auto begin = std::chrono::steady_clock::now();
  double settled = kInfinite;
  for (int same = 0; same < kSettledAfter && std::chrono::steady_clock::now() - begin < kTimeForRuns;
       ++same) {
    const double sum = run();
    if (sum < 0.99 * settled) {
      same = 0;
      settled = sum;
    }
  }
}

// Values by how many operators lie between an input and them: even or odd. Along the first inputs of
// operators, so that each of these reads the one and writes the other.
std::vector<bool> odd_values(const Graph& graph) {
  std::vector<bool> odd(graph.values.size(), false);
  for (const Node& node : graph.nodes) {
    const auto first = std::find_if(node.inputs.begin(), node.inputs.end(),
                                    [&](ValueId id) { return id != kNoValue && !graph.constant(id); });
    const bool of_outputs = first == node.inputs.end() || !odd[*first];
    for (const ValueId id : node.outputs)
      if (id != kNoValue) odd[id] = of_outputs;
  }
  return odd;
}

StorageProblem problem_of(const Graph& graph) {
  StorageProblem problem;
  problem.values = graph.values.size();
  for (const Node& node : graph.nodes) {
    StorageProblem::Operator& op = problem.operators.emplace_back();
    for (const ValueId id : node.inputs)
      if (id != kNoValue && !graph.constant(id)) op.inputs.push_back(id);
    for (const ValueId id : node.outputs)
      if (id != kNoValue) op.outputs.push_back(id);
  }
  return problem;
}

// Whether operators taken one by one, with no regard to what others want, would take clearly less than all in
// buffers or all in images.
bool may_mix(const StorageProblem& problem) {
  double buffers = 0, images = 0, best = 0;
  for (const StorageProblem::Operator& op : problem.operators) {
    buffers += op.cost[0][0];
    images += op.cost[1][1];
    best += std::min(op.cost[0][0], op.cost[1][1]);
  }
  return best < kWorthMixing * std::min(buffers, images);
}

}  // namespace

std::vector<double> least_times(const std::vector<std::unique_ptr<Executor>>& networks) {
  std::vector<double> least(networks.size(), kInfinite);
  for (const auto& network : networks) network->run();  // drivers compile at the first dispatch
  repeat([&] {
    for (size_t i = 0; i < networks.size(); ++i)
      least[i] = std::min(least[i], run_and_time(*networks[i], false));
    return std::accumulate(least.begin(), least.end(), 0.0);
  });
  return least;
}

std::vector<double> node_times(const Graph& graph, Executor& executor) {
  std::map<std::string, size_t> of_name;
  for (size_t i = 0; i < graph.nodes.size(); ++i) of_name.emplace(graph.nodes[i].name, i);
  std::vector<double> least(graph.nodes.size(), kInfinite);
  executor.run();
  repeat([&] {
    executor.run();
    const std::vector<double> tasks = executor.task_milliseconds();
    std::vector<double> times(graph.nodes.size(), 0.0);
    for (size_t i = 0; i < tasks.size(); ++i) {
      const Task& task = executor.program().tasks[i];
      const auto node = of_name.find(task.dispatch ? task.dispatch->name : task.host->name);
      if (node != of_name.end() && !std::isnan(tasks[i])) times[node->second] += tasks[i];
    }
    for (size_t i = 0; i < times.size(); ++i) least[i] = std::min(least[i], times[i]);
    return std::accumulate(least.begin(), least.end(), 0.0);
  });
  return least;
}

std::vector<StorageChoice> to_storages(const InImages& in_images) {
  std::vector<StorageChoice> storages;
  for (const bool image : in_images)
    storages.push_back(image ? StorageChoice::image2d : StorageChoice::buffer);
  return storages;
}

StorageProblem measure_storages(
    const Graph& graph,
    const std::function<std::unique_ptr<Executor>(const std::vector<StorageChoice>&)>& make) {
  StorageProblem problem = problem_of(graph);
  for (StorageProblem::Operator& op : problem.operators)
    op.cost = {{{kInfinite, kInfinite}, {kInfinite, kInfinite}}};
  const std::vector<bool> odd = odd_values(graph);
  const auto measure = [&](bool even_images, bool odd_images) {
    InImages in_images;
    for (const bool is_odd : odd) in_images.push_back(is_odd ? odd_images : even_images);
    const std::vector<double> times = node_times(graph, *make(to_storages(in_images)));
    for (size_t i = 0; i < times.size(); ++i) {
      StorageProblem::Operator& op = problem.operators[i];
      const bool output = !op.outputs.empty() && in_images[op.outputs.front()];
      const bool input = op.inputs.empty() ? output : in_images[op.inputs.front()];
      op.cost[input][output] = times[i];
    }
  };
  measure(false, false);
  measure(true, true);
  if (!may_mix(problem)) return problem;
  measure(false, true);
  measure(true, false);
  return problem;
}

}  // namespace vellum
