#include "program/program.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <sstream>

#include "program/divide.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

uint32_t checked_extent(int64_t texels) {
  if (texels > std::numeric_limits<int32_t>::max())
    throw Error(ErrorCode::unsupported,
                "a tensor is " + std::to_string(texels) + " texels wide, more than any image");
  return static_cast<uint32_t>(texels);
}

void describe_bindings(std::ostringstream& out, const Program& program, const Dispatch& dispatch) {
  for (const Binding& binding : dispatch.bindings) {
    const VirtualTensor& tensor = program.tensors[binding.tensor];
    out << (binding.access == Access::read    ? " r:"
            : binding.access == Access::write ? " w:"
                                              : " rw:")
        << tensor.name << "[" << to_string(tensor.desc.shape) << " "
        << (tensor.desc.fold > 0 ? "folded " : "") << name(tensor.desc.storage) << " "
        << name(tensor.desc.element) << (tensor.desc.layout == Layout::linear ? " linear" : "") << "]";
  }
}

}  // namespace

size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::f32:
    case ElementType::i32:
      return 4;
    case ElementType::f16:
      return 2;
    case ElementType::u8:
    case ElementType::q8:
      return 1;
  }
  return 0;
}

std::string_view name(Storage storage) {
  switch (storage) {
    case Storage::buffer:
      return "buffer";
    case Storage::image2d:
      return "image2d";
    case Storage::image3d:
      return "image3d";
  }
  return "?";
}

std::string_view name(Layout layout) { return layout == Layout::channels4 ? "channels4" : "linear"; }

std::string_view name(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return "f32";
    case ElementType::f16:
      return "f16";
    case ElementType::i32:
      return "i32";
    case ElementType::u8:
      return "u8";
    case ElementType::q8:
      return "q8";
  }
  return "?";
}

std::string_view texel_format_name(ElementType type) {
  return type == ElementType::f16 ? "rgba16f" : type == ElementType::q8 ? "rgba8ui" : "rgba32f";
}

namespace {

std::string_view name(PackingScheme scheme) {
  switch (scheme) {
    case PackingScheme::unknown:
      return "";
    case PackingScheme::unchanged:
      return "unchanged";
    case PackingScheme::conv:
      return "conv";
    case PackingScheme::conv_transpose:
      return "conv_transpose";
    case PackingScheme::winograd:
      return "winograd";
    case PackingScheme::depthwise:
      return "depthwise";
    case PackingScheme::product:
      return "product";
  }
  return "";
}

}  // namespace

std::string Packing::key() const {
  std::string text(name(scheme));
  for (const int64_t parameter : parameters) text += " " + std::to_string(parameter);
  return text;
}

std::array<int64_t, 4> nchw(const Shape& shape) {
  switch (shape.size()) {
    case 0:
      return {1, 1, 1, 1};
    case 1:
      return {1, shape[0], 1, 1};
    case 2:
      return {shape[0], shape[1], 1, 1};
    case 3:
      return {shape[0], shape[1], 1, shape[2]};
    case 4:
      return {shape[0], shape[1], shape[2], shape[3]};
    default:
      throw Error(ErrorCode::internal,
                  "channels4 layout of a tensor of rank " + std::to_string(shape.size()));
  }
}

Extent3 TensorDesc::extent() const {
  const auto [n, c, h, w] = nchw(shape);
  if (storage == Storage::image3d)
    return {checked_extent(n * w), checked_extent(h), checked_extent(slices(c))};
  const int64_t side_by_side = std::max<int64_t>(fold, 1);
  const int64_t rows = (slices(c) + side_by_side - 1) / side_by_side;
  return {checked_extent(n * w * side_by_side), checked_extent(rows * h), 1};
}

uint64_t TensorDesc::byte_size() const {
  if (layout == Layout::linear)
    return static_cast<uint64_t>((element_count(shape) + 3) / 4 * 4) * size_of(element);
  const auto [n, c, h, w] = nchw(shape);
  return static_cast<uint64_t>(element_count({n, slices(c), h, w, 4})) * size_of(element);
}

namespace {

constexpr std::string_view kFolded = "FOLDED_";

}  // namespace

