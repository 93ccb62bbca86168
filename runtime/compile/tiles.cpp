#include "compile/tiles.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "graph/operators/movement/concat.hpp"
#include "graph/operators/movement/slice.hpp"
#include "passes/tile/rows_share.hpp"
#include "plan/dispatch_model.hpp"
#include "plan/in_place.hpp"
#include "plan/join_early.hpp"
#include "plan/views.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// Returns the rows of a Winograd tile, because the sums of Winograd depend on where tiles begin.
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

// Returns whether all kernels of the operator compute in channels4. Kernels of other operators may compute in
// the layout of the graph's inputs and outputs.
bool computes_in_channels4(const Node& node) {
  const std::string_view type = node.op->type();
  return type == "Conv" || type == "ConvTranspose" || type.ends_with("Pool") || type == "Resize" ||
         type == "Upsample" || type == "DepthToSpace" || type == "SpaceToDepth";
}

// Returns whether the output is a view of the input.
bool is_view(const Node& node) {
  const std::string_view type = node.op->type();
  return type == "Reshape" || type == "Flatten" || type == "Squeeze" || type == "Unsqueeze" ||
         type == "Identity" || type == "Dropout";
}

// Returns for each node whether it may read inputs or write outputs of the graph without rounding to fp16,
// whereas a strip is rounded. This also holds for a node if another node that reads the same input may do so,
// unless the former has converted the input.
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

// The kernels that compute a node, without layout conversions, which only round to what the next kernel
// reads.
struct NodeKernels {
  std::set<std::pair<std::string, ElementType>> elements;  // that they read and write, by binding
  std::set<std::pair<std::string, decltype(Dispatch::defines)>> shaders;
};

std::map<std::string, NodeKernels> kernels_by_node(const Program& program) {
  std::map<std::string, NodeKernels> kernels;
  for (const Task& task : program.tasks) {
    if (!task.dispatch || task.dispatch->op == "Convert") continue;
    NodeKernels& of_node = kernels[task.dispatch->name];
    of_node.shaders.insert({task.dispatch->shader, task.dispatch->defines});
    for (const Binding& binding : task.dispatch->bindings)
      of_node.elements.insert({binding.name, program.tensors[binding.tensor].desc.element});
  }
  return kernels;
}

// Sums over a channels4 tensor have another order than sums over a linear tensor.
bool sums_in_order_of_layout(const Node& node) {
  const std::string_view type = node.op->type();
  return type.starts_with("Reduce") || type.starts_with("Global") || type.ends_with("Softmax") ||
         type == "SqueezeExcite" || type == "MatMul" || type == "Gemm" ||
         (type.ends_with("Normalization") && type != "BatchNormalization");
}

// Throws Error(unsupported) if a strip would round or sum in another way than the whole layer. For example,
// elementwise operators that write an output of the graph store fp16 in one layout and fp32 in the other.
void check_kernels(const WholeLayers& whole, const Program& whole_program, const Graph& graph,
                   const Program& program) {
  auto wanted = kernels_by_node(whole_program), found = kernels_by_node(program);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (whole.node_of[n] == WholeLayers::kNone) continue;
    const Node& node = graph.nodes[n];
    const NodeKernels& kernels = found[node.name];
    const NodeKernels& of_whole = wanted[whole.graph->nodes[whole.node_of[n]].name];
    const bool has_kernels = !of_whole.shaders.empty();
    if (has_kernels && kernels.elements != of_whole.elements)
      throw Error(ErrorCode::unsupported, describe(node) +
                                              ": in these strips it would round where the whole does not, or "
                                              "not where the whole does");
    if (sums_in_order_of_layout(node) && kernels.shaders != of_whole.shaders)
      throw Error(ErrorCode::unsupported, describe(node) + ": in these strips it would sum in another order");
  }
}

// Returns whether the node, which cuts or joins, does so along the images of a batch: images are contiguous
// in every order of rows.
bool moves_images(const Node& node) {
  if (const auto* concat = dynamic_cast<const Concat*>(node.op.get())) return concat->axis == 0;
  const auto* slice = dynamic_cast<const Slice*>(node.op.get());
  return slice && slice->axes->front() == 0;
}

// Returns for each value whether it is stored with rows_first, because rows of it are joined or cut out and
// are contiguous in this order. `in_place`: for each node of the whole graph, whether it may write over an
// input; then both must have the same order.
std::vector<bool> values_in_rows(const TiledGraph& tiled, const std::vector<bool>& in_place) {
  const Graph& graph = tiled.graph;
  std::vector<bool> result(graph.values.size(), false);
  const auto add = [&](const std::vector<ValueId>& values) {
    for (const ValueId value : values)
      if (value != kNoValue && !graph.constant(value)) result[value] = true;
  };
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (tiled.whole_nodes[n] != RowReads::kNone || moves_images(graph.nodes[n])) continue;
    add(graph.nodes[n].inputs);
    add(graph.nodes[n].outputs);
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (tiled.whole_nodes[n] == RowReads::kNone || !in_place[tiled.whole_nodes[n]]) continue;
    const Node& node = graph.nodes[n];
    for (const ValueId input : node.inputs)
      if (input != kNoValue && result[input] &&
          graph.values[input].type.shape == graph.values[node.outputs[0]].type.shape)
        add(node.outputs);
  }
  return result;
}

