#include "kernels/framework/program_builder.hpp"

#include <algorithm>

#include "cost/tiles.hpp"
#include "graph/element.hpp"
#include "graph/one_node.hpp"
#include "graph/operators/elementwise/dynamic_steps.hpp"
#include "graph/operators/elementwise/quantize.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/number_range.hpp"
#include "kernels/framework/value_grids.hpp"
#include "program/divide.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

// Returns whether the node reduces a tensor without elements to tensors with elements.
// infer_shapes_and_fold() makes constants of such results, unless another input is computed or the results
// are too large.
bool reduces_nothing(const Graph& graph, const Node& node) {
  const auto is_empty = [&](ValueId id) {
    return id != kNoValue && element_count(graph.values[id].type.shape) == 0;
  };
  const std::string_view type = node.op->type();
  if (node.inputs.empty() || type == "Concat") return false;
  if (type == "Attention" || type == "Einsum")
    return std::any_of(node.inputs.begin(), node.inputs.end(), is_empty);
  return is_empty(node.inputs[0]);  // other inputs may be parameters, such as an empty list of axes
}

bool reads_bytes(const Node& node) { return node.op->type() == "Frame" || node.op->type() == "Picture"; }

// Returns whether an input is uint8 and all its readers have kernels that read bytes.
bool is_frame_of_bytes(const Graph& graph, ValueId input) {
  if (graph.values[input].type.dtype != DType::u8) return false;
  if (std::ranges::count(graph.outputs, input) > 0) return false;
  return std::ranges::all_of(graph.nodes, [&](const Node& node) {
    return std::ranges::count(node.inputs, input) == 0 || reads_bytes(node);
  });
}

// Returns whether an output is computed by Picture, whose kernel writes bytes, and read by no node.
bool is_picture_of_bytes(const Graph& graph, ValueId output) {
  if (graph.values[output].type.dtype != DType::u8) return false;
  bool is_computed = false;
  for (const Node& node : graph.nodes) {
    if (std::ranges::count(node.inputs, output) > 0) return false;
    is_computed |= node.op->type() == "Picture" && node.outputs[0] == output;
  }
  return is_computed;
}

// Checks the size of an input. Shape rules check only the results of nodes; before lowering, an input may be
// larger than any tensor.
void check_input(const Graph& graph, const Value& input) {
  try {
    check_size(graph, input.type.shape);
  } catch (const Error& error) {
    throw Error(error.code(), "input '" + input.name + "': " + error.what());
  }
}

size_t index_of(const KernelName& wanted, std::span<const KernelName> candidates) {
  const auto found = std::find(candidates.begin(), candidates.end(), wanted);
  if (found == candidates.end())
    throw Error(ErrorCode::unsupported,
                "no candidate of a strip is the whole layer's '" + wanted.text() + "'");
  return static_cast<size_t>(found - candidates.begin());
}

bool is_quantised_at_run_time(const Operator& op) {
  return dynamic_cast<const DynamicSteps*>(&op) != nullptr ||
         dynamic_cast<const DynamicQuantizeLinear*>(&op) != nullptr;
}

}  // namespace

ProgramBuilder::ProgramBuilder(const Graph& graph, const DeviceCaps& caps, const LoweringOptions& options)
    : graph_(graph),
      caps_(caps),
      options_(options),
      value_tensors_(graph.values.size()),
      is_output_(graph.values.size(), false),
      is_read_(graph.values.size(), false),
      is_read_by_node_(graph.values.size(), false),
      needs_range_(graph.values.size(), false),
      may_use_images_(storage_choice(kNoValue) != StorageChoice::buffer || !options.value_storages.empty()) {
  if (stores_bytes(options)) grids_ = value_grids(graph, options.precision);
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const auto is_state = [&](const StatePair& pair) { return pair.output == i; };
    is_read_[graph.outputs[i]] = true;
    if (std::ranges::none_of(options_.states, is_state)) is_output_[graph.outputs[i]] = true;
  }
  for (const Node& node : graph.nodes) {
    for (ValueId id : node.inputs)
      if (id != kNoValue) is_read_[id] = is_read_by_node_[id] = true;
    if (is_quantised_at_run_time(*node.op)) needs_range_[node.inputs[0]] = true;
  }
}

Program ProgramBuilder::build() {
  add_inputs();
  for (const Node& node : graph_.nodes) lower_node(node);
  const size_t first_task = program_.tasks.size();
  add_outputs();
  if (used_wrong_kernel(first_task)) throw ConversionIsWrong("the conversion of outputs");
  warn_of_avoided_kernels();
  if (options_.precision == Precision::fp16)
    for (std::string& warning : warnings_of_running_exponentials(graph_))
      program_.warnings.push_back(std::move(warning));
  return std::move(program_);
}

