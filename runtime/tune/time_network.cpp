#include "tune/time_network.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <string>

#include "tune/one_node.hpp"
#include "tune/repeat_until_converged.hpp"

namespace vellum {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::chrono::milliseconds kTimeForRuns{3000};
// The least of two noisy times is less than either.
constexpr double kWorthMixing = 0.9;
// Where images are slow, those of another kind are hardly quick, and drivers take seconds to compile for
// them.
constexpr double kMuchSlower = 1.25;

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
    op.cost = {{{kInfinite, kInfinite}, {kInfinite, kInfinite}}};
    for (const ValueId id : node.inputs)
      if (id != kNoValue && !graph.constant(id)) op.inputs.push_back(id);
    for (const ValueId id : node.outputs)
      if (id != kNoValue) op.outputs.push_back(id);
  }
  return problem;
}

std::vector<double> times_in(const std::map<std::string, size_t>& node_of_name, const Executor& executor) {
  const std::vector<double> tasks = executor.task_milliseconds();
  std::vector<double> times(node_of_name.size(), 0.0);
  for (size_t i = 0; i < tasks.size(); ++i) {
    const Task& task = executor.program().tasks[i];
    const auto node = node_of_name.find(node_name(task));
    if (node != node_of_name.end() && !std::isnan(tasks[i])) times[node->second] += tasks[i];
  }
  return times;
}

double sum(const std::vector<double>& times) { return std::accumulate(times.begin(), times.end(), 0.0); }

// Keeps the least times of the operators, by whether their inputs and outputs are in images.
void count(StorageProblem& problem, const std::vector<InImages>& mixtures,
           const std::vector<std::vector<double>>& times) {
  for (size_t mixture = 0; mixture < mixtures.size(); ++mixture)
    for (size_t i = 0; i < problem.operators.size(); ++i) {
      StorageProblem::Operator& op = problem.operators[i];
      const bool output = !op.outputs.empty() && mixtures[mixture][op.outputs.front()];
      const bool input = op.inputs.empty() ? output : mixtures[mixture][op.inputs.front()];
      op.cost[input][output] = std::min(op.cost[input][output], times[mixture][i]);
    }
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
  repeat_until_converged(kTimeForRuns, [&] {
    for (size_t i = 0; i < networks.size(); ++i)
      least[i] = std::min(least[i], run_and_time(*networks[i], false));
    return sum(least);
  });
  return least;
}

std::vector<StorageChoice> to_storages(const InImages& in_images, StorageChoice image) {
  std::vector<StorageChoice> storages;
  for (const bool is_image : in_images) storages.push_back(is_image ? image : StorageChoice::buffer);
  return storages;
}

std::vector<std::vector<double>> node_times(const Graph& graph,
                                            const std::vector<std::unique_ptr<Executor>>& networks) {
  std::map<std::string, size_t> node_of_name;
  for (const Node& node : graph.nodes) node_of_name.emplace(node.name, node_of_name.size());
  std::vector<std::vector<double>> least(networks.size(),
                                         std::vector<double>(node_of_name.size(), kInfinite));
  for (const auto& network : networks) network->run();
  repeat_until_converged(kTimeForRuns, [&] {
    double sum = 0;
    for (size_t n = 0; n < networks.size(); ++n) {
      networks[n]->run();
      const std::vector<double> times = times_in(node_of_name, *networks[n]);
      for (size_t i = 0; i < times.size(); ++i) sum += least[n][i] = std::min(least[n][i], times[i]);
    }
    return sum;
  });
  std::vector<std::vector<double>> of_nodes(networks.size());
  for (size_t n = 0; n < networks.size(); ++n)
    for (const Node& node : graph.nodes) of_nodes[n].push_back(least[n][node_of_name.at(node.name)]);
  return of_nodes;
}

MeasuredStorages measure_storages(const Graph& graph, const TimeNodes& time) {
  MeasuredStorages measured{problem_of(graph)};
  const std::vector<bool> odd = odd_values(graph);
  std::vector<InImages> mixtures;
  std::vector<std::vector<StorageChoice>> networks;
  const auto add = [&](bool even_images, bool odd_images, StorageChoice image) {
    InImages& in_images = mixtures.emplace_back();
    for (const bool is_odd : odd) in_images.push_back(is_odd ? odd_images : even_images);
    networks.push_back(to_storages(in_images, image));
  };
  add(false, false, StorageChoice::buffer);
  add(true, true, StorageChoice::image2d);
  std::vector<std::vector<double>> times = time(networks);
  if (sum(times[1]) < kMuchSlower * sum(times[0])) {
    add(true, true, StorageChoice::image3d);
    times = time(networks);
    if (sum(times[2]) < kClearlyQuicker * sum(times[1])) measured.image = StorageChoice::image3d;
    const std::ptrdiff_t slower = measured.image == StorageChoice::image3d ? 1 : 2;
    networks.erase(networks.begin() + slower);
    mixtures.erase(mixtures.begin() + slower);
    times.erase(times.begin() + slower);
  }
  count(measured.problem, mixtures, times);
  if (!may_mix(measured.problem)) return measured;
  add(false, true, measured.image);
  add(true, false, measured.image);
  count(measured.problem, mixtures, time(networks));
  return measured;
}

}  // namespace vellum