// Replaces the copies of rows between strips and whole tensors by views, which the cost model assumes,
// without asking the memory plan. Copies of rows that are kept for the next strip stay copies: a view would
// keep the rest of the strip alive, or the next strip from now on. `moves`: the nodes that cut and join rows.
void replace_row_copies(Program& program, const std::set<std::string>& moves,
                        const std::set<std::string>& kept, uint64_t alignment) {
  const auto keeps = [&](const Dispatch& dispatch) {
    return kept.contains(program.tensors[dispatch.copy->from].name) ||
           (dispatch.op == "Slice" && kept.contains(program.tensors[dispatch.copy->to].name));
  };
  for (Task& task : program.tasks)
    if (task.dispatch && task.dispatch->copy)
      task.dispatch->copy->stays = keeps(*task.dispatch) || !moves.contains(task.dispatch->name);
  replace_copies_by_views(program, alignment, [](const Program&) { return 0; });
  for (Task& task : program.tasks)
    if (task.dispatch && task.dispatch->copy) task.dispatch->copy->stays = keeps(*task.dispatch);
}

}  // namespace

TiledLowering::TiledLowering(const Graph& graph, const DeviceCaps& caps, const LoweringOptions& options)
    : graph_(graph), caps_(caps), options_(options) {
  // A strip's elementwise function would be in another kernel than the whole layer's.
  options_.fuse_epilogues = false;
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
  std::set<std::string> in_place;
  for (const Task& task : program_.tasks)
    if (!in_place_pairs(program_, task).empty()) in_place.insert(node_name(task));
  for (const Node& node : graph_.nodes) in_place_.push_back(in_place.contains(node.name));
}

TileCosts TiledLowering::costs() const {
  std::vector<TaskSync> barriers(program_.tasks.size());
  std::map<std::string, double> of_name;
  const std::vector<double> tasks = predicted_milliseconds(program_, barriers, caps_);
  for (size_t t = 0; t < tasks.size(); ++t) of_name[node_name(program_.tasks[t])] += tasks[t];
  TileCosts costs;
  for (const Node& node : graph_.nodes) costs.node_ms.push_back(of_name[node.name]);
  costs.copy = shader_copy_time(caps_);
  costs.element_bytes = options_.precision == Precision::fp16 ? 2 : 4;
  costs.in_place = in_place_;
  costs.rows_are_views = options_.storage == StorageChoice::buffer ||
                         (options_.storage == StorageChoice::automatic && !caps_.prefers_images);
  costs.keep = buffer_copy_time(caps_);
  return costs;
}

TiledLowering::Result TiledLowering::lower(const Tiling& tiling) const {
  TiledGraph tiled = tile(*reads_, tiling);
  LoweringOptions options = options_;
  options.rows_first = values_in_rows(tiled, in_place_);
  WholeLayers whole = whole_;
  whole.node_of = std::move(tiled.whole_nodes);
  options.whole_layers = &whole;
  options.value_storages.clear();
  Result result{std::move(tiled.graph), {}};
  result.program = vellum::lower(result.graph, caps_, options);
  check_kernels(whole, program_, result.graph, result.program);
  // Joins of kept rows with a strip are excluded: the joined tensor should not exist before the strip.
  std::set<std::string> joins, moves;
  for (size_t n = 0; n < result.graph.nodes.size(); ++n) {
    const Node& node = result.graph.nodes[n];
    if (whole.node_of[n] != WholeLayers::kNone) continue;
    moves.insert(node.name);
    const bool has_kept = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
      return tiled.kept.contains(result.graph.values[input].name);
    });
    if (node.op->type() == "Concat" && !has_kept) joins.insert(node.name);
  }
  std::vector<bool> is_join;
  for (const Task& task : result.program.tasks) is_join.push_back(joins.contains(node_name(task)));
  join_early(result.program, is_join);
  replace_row_copies(result.program, moves, tiled.kept, caps_.tensor_offset_alignment());
  return result;
}

// A layout conversion has the name of its node, too, but reads the whole tensor.
std::vector<double> shares_of_x(const Graph& graph, const Program& program) {
  std::unordered_map<std::string_view, double> of_node;
  for (const Node& node : graph.nodes) of_node[node.name] = share_of_rows_read(graph, node);
  std::vector<double> shares;
  for (const Task& task : program.tasks) {
    const auto found = of_node.find(node_name(task));
    shares.push_back(found == of_node.end() || operator_type(task) == "Convert" ? 1 : found->second);
  }
  return shares;
}

}  // namespace vellum
