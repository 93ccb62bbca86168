#include "kernels/framework/finish_dispatch.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "cost/device_traits.hpp"
#include "kernels/framework/binding_counts.hpp"
#include "kernels/framework/elements.hpp"
#include "program/macros.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

std::string sizes(const std::array<uint32_t, 3>& v) {
  return std::to_string(v[0]) + "x" + std::to_string(v[1]) + "x" + std::to_string(v[2]);
}

bool reads_image(const Program& program, const Binding& binding) {
  return binding.access == Access::read && program.tensors[binding.tensor].desc.storage != Storage::buffer;
}

// Images are read as storage images if the device prefers that and its limit on storage images allows it, and
// as sampled images otherwise. If the limit does not allow all, it is left to images that may share the
// memory of a result (plan/in_place.hpp).
void choose_image_reads(const Program& program, const DeviceCaps& caps, Dispatch& dispatch) {
  uint32_t images = 0, written = 0;
  for (const Binding& binding : dispatch.bindings) {
    if (program.tensors[binding.tensor].desc.storage == Storage::buffer) continue;
    ++images;
    if (binding.access != Access::read) ++written;
  }
  const uint32_t most = caps.reads_images_as_storage ? caps.max_storage_images_per_stage : 0;
  uint32_t left = most > written ? most - written : 0;
  for (Binding& binding : dispatch.bindings) {
    if (!reads_image(program, binding)) continue;
    binding.sampled = images > most && !(binding.same_position && left > 0);
    if (!binding.sampled && images > most) --left;
  }
}

// Reads as many buffers through texel buffers as the limits allow. Texel buffers count as storage images, or
// as sampled images.
void choose_buffer_reads(const Program& program, const DeviceCaps& caps, Dispatch& dispatch) {
  const bool sampled = device_traits(caps).samples_texel_buffers;
  if (!sampled && !caps.reads_buffers_as_texels) return;
  const uint32_t most_images =
      sampled ? caps.max_sampled_images_per_stage : caps.max_storage_images_per_stage;
  uint32_t images = 0;
  for (const Binding& binding : dispatch.bindings)
    images += program.tensors[binding.tensor].desc.storage != Storage::buffer && binding.sampled == sampled;
  for (Binding& binding : dispatch.bindings) {
    const TensorDesc& desc = program.tensors[binding.tensor].desc;
    const bool floats = holds_floats(desc.element) || desc.element == ElementType::q8;
    if (binding.access != Access::read || desc.storage != Storage::buffer) continue;
    const bool integers = binding.of_bytes || binding.of_words4;
    if (!floats && !integers) continue;
    // Linear tensors of floats are excluded: their elements would be components of texels, and SwiftShader
    // would take minutes to compile matrix products.
    if (sampled && desc.layout == Layout::linear && !integers) continue;
    const uint64_t texel_bytes = binding.of_bytes ? 4 : binding.of_words4 ? 16 : 4 * size_of(desc.element);
    const uint64_t texels = desc.byte_size() / texel_bytes;
    if (binding.of_words4 && desc.byte_size() % texel_bytes != 0)
      throw Error(ErrorCode::internal, dispatch.name + ": '" + binding.name + "' ends within a texel");
    binding.texel_buffer = texels <= caps.max_texel_buffer_elements && images < most_images;
    binding.sampled = binding.texel_buffer && sampled;
    images += binding.texel_buffer;
  }
  if (sampled && std::ranges::any_of(dispatch.bindings, &Binding::texel_buffer))
    define(dispatch, "SAMPLED_TEXEL_BUFFERS");
}

std::string declaration(const AppendedParameter& field) {
  return (field.is_integer ? "int " : "float ") + field.name + ";";
}

// Returns a literal with the bits of the number instead of its digits, so that no compiler rounds it.
std::string literal(const AppendedParameter& field) {
  return (field.is_integer ? "int(" : "uintBitsToFloat(") + std::to_string(field.bits) + "u)";
}

// Appends the fields to the push constants if the device has space for all of them. Otherwise defines them as
// macros; then each combination of values is a pipeline of its own.
void add_fields(Dispatch& dispatch, const DeviceCaps& caps, const std::vector<AppendedParameter>& fields) {
  constexpr std::string_view kMacro = "APPENDED_PARAMETERS";
  if (fields.empty()) return;
  const size_t bytes = dispatch.push_constants.bytes().size() + fields.size() * sizeof(uint32_t);
  if (bytes > caps.max_push_constant_bytes) {
    for (const AppendedParameter& field : fields) dispatch.defines.emplace_back(field.name, literal(field));
    return;
  }
  auto declared = std::ranges::find(dispatch.defines, kMacro, &std::pair<std::string, std::string>::first);
  if (declared == dispatch.defines.end())
    declared = dispatch.defines.insert(declared, {std::string(kMacro), {}});
  for (const AppendedParameter& field : fields) {
    declared->second += (declared->second.empty() ? "" : " ") + declaration(field);
    dispatch.push_constants.append(field.bits);
  }
}