std::string storage_macro(const TensorDesc& desc, const Binding& binding) {
  if (desc.layout == Layout::linear) return binding.texel_buffer ? "LINEAR_TEXEL" : "LINEAR";
  const std::string rows = desc.rows_first ? "ROWS_" : "";
  if (binding.texel_buffer) return rows + (binding.of_words4 ? "WIDE_TEXEL_BUFFER" : "TEXEL_BUFFER");
  if (desc.storage == Storage::buffer) return rows + "BUFFER";
  return std::string(desc.fold > 0 ? kFolded : "") +
         (desc.storage == Storage::image2d ? "IMAGE2D" : "IMAGE3D") + (binding.sampled ? "_SAMPLED" : "");
}

std::string element_macro(ElementType element) {
  constexpr std::array<const char*, 5> kElements{"F32", "F16", "I32", "U8", "Q8"};
  return kElements[static_cast<size_t>(element)];
}

bool is_tensor_macro(std::string_view macro) {
  return macro.starts_with("STORAGE_") || macro.starts_with("ELEMENT_") || macro.starts_with("BINDING_") ||
         macro.starts_with("STORE_ROUNDS") || macro == "APPENDED_PARAMETERS" ||
         macro.ends_with("_grid_step") || macro.ends_with("_grid_zero") || macro.ends_with("_row_slices") ||
         macro.ends_with("_first_texel") || macro.starts_with("fixed_") || macro.starts_with("sum_");
}

std::string_view unfolded(std::string_view storage_macro) {
  if (storage_macro.starts_with(kFolded)) storage_macro.remove_prefix(kFolded.size());
  return storage_macro;
}

const std::string& node_name(const Task& task) {
  return task.dispatch ? task.dispatch->name : task.host->graph->nodes.front().name;
}

std::string_view operator_type(const Task& task) {
  return task.dispatch ? task.dispatch->op : task.host->graph->nodes.front().op->type();
}

bool is_host_visible(const Program& program, TensorId id) {
  const TensorRole role = program.tensors[program.root(id)].role;
  return role == TensorRole::input || role == TensorRole::output;
}

bool Program::has_run_time_shapes() const {
  return !tasks.empty() && tasks.back().host && tasks.back().host->has_run_time_shapes;
}

TensorId Program::root(TensorId id) const {
  while (tensors[id].alias_of != kNoTensor) id = tensors[id].alias_of;
  return id;
}

uint64_t Program::offset(TensorId id) const {
  uint64_t bytes = 0;
  for (; tensors[id].alias_of != kNoTensor; id = tensors[id].alias_of) bytes += tensors[id].alias_offset;
  return bytes;
}

// Each way is gone once: operators that write over their inputs make long ones.
std::vector<TensorId> Program::owners() const {
  std::vector<TensorId> owners(tensors.size(), kNoTensor), way;
  for (TensorId id = 0; id < tensors.size(); ++id) {
    TensorId at = id;
    way.clear();
    while (owners[at] == kNoTensor) {
      way.push_back(at);
      at = root(at);
      if (tensors[at].in_place_of == kNoTensor)
        owners[at] = at;
      else
        way.push_back(at), at = tensors[at].in_place_of;
    }
    for (const TensorId passed : way) owners[passed] = owners[at];
  }
  return owners;
}

std::string to_text(const Program& program) {
  std::ostringstream out;
  for (const Port& port : program.inputs)
    out << (port.is_state ? "state  " : "input  ") << port.name << " " << to_string(port.type.shape) << "\n";
  for (size_t i = 0; i < program.tasks.size(); ++i) {
    const Task& task = program.tasks[i];
    out << i << "  ";
    if (task.host) {
      out << "host";
      for (const Node& node : task.host->graph->nodes) out << " " << describe(node);
      out << "\n";
      continue;
    }
    const Dispatch& d = *task.dispatch;
    out << d.shader;
    for (const auto& [macro, value] : d.defines)
      if (!is_tensor_macro(macro)) out << " " << macro << "=" << value;
    out << " (" << d.op << " '" << d.name << "')  groups " << d.workgroup_count[0] << "x"
        << d.workgroup_count[1] << "x" << d.workgroup_count[2] << " of " << d.workgroup_size[0] << "x"
        << d.workgroup_size[1] << "x" << d.workgroup_size[2];
    describe_bindings(out, program, d);
    out << "\n";
  }
  for (const Port& port : program.outputs)
    out << "output " << port.name << " " << to_string(port.type.shape) << "\n";
  for (const std::string& warning : program.warnings) out << "warning: " << warning << "\n";
  return out.str();
}

}  // namespace vellum
