// A network as dispatches over virtual tensors: what kernels produce and planning takes. No Vulkan handles.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "graph/tensor.hpp"
#include "program/parameters.hpp"

namespace vellum {

enum class Storage : uint8_t { buffer, image2d, image3d };
// channels4: four channels per texel (image) or vec4 (buffer). linear: row-major scalars, buffers only.
enum class Layout : uint8_t { channels4, linear };
enum class ElementType : uint8_t { f32, f16, i32 };

size_t size_of(ElementType type);
std::string_view name(Storage storage);
std::string_view name(Layout layout);
std::string_view name(ElementType type);

struct Extent3 {
  uint32_t width = 1, height = 1, depth = 1;
  bool operator==(const Extent3&) const = default;
};

// How a tensor lives on the device.
//
// channels4 sees the graph's shape as N, C, H, W (see nchw()), with S = ceil(C / 4) slices. Texel (w, h, s,
// n) is at
//   image2d  x = n * W + w, y = s * H + h
//   image3d  x = n * W + w, y = h, z = s
//   buffer   index ((n * S + s) * H + h) * W + w, in units of four elements
// The unused channels of the last slice are always zero.
// linear holds element i of the row-major order at index i; the buffer is padded to a multiple of four
// elements, and what the padding holds means nothing. Kernels write linear tensors four elements at a time.
struct TensorDesc {
  Shape shape;
  ElementType element = ElementType::f32;
  Storage storage = Storage::buffer;
  Layout layout = Layout::linear;

  Extent3 extent() const;      // texels; images only
  uint64_t byte_size() const;  // without padding of the device
  bool operator==(const TensorDesc&) const = default;
};

// The graph's shape as N, C, H, W: rank 4 as it is; rank 3 = N, C, W (H = 1); rank 2 = N, C; rank 1 = C; rank
// 0 = 1. Throws Error(internal) for rank > 4.
std::array<int64_t, 4> nchw(const Shape& shape);

using TensorId = uint32_t;
inline constexpr TensorId kNoTensor = UINT32_MAX;

enum class TensorRole : uint8_t { input, output, intermediate, workspace, weight };

// How the bytes of a weight are made from its sources. unchanged: in the desc's element type and layout, in
// no other order; unknown: only the bytes themselves say.
enum class PackingScheme : uint8_t { unknown, unchanged, conv, conv_transpose, winograd, depthwise, product };
struct Packing {
  PackingScheme scheme = PackingScheme::unknown;
  std::vector<int64_t> parameters = {};  // every number that matters