void ProgramBuilder::add_inputs() {
  program_.states.resize(options_.states.size());
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    const ValueId id = graph_.inputs[i];
    const Value& value = graph_.values[id];
    check_input(graph_, value);
    const auto state = std::ranges::find(options_.states, i, &StatePair::input);
    if (state != options_.states.end()) {
      add_state(static_cast<size_t>(state - options_.states.begin()), id);
      continue;
    }
    if (value.constant) {
      program_.inputs.push_back({value.name, value.type, kNoTensor, value.constant});
      continue;
    }
    const ElementType element = is_float(value.type.dtype)      ? ElementType::f32
                                : is_frame_of_bytes(graph_, id) ? ElementType::u8
                                                                : ElementType::i32;
    TensorDesc desc{value.type.shape, element, Storage::buffer, Layout::linear};
    const TensorId tensor = add_tensor({value.name, desc, TensorRole::input, kNoTensor, {}});
    value_tensors_[id].linear = tensor;
    program_.inputs.push_back({value.name, value.type, tensor, std::nullopt});
    if (options_.inputs_to_channels4 && is_float(value.type.dtype) && value.type.shape.size() <= 4)
      read(id, Layout::channels4);
  }
}

void ProgramBuilder::lower_node(const Node& node) {
  if (options_.wrong_nodes != WrongNodes::other_kernels) return lower_or_run_on_host(node);
  if (options_.wrong && !options_.wrong->empty()) return lower_with_right_kernels(node);
  node_choices_.clear();
  const Checkpoint before = checkpoint();
  lower_node_once(node);
  const bool kernels_are_given = options_.whole_layers || options_.chosen;
  if (has_endless_loops(before.tasks)) {
    restore(before);
    lower_with_right_kernels(node);
    if (!kernels_are_given) lowerings_.push_back({NodeLowering{}});
  } else if (!kernels_are_given) {
    find_lowerings(node, before);
  }
}

void ProgramBuilder::lower_node_once(const Node& node) {
  current_ = &node;
  try {
    Lowering lowering(*this, node);
    if (reduces_nothing(graph_, node))
      lowering.run_on_host("the reduction of a tensor without elements has no kernel");
    else
      find_lowering (*node.op)(lowering);
  } catch (const Error& error) {
    if (std::string_view(error.what()).find(node.name) != std::string_view::npos) throw;
    throw Error(error.code(), describe(node) + ": " + error.what());
  }
  current_ = nullptr;
}

void ProgramBuilder::add_host_partition(const Node& node, std::string_view why) {
  OneNode one = one_node(graph_, node);
  HostPartition partition;
  for (const ValueId own : one.graph.inputs) {
    const Value& value = one.graph.values[own];
    partition.inputs.push_back({value.name, value.type, read_for_host(one.values[own]), std::nullopt});
  }
  for (const ValueId own : one.graph.outputs) partition.outputs.push_back(write_for_host(one.values[own]));
  partition.graph = std::make_shared<const Graph>(std::move(one.graph));
  program_.warnings.push_back(describe(node) + " runs on the host: " + std::string(why));
  program_.tasks.push_back({std::nullopt, std::move(partition)});
}

ElementType ProgramBuilder::float_element() const {
  return options_.precision == Precision::fp16 ? ElementType::f16 : ElementType::f32;
}

StorageChoice ProgramBuilder::storage_choice(ValueId value) const {
  StorageChoice choice =
      value < options_.value_storages.size() ? options_.value_storages[value] : options_.storage;
  if (choice == StorageChoice::automatic)
    choice = caps_.prefers_images ? StorageChoice::image2d : StorageChoice::buffer;
  return choice;
}

void ProgramBuilder::choose_storage(TensorDesc& desc, StorageChoice choice) const {
  const bool has_format = float_element() == ElementType::f16 ? caps_.rgba16f_images : caps_.rgba32f_images;
  desc.storage = Storage::buffer;
  desc.fold = 0;
  if (!has_format) return;
  if (choice == StorageChoice::buffer) {
    // A tensor that exceeds the range of a buffer binding becomes an image, unless the caller asked for
    // buffers.
    if (options_.storage != StorageChoice::automatic || desc.byte_size() <= caps_.max_storage_buffer_range)
      return;
  }
  TensorDesc image = desc;
  if (choice == StorageChoice::image3d) {
    image.storage = Storage::image3d;
    const Extent3 extent = image.extent();
    const uint32_t most = std::max({extent.width, extent.height, extent.depth});
    if (most <= caps_.max_image_dimension_3d) desc = image;
    return;
  }
  image.storage = Storage::image2d;
  constexpr int64_t kMostSlices =
      1 << 20;  // the largest dividend of quotient() in shaders/common/tensor.glsl
  const int64_t slice_count = slices(nchw(desc.shape)[1]);
  if (slice_count > kMostSlices) return;
  if (slice_count > 1) image.fold = options_.fold;
  const uint32_t limit = caps_.max_image_dimension_2d;
  while (image.extent().height > limit && image.fold < slice_count) image.fold = 2 * std::max(image.fold, 1u);
  if (image.extent().width <= limit && image.extent().height <= limit) desc = image;
}

