#include "api/bindings.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "api/session_impl.hpp"
#include "graph/operators/movement/frame.hpp"
#include "vulkan/buffer.hpp"
#include "vulkan/commands.hpp"
#include "vulkan/context.hpp"

namespace vellum {
namespace {

[[noreturn]] void refuse(const char* kind, const Port& port, const std::string& why,
                         ErrorCode code = ErrorCode::invalid_argument) {
  throw Error(code, std::string(kind) + " '" + port.name + "': " + why);
}

void check_buffer(const gpu::Context& context, const BufferLayout& layout, const Port& port, const char* kind,
                  const BufferBinding& binding, uint64_t needed) {
  if (!binding.buffer) refuse(kind, port, "the buffer is null");
  if (binding.offset % layout.alignment != 0)
    refuse(kind, port,
           "the offset " + std::to_string(binding.offset) + " is not a multiple of " +
               std::to_string(layout.alignment));
  if (binding.bytes < needed)
    refuse(kind, port,
           "it takes " + std::to_string(needed) + " bytes with its padding, but " +
               std::to_string(binding.bytes) + " were given");
  // Vulkan does not report the size of a buffer. The size of its memory is an upper bound.
  const uint64_t most = gpu::memory_bytes(context, binding.buffer);
  const uint64_t bytes = binding.bytes == VK_WHOLE_SIZE ? needed : binding.bytes;
  if (binding.offset > most || bytes > most - binding.offset)
    refuse(kind, port,
           std::to_string(bytes) + " bytes from the offset " + std::to_string(binding.offset) +
               " on end beyond the buffer, whose memory is " + std::to_string(most) + " bytes");
}

BoundPort bound_buffer(const Executor& executor, const Port& port, const char* kind,
                       const BufferBinding& binding) {
  const BufferLayout layout = layout_of(executor, port, kind);
  check_buffer(*executor.context(), layout, port, kind, binding, layout.bytes);
  return {executor.program().root(port.tensor), binding.buffer, binding.offset, layout.bytes};
}

gpu::ApplicationImageDesc image_desc(const ImageBinding& binding) {
  return {binding.image,
          {binding.format, binding.external_format},
          binding.layout,
          binding.mip_level,
          binding.array_layer};
}

// Checks an owner. Throws Error(invalid_argument) for a queue family that the device does not have, and
// Error(unsupported) for an owner whose extension it lacks.
void check_owner(const Executor& executor, const char* kind, const Port& port, uint32_t owner) {
  const uint32_t families = gpu::queue_family_count(*executor.context());
  if (owner >= families && owner != VK_QUEUE_FAMILY_EXTERNAL && owner != VK_QUEUE_FAMILY_FOREIGN_EXT)
    refuse(kind, port,
           "its owner is the queue family " + std::to_string(owner) + ", but the device has " +
               std::to_string(families));
  if (owner == VK_QUEUE_FAMILY_FOREIGN_EXT && !gpu::knows_foreign_owners(*executor.context()))
    refuse(kind, port,
           "its owner is VK_QUEUE_FAMILY_FOREIGN_EXT, but the extension VK_EXT_queue_family_foreign is "
           "missing or not enabled",
           ErrorCode::unsupported);
}

gpu::OwnedResource owned(const ImageBinding& binding) {
  gpu::OwnedResource resource{binding.owner};
  resource.image = binding.image;
  resource.layout = binding.layout;
  resource.mip_level = binding.mip_level;
  resource.array_layer = binding.array_layer;
  return resource;
}

// Runs a check of an image; its error names the port that the image is bound to.
template <typename Function>
auto checked(const char* kind, const Port& port, Function&& check) {
  try {
    return check();
  } catch (const Error& error) {
    refuse(kind, port, error.what(), error.code());
  }
}

BoundStrides bound_strides(const Executor& executor, const Port& port, const char* kind,
                           const BufferBinding& binding) {
  const BufferLayout layout = layout_of(executor, port, kind);
  if (frame_input(executor, port))
    refuse(kind, port, "a frame has no strides of a binding: use FrameInput::row_bytes",
           ErrorCode::unsupported);
  const bool is_output = std::string_view(kind) == "output";
  const ElementType element = executor.program().tensors[port.tensor].desc.element;
  StridedWords words = checked(
      kind, port, [&] { return strided_words(port.type.shape, element, binding.strides, is_output); });
  const uint64_t needed = (words.bytes + 3) / 4 * 4;
  check_buffer(*executor.context(), layout, port, kind, binding, needed);
  const uint64_t most = executor.context()->caps().max_storage_buffer_range;
  if (needed > most)
    refuse(kind, port,
           "its strides reach over " + std::to_string(needed) + " bytes, more than the " +
               std::to_string(most) + " of a storage buffer",
           ErrorCode::unsupported);
  return {&port, is_output, std::move(words), binding.buffer, binding.offset};
}

BoundFrame bound_frame(const Executor& executor, const Port& port, const ImageBinding& binding) {
  constexpr const char* kind = "input";
  const FrameInput* const frame = frame_input(executor, port);
  if (!frame)
    refuse(kind, port, "it takes no image: only frames do; use with_frames() (vellum/frame.hpp)",
           ErrorCode::unsupported);
  if (!binding.image) refuse(kind, port, "the image is null");
  if (binding.width != frame->width || binding.height != frame->height)
    refuse(kind, port,
           "the image is " + std::to_string(binding.width) + " x " + std::to_string(binding.height) +
               ", the frame " + std::to_string(frame->width) + " x " + std::to_string(frame->height));
  if (binding.layout != VK_IMAGE_LAYOUT_GENERAL && binding.layout != VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL)
    refuse(kind, port, "the layout of the image is neither GENERAL nor SHADER_READ_ONLY_OPTIMAL");
  const gpu::SampledFormat format = checked(
      kind, port, [&] { return gpu::sampled_format(*executor.context(), image_desc(binding).format); });
  const bool yuv = planes_of(*frame).has_chroma;
  if (yuv != (format == gpu::SampledFormat::planes))
    refuse(kind, port,
           "the frame is " + std::string(name(frame->format)) + ", the image " +
               (yuv ? "has no planes of Y, U and V" : "has planes of Y, U and V"));
  return {executor.program().root(port.tensor), *frame, image_desc(binding)};
}

BoundPicture bound_picture(const Executor& executor, const Port& port, const ImageBinding& binding) {
  constexpr const char* kind = "output";
  layout_of(executor, port, kind);
  if (!binding.image) refuse(kind, port, "the image is null");
  if (binding.layout != VK_IMAGE_LAYOUT_GENERAL) refuse(kind, port, "the layout of the image is not GENERAL");
  if (port.type.dtype != DType::f32 && port.type.dtype != DType::u8)
    refuse(kind, port, std::string(name(port.type.dtype)) + " are no pixels: only float32 and uint8 are",
           ErrorCode::unsupported);
  return checked(kind, port, [&] {
    gpu::storage_qualifier(*executor.context(), binding.format);
    return BoundPicture{&port, image_pixels(port.type.shape, binding.width, binding.height),
                        image_desc(binding)};
  });
}

// Calls `bind` with the port of each binding, in the order of the list.
template <typename Bindings, typename Function>
void for_each_port(const std::vector<Port>& ports, const std::vector<TensorInfo>& infos,
                   const Bindings& bindings, const char* kind, std::vector<std::string_view>& names,
                   Function&& bind) {
  for (const auto& binding : bindings) {
    const Port& port = ports[position(infos, binding.name, kind)];
    if (port.is_state) refuse(kind, port, "it is state of the session, which no buffer replaces");
    if (std::ranges::find(names, port.name) != names.end())
      throw Error(ErrorCode::invalid_argument, std::string(kind) + " '" + port.name + "' is bound twice");
    names.push_back(port.name);
    bind(port, binding);
  }
}

bool overlap(const BoundPort& a, const BoundPort& b) {
  return a.buffer == b.buffer && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

void check_distinct(const std::vector<BoundPort>& bound, size_t inputs) {
  for (size_t output = inputs; output < bound.size(); ++output)
    for (size_t other = 0; other < output; ++other)
      if (overlap(bound[output], bound[other]))
        throw Error(ErrorCode::invalid_argument,
                    "the range of an output overlaps that of another output or of an input");
}

std::string why_no_buffer(const Port& port, std::string_view kind) {
  if (!port.constant) return "computed on the host: it has no buffer";
  return kind == "input" ? "known before running, for it decides shapes or has no elements: it has no buffer"
                         : "a constant: it has no buffer; read it with output()";
}

}  // namespace

BufferLayout layout_of(const Executor& executor, const Port& port, const char* kind) {
  if (port.is_state) refuse(kind, port, "it is state of the session, which no buffer replaces");
  if (port.tensor == kNoTensor)
    throw Error(ErrorCode::unsupported,
                std::string(kind) + " '" + port.name + "' is " + why_no_buffer(port, kind));
  const PortBuffer buffer = port_buffer(executor, port);
  const ElementType element = executor.program().tensors[port.tensor].desc.element;
  const DType dtype = element == ElementType::i32  ? DType::i32
                      : element == ElementType::u8 ? DType::u8
                                                   : DType::f32;
  return {dtype, buffer.bytes, buffer.alignment, buffer.usage};
}

BoundPorts bound_ports(const Executor& executor, const std::vector<TensorInfo>& inputs,
                       const std::vector<TensorInfo>& outputs, const NetworkBindings& bindings) {
  const Program& program = executor.program();
  BoundPorts bound;
  bound.rest_on_host = bindings.rest_on_host;
  std::vector<std::string_view> names;
  std::vector<BoundPort> ranges;  // of all buffers, inputs first
  const auto bind_buffer = [&](const char* kind, const Port& port, const BufferBinding& binding) {
    BoundPort range;
    if (binding.strides.empty()) {
      range = bound_buffer(executor, port, kind, binding);
      bound.buffers.push_back(range);
    } else {
      bound.strided.push_back(bound_strides(executor, port, kind, binding));
      range = {kNoTensor, binding.buffer, binding.offset, (bound.strided.back().words.bytes + 3) / 4 * 4};
    }
    ranges.push_back(range);
    if (binding.owner == VK_QUEUE_FAMILY_IGNORED) return;
    check_owner(executor, kind, port, binding.owner);
    bound.owned.push_back({binding.owner, binding.buffer, binding.offset, range.bytes});
  };
  const auto note_owner = [&](const char* kind, const Port& port, const ImageBinding& binding) {
    if (binding.owner == VK_QUEUE_FAMILY_IGNORED) return;
    check_owner(executor, kind, port, binding.owner);
    bound.owned.push_back(owned(binding));
  };
  for_each_port(program.inputs, inputs, bindings.inputs, "input", names,
                [&](const Port& port, const auto& b) { bind_buffer("input", port, b); });
  for_each_port(program.inputs, inputs, bindings.input_images, "input", names,
                [&](const Port& port, const auto& b) {
                  bound.frames.push_back(bound_frame(executor, port, b));
                  note_owner("input", port, b);
                });
  for (const Port& port : program.inputs)
    if (!bindings.rest_on_host && !port.constant && !port.is_state &&
        std::ranges::find(names, port.name) == names.end())
      throw Error(ErrorCode::invalid_argument, "input '" + port.name + "' is not bound");
  const size_t input_buffers = ranges.size();
  names.clear();
  for_each_port(program.outputs, outputs, bindings.outputs, "output", names,
                [&](const Port& port, const auto& b) { bind_buffer("output", port, b); });
  for_each_port(program.outputs, outputs, bindings.output_images, "output", names,
                [&](const Port& port, const auto& b) {
                  bound.pictures.push_back(bound_picture(executor, port, b));
                  note_owner("output", port, b);
                });
  check_distinct(ranges, input_buffers);
  return bound;
}

}  // namespace vellum