// Defines how stores of the dispatch round. One that writes several tensors rounds all alike.
void define_stores(Dispatch& dispatch, StoreRounding rounding) {
  if (rounding == StoreRounding::none) return;
  const std::string macro = rounding == StoreRounding::to_even ? "STORE_ROUNDS" : "STORE_ROUNDS_AWAY";
  for (const auto& [name, value] : dispatch.defines) {
    if (name == macro) return;
    if (name.starts_with("STORE_ROUNDS"))
      throw Error(ErrorCode::internal, "a kernel stores ties away from zero and to even");
  }
  dispatch.defines.emplace_back(macro, "1");
}

// Grids are appended last, because most devices have space for the other fields.
void add_appended(const Program& program, const DeviceCaps& caps, Dispatch& dispatch) {
  std::vector<AppendedParameter> grids;
  for (const Binding& binding : dispatch.bindings) {
    const TensorDesc& desc = program.tensors[binding.tensor].desc;
    if (desc.element != ElementType::q8) continue;
    grids.emplace_back(binding.name + "_grid_step", binding.in_steps ? 1.0f : desc.grid.step);
    grids.emplace_back(binding.name + "_grid_zero", static_cast<float>(desc.grid.zero));
    if (binding.access != Access::read) define_stores(dispatch, desc.grid.rounding);
  }
  add_fields(dispatch, caps, std::exchange(dispatch.appended, {}));
  add_fields(dispatch, caps, grids);
}

void check_limits(const Program& program, const DeviceCaps& caps, const Dispatch& dispatch) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::unsupported,
                dispatch.op + " '" + dispatch.name + "': shader '" + dispatch.shader + "' needs " + what);
  };
  const BindingCounts counts = count_bindings(program, dispatch);
  const auto limit = [&](uint64_t wanted, uint64_t most, const char* unit) {
    if (wanted > most)
      refuse(std::to_string(wanted) + " " + unit + "; the device has " + std::to_string(most));
  };
  limit(counts.storage_images, caps.max_storage_images_per_stage, "storage images");
  limit(counts.sampled_images, caps.max_sampled_images_per_stage, "sampled images");
  limit(counts.buffers, caps.max_storage_buffers_per_stage, "storage buffers");
  limit(dispatch.push_constants.bytes().size(), caps.max_push_constant_bytes, "bytes of push constants");
  const auto& size = dispatch.workgroup_size;
  limit(uint64_t{size[0]} * size[1] * size[2], caps.max_workgroup_invocations, "invocations per workgroup");
  for (size_t i = 0; i < 3; ++i) {
    if (size[i] > caps.max_workgroup_size[i]) refuse("a workgroup of " + sizes(size));
    if (dispatch.workgroup_count[i] > caps.max_workgroup_count[i])
      refuse("a grid of " + sizes(dispatch.workgroup_count) + " workgroups");
    if (dispatch.workgroup_count[i] == 0 || size[i] == 0) refuse("a grid that is not empty");
  }
}

}  // namespace

void finish_dispatch(const Program& program, const DeviceCaps& caps, Dispatch& dispatch) {
  choose_image_reads(program, caps, dispatch);
  choose_buffer_reads(program, caps, dispatch);
  bool has_halves = false;
  for (size_t i = 0; i < dispatch.bindings.size(); ++i) {
    const Binding& binding = dispatch.bindings[i];
    const TensorDesc& desc = program.tensors[binding.tensor].desc;
    has_halves |= desc.element == ElementType::f16;
    dispatch.defines.emplace_back("STORAGE_" + binding.name, storage_macro(desc, binding));
    dispatch.defines.emplace_back("ELEMENT_" + binding.name, element_macro(desc.element));
    dispatch.defines.emplace_back("BINDING_" + binding.name, std::to_string(i));
  }
  add_appended(program, caps, dispatch);
  if (caps.declares_inf_nan_preserve) dispatch.defines.emplace_back("INF_NAN_PRESERVE", "1");
  if (has_halves && !caps.packs_halves) dispatch.defines.emplace_back("PACK_HALVES", "1");
  std::sort(dispatch.defines.begin(), dispatch.defines.end());
  check_limits(program, caps, dispatch);
}

bool can_bind(const Program& program, const DeviceCaps& caps, Dispatch& dispatch) {
  // Images that may share the memory of a result are sampled last.
  for (const bool same_position : {false, true}) {
    if (count_bindings(program, dispatch).fit(caps)) return true;
    for (Binding& binding : dispatch.bindings) {
      if (!reads_image(program, binding) || binding.same_position != same_position) continue;
      binding.sampled = true;
      *find_macro(dispatch.defines, "STORAGE_" + binding.name) =
          storage_macro(program.tensors[binding.tensor].desc, binding);
    }
  }
  return count_bindings(program, dispatch).fit(caps);
}

}  // namespace vellum