  // The same text for equal packings, in files as well: "conv 32 64 1 9".
  std::string key() const;
  bool operator==(const Packing&) const = default;
};

// What the bytes of a weight are made from: weights of equal desc and origin have equal bytes.
struct WeightOrigin {
  Packing packing;
  std::vector<HostTensor> sources;
};

struct VirtualTensor {
  std::string name;
  TensorDesc desc;
  TensorRole role = TensorRole::intermediate;
  // The same bytes as another tensor (a reshape of linear data), or some of them: shares its memory and its
  // lifetime.
  TensorId alias_of = kNoTensor;
  // weight: its bytes as they lie on the device (desc.byte_size() of them, texels row by row, then slice by
  // slice). Called once when the session is made; may be called from several threads.
  std::function<std::vector<std::byte>()> pack;
  WeightOrigin origin = {};
  uint64_t alias_offset = 0;  // bytes from the begin of alias_of, which is a buffer
  // A root whose last reader is the first writer of this tensor, which aliases it in place.
  TensorId in_place_of = kNoTensor;
};

enum class Access : uint8_t { read, write, read_write };

struct Binding {
  TensorId tensor = kNoTensor;
  Access access = Access::read;
  // Images that are only read: through a sampled image (texelFetch) instead of a storage image (imageLoad).
  bool sampled = false;
  // Of a read: an invocation reads the tensor only at positions that it alone writes of the output, and each
  // before it writes there, so that the output may lie over it. (Shaders may be compiled as if bindings did
  // not overlap: what is stored depends on what is loaded, so neither can pass the other.)
  bool same_position = false;
  // Buffers of floats that are only read: through a texel buffer (imageLoad) instead of a storage buffer.
  bool texel_buffer = false;
  // The name of the tensor in the shader, "x" of TENSOR_IN(x).
  std::string name = {};
};

// What a dispatch does that only moves bytes between buffers: it can go where one of the two tensors becomes
// a view of the other.
struct PlainCopy {
  TensorId from = kNoTensor, to = kNoTensor;
  uint64_t from_offset = 0, to_offset = 0, bytes = 0;  // from the begin of each
};

struct Dispatch {
  std::string name;    // of the node that it belongs to
  std::string op;      // operator type, "Conv"; "Convert" for layout changes
  std::string shader;  // file of shaders/ without ".comp"
  std::vector<std::pair<std::string, std::string>>
      defines;  // preamble macros of this variant, sorted by name
  std::array<uint32_t, 3> workgroup_size{64, 1,
                                         1};  // the shader sees it as WORKGROUP_X, WORKGROUP_Y, WORKGROUP_Z
  std::array<uint32_t, 3> workgroup_count{1, 1, 1};
  std::vector<Binding> bindings;  // binding number = position
  Parameters push_constants;
  std::optional<PlainCopy> copy = std::nullopt;
  // Not 0: subgroups are full, of so many invocations, and the shader sees it as SUBGROUP. It is what
  // DeviceCaps::subgroup_size says, where there are full_subgroups.
  uint32_t subgroup_size = 0;
};

// An input or output of a graph: a linear buffer tensor that the host writes or reads.
struct Port {
  std::string name;
  TensorType type;                     // as the model says
  TensorId tensor = kNoTensor;         // kNoTensor: the value is in one of the next two members
  std::optional<HostTensor> constant;  // known before running
  // An output of the last task, a host partition with run-time shapes: by position in its graph's outputs.
  // `type` is as far as it is known before running.
  std::optional<size_t> host_output = std::nullopt;
};

// A part of the network that the host computes, with the host references of its operators: one that has no
// kernel, or those that depend on an operator whose output shapes follow from values (HostTail).
struct HostPartition {
  std::shared_ptr<const Graph> graph;
  std::vector<Port> inputs;  // per input of the graph; also tensors that are no inputs of the program
  // The shapes of its outputs are known only at run time. The outputs then stay on the host, and this is the
  // last task.
  bool has_run_time_shapes = false;
  std::vector<TensorId> outputs;  // otherwise, per output of the graph, the linear tensor that receives it
};

// One step in execution order: either a dispatch or a host partition.
struct Task {
  std::optional<Dispatch> dispatch;
  std::optional<HostPartition> host;
};

// The name and the operator type of the task's node: of the first one in a host partition.
const std::string& node_name(const Task& task);
std::string_view operator_type(const Task& task);

struct Program {
  std::deque<VirtualTensor> tensors;  // references stay valid while tensors are added
  std::vector<Task> tasks;
  std::vector<Port> inputs, outputs;
  std::vector<std::string> warnings;  // e.g. operators that run on the host

  // Whether some outputs get their shapes only at run time: the last task computes them on the host.
  bool has_run_time_shapes() const;
  TensorId root(TensorId id) const;    // follows alias_of
  uint64_t offset(TensorId id) const;  // bytes from the begin of the root
  // Returns for each tensor the root that owns its memory: follows alias_of and in_place_of.
  std::vector<TensorId> owners() const;
};

// Whether the tensor is in memory of an input or output of the program, which the host can reach directly.
bool is_host_visible(const Program& program, TensorId id);

// One line per task: what `vellum inspect --stage program` prints.
std::string to_text(const Program& program);

}  // namespace vellum
