#include <algorithm>

#include "api/guard.hpp"
#include "api/impl.hpp"
#include "api/model_format.hpp"
#include "api/target.hpp"
#include "api/tensor_names.hpp"
#include "compile/stage_json.hpp"
#include "import/import.hpp"
#include "pack/graph.hpp"
#include "passes/passes.hpp"
#include "passes/shapes/shape_inputs.hpp"

namespace vellum {
namespace {

TensorInfo info(const Value& value) {
  TensorInfo info{value.name, value.type.dtype, value.type.shape};
  info.signature_name = value.signature_name;
  info.initial_value = value.initial_value;
  return info;
}

std::vector<TensorInfo> input_infos(const Graph& graph, const std::vector<bool>& shape_inputs) {
  std::vector<TensorInfo> result;
  for (ValueId id : graph.inputs) {
    result.push_back(info(graph.values[id]));
    result.back().decides_shapes = shape_inputs[result.size() - 1];
  }
  return result;
}

std::vector<TensorInfo> infos_of_outputs(const Graph& graph) {
  std::vector<TensorInfo> result;
  for (const Value* value : model_outputs(graph)) result.push_back(info(*value));
  return result;
}

// Infers the shapes of outputs that the file leaves out, if all input shapes are known. If inference fails,
// the error is left to the session that runs the model.
std::vector<TensorInfo> output_infos(const Graph& graph) {
  const bool known = std::all_of(graph.inputs.begin(), graph.inputs.end(), [&](ValueId id) {
    return graph.values[id].type_known && is_known(graph.values[id].type.shape);
  });
  if (!known) return infos_of_outputs(graph);
  try {
    Graph inferred = graph;
    infer_shapes_and_fold(inferred, {});
    return infos_of_outputs(inferred);
  } catch (const Error&) {
    return infos_of_outputs(graph);
  }
}

NodeInfo node_info(const Graph& graph, const Node& node) {
  NodeInfo info{
      .name = node.name, .op = std::string(node.op->type()), .attributes = to_string(node.op->attributes())};
  for (ValueId id : node.inputs) {
    info.inputs.push_back(id == kNoValue ? "" : graph.values[id].name);
    if (id != kNoValue && graph.constant(id))
      info.parameters += static_cast<uint64_t>(graph.constant(id)->elements());
  }
  for (ValueId id : node.outputs) {
    info.outputs.push_back(id == kNoValue ? "" : graph.values[id].name);
    info.output_shapes.push_back(id == kNoValue ? Shape{} : graph.values[id].type.shape);
  }
  const std::vector<OperatorInput> inputs = operator_inputs(graph, node);
  const bool known = std::all_of(inputs.begin(), inputs.end(),
                                 [](const OperatorInput& input) { return is_known(input.type.shape); });
  // Shape rules reject types that only a run determines.
  const bool typed = std::all_of(node.inputs.begin(), node.inputs.end(),
                                 [&](ValueId id) { return id == kNoValue || graph.values[id].type_known; });
  if (typed && known) info.macs = node.op->macs(inputs);
  return info;
}

std::shared_ptr<const Model::Impl> bundled_model(const std::shared_ptr<const packfile::File>& file,
                                                 const LoadLimits& limits) {
  return std::make_shared<const Model::Impl>(packfile::read_graph(file, limits), file, limits.trusts_shaders);
}

// `source`: a path, or bytes.
template <typename Source>
std::shared_ptr<const Model::Impl> read_model(const Source& source, const LoadLimits& limits,
                                              std::string_view signature = {}) {
  if (model_format(source) != ModelFormat::packed)
    return std::make_shared<const Model::Impl>(import_model(source, limits, signature));
  std::shared_ptr<const Model::Impl> model =
      bundled_model(std::make_shared<const packfile::File>(source), limits);
  const std::vector<std::string>& made_of = model->graph.signatures;
  if (!signature.empty() && (made_of.empty() || made_of.front() != signature))
    throw Error(ErrorCode::not_found,
                "there is no signature '" + std::string(signature) + "' in the bundle, which was made " +
                    (made_of.empty() ? "of a model without any" : "for '" + made_of.front() + "'"));
  return model;
}

// An empty span is an empty file, and may have no address.
std::span<const std::byte> checked_bytes(std::span<const std::byte> bytes) {
  if (!bytes.data() && !bytes.empty())
    throw Error(ErrorCode::invalid_argument, "the pointer to the bytes of the model is null");
  return bytes;
}

}  // namespace

Model::Impl::Impl(Graph imported, const std::shared_ptr<const packfile::File>& file, bool trusts_shaders)
    : graph(std::move(imported)),
      packed(file ? std::make_shared<const PackedModel>(file, graph, trusts_shaders) : nullptr),
      shape_inputs(find_shape_inputs(graph)),
      inputs(input_infos(graph, shape_inputs)),
      outputs(output_infos(graph)) {}

Model::Impl::Impl(Graph with_branches, InputTensors values_of_branches) : Impl(std::move(with_branches)) {
  branch_values = std::move(values_of_branches);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (branch_values.contains(inputs[i].name)) shape_inputs[i] = inputs[i].decides_shapes = true;
}

Model Model::load(const std::filesystem::path& file, const LoadLimits& limits) {
  return guard([&] { return Model(read_model(file, limits)); });
}

Model Model::load(std::span<const std::byte> bytes, const LoadLimits& limits) {
  return guard([&] { return Model(read_model(checked_bytes(bytes), limits)); });
}

Model Model::load(const std::filesystem::path& file, const LoadLimits& limits, std::string_view signature) {
  return guard([&] { return Model(read_model(file, limits, signature)); });
}

Model Model::load(std::span<const std::byte> bytes, const LoadLimits& limits, std::string_view signature) {
  return guard([&] { return Model(read_model(checked_bytes(bytes), limits, signature)); });
}

Model Model::load(std::shared_ptr<const std::byte> bytes, size_t byte_count, const LoadLimits& limits) {
  return guard([&] {
    const std::span<const std::byte> all = checked_bytes({bytes.get(), byte_count});
    if (model_format(all) != ModelFormat::packed) return Model(read_model(all, limits));
    return Model(bundled_model(std::make_shared<const packfile::File>(std::move(bytes), byte_count), limits));
  });
}

const std::vector<TensorInfo>& Model::inputs() const { return impl(*this)->inputs; }
const std::vector<TensorInfo>& Model::outputs() const { return impl(*this)->outputs; }
const std::vector<std::string>& Model::signatures() const { return impl(*this)->graph.signatures; }

std::vector<NodeInfo> Model::nodes(const InputShapes& shapes, const InputTensors& values) const {
  return guard([&] {
    const Impl& model = *impl(*this);
    const InputTensors known = by_tensor_name(model.inputs, values);
    check_input_values(model.graph, model.shape_inputs, known);
    Graph graph = model.graph;
    infer_shapes_and_fold(graph, by_tensor_name(model.inputs, shapes), known);
    std::vector<NodeInfo> result;
    for (const Node& node : graph.nodes) result.push_back(node_info(graph, node));
    if (graph.tail)
      for (const Node& node : graph.tail->graph.nodes) result.push_back(node_info(graph.tail->graph, node));
    return result;
  });
}

std::vector<std::string> graph_passes() { return pass_names(); }

std::string describe(const Model& model, std::string_view stage, const SessionOptions& options,
                     const Device* device) {
  return guard([&] {
    const Stage last = stage_from_name(stage);
    return to_text(Target(device).compile(model, options, last), last);
  });
}

std::string describe_json(const Model& model, std::string_view stage, const SessionOptions& options,
                          const Device* device) {
  return guard([&] {
    const Stage last = stage_from_name(stage);
    return to_json(Target(device).compile(model, options, last), last);
  });
}

}  // namespace vellum
