#include "compile/tiles.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "plan/dispatch_model.hpp"
#include "plan/join_early.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// The rows of a tile of Winograd's algorithm, whose sums depend on where its tiles begin.
int64_t rows_of_kernel(const std::vector<KernelName>& chosen) {
  for (const KernelName& name : chosen)
    if (name.algorithm.starts_with("winograd")) return std::stoll(name.algorithm.substr(8));
  return 1;
}

bool is_in(const std::vector<ValueId>& values, ValueId value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool is_any_in(const std::vector<ValueId>& values, const std::vector<ValueId>& list) {
  return std::any_of(values.begin(), values.end(), [&](ValueId value) { return is_in(list, value); });
}

// Other kernels may compute in the layout of inputs and outputs of the graph.
bool computes_in_channels4(const Node& node) {
  const std::string_view type = node.op->type();
  return type == "Conv" || type == "ConvTranspose" || type.ends_with("Pool") || type == "Resize" ||
         type == "Upsample" || type == "DepthToSpace" || type == "SpaceToDepth";
}

// A view of its input.
bool is_view(const Node& node) {
  const std::string_view type = node.op->type();
  return type == "Reshape" || type == "Flatten" || type == "Squeeze" || type == "Unsqueeze" ||
         type == "Identity" || type == "Dropout";
}

// Per node: whether it may read inputs, or write outputs, of the graph without rounding to halves, which a
// strip is made of; or another node that reads the same input may, unless this one has converted it.
std::vector<bool> nodes_that_may_not_round(const Graph& graph) {
  std::vector<ValueId> inputs = graph.inputs, unrounded;
  for (const Node& node : graph.nodes) {
    if (computes_in_channels4(node)) continue;
    for (const ValueId input : node.inputs)
      if (is_in(inputs, input)) unrounded.push_back(input);
    if (is_view(node) && is_in(inputs, node.inputs[0])) inputs.push_back(node.outputs[0]);
  }
  std::vector<bool> result;
  for (const Node& node : graph.nodes)
    result.push_back(is_any_in(node.inputs, unrounded) ||
                     (!computes_in_channels4(node) && is_any_in(node.outputs, graph.outputs)));
  return result;
}

// The element types in which the kernels of each node read and write, by the node's name. Conversions of
// layouts round, too, but to what the next kernel reads.
using Elements = std::map<std::string, std::set<std::pair<std::string, ElementType>>>;
Elements elements_by_node(const Program& program) {
  Elements elements;
  for (const Task& task : program.tasks) {
    if (!task.dispatch || task.dispatch->op == "Convert") continue;
    for (const Binding& binding : task.dispatch->bindings)
      elements[task.dispatch->name].insert({binding.name, program.tensors[binding.tensor].desc.element});
  }
  return elements;
}

// Elementwise operators that write an output of the graph in one layout store halves, in the other one
// floats.
void check_elements(const WholeLayers& whole, const Program& whole_program, const Graph& graph,
                    const Program& program) {
  const Elements wanted = elements_by_node(whole_program);
  Elements found = elements_by_node(program);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (whole.node_of[n] == WholeLayers::kNone) continue;
    const auto of_whole = wanted.find(whole.graph->nodes[whole.node_of[n]].name);
    if (of_whole != wanted.end() && found[graph.nodes[n].name] != of_whole->second)
      throw Error(ErrorCode::unsupported, describe(graph.nodes[n]) +
                                              ": in these strips it would round where the whole does not, or "
                                              "not where the whole does");
  }
}

}  // namespace

TiledLowering::TiledLowering(const Graph& graph, const DeviceCaps& caps, const LoweringOptions& options)
    : graph_(graph), caps_(caps), options_(options) {
  std::vector<Choice> choices;
  options_.choices = &choices;
  program_ = vellum::lower(graph_, caps_, options_);
  options_.choices = nullptr;
  whole_.graph = &graph_;
  whole_.chosen.resize(graph_.nodes.size());
  for (const Choice& choice : choices) whole_.chosen[choice.node].push_back(choice.candidates[choice.taken]);
  std::vector<int64_t> together;
  for (const std::vector<KernelName>& chosen : whole_.chosen) together.push_back(rows_of_kernel(chosen));
  std::set<std::string> on_host;
  for (const Task& task : program_.tasks)
    if (task.host) on_host.insert(node_name(task));
  std::vector<bool> fixed(graph_.nodes.size(), false);
  if (options_.precision == Precision::fp16) fixed = nodes_that_may_not_round(graph_);
  for (size_t n = 0; n < fixed.size(); ++n)
    if (on_host.contains(graph_.nodes[n].name)) fixed[n] = true;
  reads_.emplace(graph_, together, fixed);
}

TileCosts TiledLowering::costs() const {
  std::vector<TaskSync> barriers(program_.tasks.size());
  std::map<std::string, double> of_name;
  const std::vector<double> tasks = predicted_milliseconds(program_, barriers, caps_);
  for (size_t t = 0; t < tasks.size(); ++t) of_name[node_name(program_.tasks[t])] += tasks[t];
  TileCosts costs;
  for (const Node& node : graph_.nodes) costs.node_ms.push_back(of_name[node.name]);
  costs.launch_ms = launch_milliseconds(caps_);
  costs.ms_per_byte = copy_milliseconds_per_byte(caps_);
  costs.element_bytes = options_.precision == Precision::fp16 ? 2 : 4;
  return costs;
}

TiledLowering::Result TiledLowering::lower(const Tiling& tiling) const {
  TiledGraph tiled = tile(*reads_, tiling);
  WholeLayers whole = whole_;
  whole.node_of = std::move(tiled.whole_nodes);
  LoweringOptions options = options_;
  options.whole_layers = &whole;
  options.value_storages.clear();
  Result result{std::move(tiled.graph), {}};
  result.program = vellum::lower(result.graph, caps_, options);
  check_elements(whole, program_, result.graph, result.program);
  std::set<std::string> joins;
  for (size_t n = 0; n < result.graph.nodes.size(); ++n)
    if (whole.node_of[n] == WholeLayers::kNone && result.graph.nodes[n].op->type() == "Concat")
      joins.insert(result.graph.nodes[n].name);
  std::vector<bool> is_join;
  for (const Task& task : result.program.tasks) is_join.push_back(joins.contains(node_name(task)));
  join_early(result.program, is_join);
  return result;
}

}  // namespace vellum