TensorDesc ProgramBuilder::describe_type(const TensorType& type, Layout layout, StorageChoice choice) const {
  TensorDesc desc;
  desc.shape = type.shape;
  desc.layout = layout;
  desc.element = !is_float(type.dtype) ? ElementType::i32 : float_element();
  if (layout == Layout::channels4) {
    if (desc.element == ElementType::i32)
      throw Error(ErrorCode::internal, "channels4 layout of a tensor of integers");
    choose_storage(desc, choice);
  }
  return desc;
}

TensorDesc ProgramBuilder::describe_value(ValueId value, Layout layout) const {
  TensorDesc desc = describe_type(graph_.values[value].type, layout, storage_choice(value));
  choose_element(desc, value);
  desc.rows_first = layout == Layout::channels4 && desc.storage == Storage::buffer &&
                    value < options_.rows_first.size() && options_.rows_first[value];
  // The host reads outputs as fp32.
  if (layout == Layout::linear && is_output_[value] &&
      (desc.element == ElementType::f16 || desc.element == ElementType::q8))
    desc.element = ElementType::f32;
  if (layout == Layout::linear && is_output_[value] && is_picture_of_bytes(graph_, value))
    desc.element = ElementType::u8;
  return desc;
}

void ProgramBuilder::choose_element(TensorDesc& desc, ValueId value) const {
  if (value >= grids_.size() || !grids_[value]) return;
  desc.element = ElementType::q8;
  desc.grid = *grids_[value];
}

std::string ProgramBuilder::describe_output(ValueId value) const {
  if (value == kNoValue) return "none";
  const Shape& shape = graph_.values[value].type.shape;
  if (shape.size() > 4) return to_string(shape);
  TensorDesc desc{shape, float_element(), Storage::buffer, Layout::channels4};
  choose_storage(desc, storage_choice(value));
  return to_string(shape) + " " + std::string(name(desc.storage));
}

std::string ProgramBuilder::describe_input(ValueId value) const {
  if (value == kNoValue) return "none";
  if (graph_.constant(value)) return "constant " + to_string(graph_.values[value].type.shape);
  if (!exists_in(value, Layout::channels4)) return "linear " + to_string(graph_.values[value].type.shape);
  return "channels4 " + describe_output(value);
}

size_t ProgramBuilder::whole_of(const Node& node) const {
  if (!options_.whole_layers) return WholeLayers::kNone;
  return options_.whole_layers->node_of[static_cast<size_t>(&node - graph_.nodes.data())];
}

size_t ProgramBuilder::choose(std::string signature, std::vector<KernelName> candidates,
                              const std::vector<double>& us, size_t number) {
  const size_t whole = whole_of(*current_);
  const std::vector<KernelName>* wanted = wanted_kernels();
  size_t taken = 0, choosable = 1;
  if (wanted && number < wanted->size()) {
    taken = index_of(wanted->at(number), candidates);
  } else if (whole == WholeLayers::kNone) {
    const std::vector<size_t> allowed = allowed_candidates(candidates);
    std::vector<KernelName> names;
    for (const size_t i : allowed) names.push_back(candidates[i]);
    taken = allowed[quickest(options_.tuning, signature, names)];
    choosable = allowed.size();
  } else {
    taken = index_of(options_.whole_layers->chosen[whole].at(number), candidates);
  }
  NodeChoice choice{candidates[taken], choosable, us[taken], {}};
  if (us[taken] > 0 && !is_measured(options_.tuning, signature))
    for (size_t i = 0; i < candidates.size(); ++i)
      if (i != taken && us[i] > 0 && us[i] <= kEquallyFast * us[taken])
        choice.as_quick.push_back(candidates[i]);
  node_choices_.push_back(std::move(choice));
  if (options_.choices)
    options_.choices->push_back({static_cast<size_t>(current_ - graph_.nodes.data()), std::move(signature),
                                 std::move(candidates), taken});
  return taken;
}

// Returns the candidates of the node's next choice that are not avoided; at least one.
std::vector<size_t> ProgramBuilder::allowed_candidates(const std::vector<KernelName>& candidates) const {
  const size_t choice = node_choices_.size();
  std::vector<size_t> allowed;
  for (size_t i = 0; i < candidates.size(); ++i)
    if (choice >= avoided_candidates_.size() || !avoided_candidates_[choice].contains(candidates[i].text()))
      allowed.push_back(i);
  if (allowed.empty()) allowed.push_back(0);
  return allowed;
}

}  // namespace vellum
