// The program: a network as dispatches over virtual tensors. Kernels produce it, planning reads it. No Vulkan
// handles. Start reading here for the dispatch IR.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/byte_rows.hpp"
#include "graph/graph.hpp"
#include "graph/operators/fused/fused_kernels.hpp"
#include "graph/tensor.hpp"
#include "program/parameters.hpp"

namespace vellum {

// The kind of Vulkan object that holds a tensor.
enum class Storage : uint8_t { buffer, image2d, image3d };
// channels4: four channels per texel (image) or vec4 (buffer). linear: row-major scalars, buffers only.
enum class Layout : uint8_t { channels4, linear };
// u8: the bytes of a frame or picture. Only linear inputs that Frame and Picture read, and outputs of
// Picture, have it.
// q8: bytes that represent real numbers on a ByteGrid. Only intermediate tensors have it.
enum class ElementType : uint8_t { f32, f16, i32, u8, q8 };
// Returns whether elements are stored as the floats that they are.
constexpr bool holds_floats(ElementType element) {
  return element == ElementType::f32 || element == ElementType::f16;
}

// How a kernel stores numbers in a q8 tensor: as whole steps, or rounded to the nearest, ties to even or away
// from zero.
enum class StoreRounding : uint8_t { none, to_even, away };

// The real numbers that the bytes of a q8 tensor represent: (byte - zero) * step.
struct ByteGrid {
  float step = 0.0f;
  int32_t zero = 0;
  StoreRounding rounding = StoreRounding::none;
  // Whether both represent the same numbers.
  bool operator==(const ByteGrid& other) const { return step == other.step && zero == other.zero; }
};

size_t size_of(ElementType type);
std::string_view name(Storage storage);
std::string_view name(Layout layout);
std::string_view name(ElementType type);
// Returns GLSL's name of the image format with four such elements, such as "rgba16f".
std::string_view texel_format_name(ElementType type);

struct Extent3 {
  uint32_t width = 1, height = 1, depth = 1;
  bool operator==(const Extent3&) const = default;
};

// The format of a tensor on the device.
//
// channels4: the graph's shape is N, C, H, W (see nchw()), with S = ceil(C / 4) slices of four channels. A
// texel holds the four channels of one slice at one position. Texel (w, h, s, n) is at
//   image2d  x = n * W + w, y = s * H + h
//            folded: slices are in `fold` columns of r = ceil(S / fold) slices:
//            x = (s / r * N + n) * W + w, y = s % r * H + h. If the image is higher than extent(), r is the
//            number of slices that fit its height
//   image3d  x = n * W + w, y = h, z = s
//   buffer   index ((n * S + s) * H + h) * W + w, in units of four elements
//            rows_first: ((n * H + h) * S + s) * W + w, so that a range of rows of an image is contiguous
//
//   image2d, N = 2, C = 6 (S = 2):      |<-- W -->|<-- W -->|
//                                     H | n 0     | n 1     |  slice 0: channels 0 1 2 3
//                                     H | n 0     | n 1     |  slice 1: channels 4 5 0 0
//
// The unused channels of the last slice are always zero; in q8 they are the byte of zero.
//
// linear: element i in row-major order is at index i. The buffer is padded to a multiple of four elements;
// the padding is undefined. Kernels write linear tensors four elements at a time.
struct TensorDesc {
  Shape shape;
  ElementType element = ElementType::f32;
  Storage storage = Storage::buffer;
  Layout layout = Layout::linear;
  bool rows_first = false;  // only channels4 in a buffer
  uint32_t fold = 0;        // only channels4 in an image2d: a power of two, or 0 if not folded
  ByteGrid grid = {};       // only q8

  // Returns whether equal bits are equal numbers in both.
  bool has_elements_of(const TensorDesc& other) const {
    return element == other.element && (element != ElementType::q8 || grid == other.grid);
  }

  Extent3 extent() const;      // texels; images only
  uint64_t byte_size() const;  // without device padding
  bool operator==(const TensorDesc&) const = default;
};

// Returns the graph's shape as N, C, H, W: rank 4 unchanged; rank 3 = N, C, W (H = 1); rank 2 = N, C; rank 1
// = C; rank 0 = 1. Throws Error(internal) for rank > 4.
std::array<int64_t, 4> nchw(const Shape& shape);

using TensorId = uint32_t;
inline constexpr TensorId kNoTensor = UINT32_MAX;

// state: an input and output that stay on the device between runs, in memory of the session.
enum class TensorRole : uint8_t { input, output, intermediate, workspace, weight, state };

// How the bytes of a weight are made from its sources. unchanged: the source's elements in their order, in
// the desc's element type and layout. unknown: weights are compared by their bytes.
enum class PackingScheme : uint8_t { unknown, unchanged, conv, conv_transpose, winograd, depthwise, product };
struct Packing {
  PackingScheme scheme = PackingScheme::unknown;
  std::vector<int64_t> parameters = {};  // all numbers that determine the bytes

  // Equal packings have equal texts, which files use as keys: "conv 32 64 1 9".
  std::string key() const;
  bool operator==(const Packing&) const = default;
};

// The origin of a weight's bytes: weights of equal desc and origin have equal bytes.
struct WeightOrigin {
  Packing packing;
  std::vector<HostTensor> sources;
};

// A tensor of a program, before it has memory.
struct VirtualTensor {
  std::string name;
  TensorDesc desc;
  TensorRole role = TensorRole::intermediate;
  // The tensor of which this one is a view (of all or some of its bytes, such as a reshape of linear data). A
  // view shares memory and lifetime.
  TensorId alias_of = kNoTensor;
  // For a weight: returns its desc.byte_size() bytes in device order (texels by rows, then by slices). Called
  // when the session is made; may be called from several threads.
  std::function<std::vector<std::byte>()> pack;
  WeightOrigin origin = {};
  uint64_t alias_offset = 0;  // bytes from the beginning of alias_of, which is a buffer
  // The root that this tensor aliases in place: its last reader is the first writer of this tensor.
  TensorId in_place_of = kNoTensor;
};

enum class Access : uint8_t { read, write, read_write };

// A tensor that a dispatch binds, and how its shader accesses it.
struct Binding {
  TensorId tensor = kNoTensor;
  Access access = Access::read;
  // For an image that is only read: the shader uses a sampled image (texelFetch) instead of a storage image
  // (imageLoad). For a texel buffer: a uniform one (texelFetch) instead of a storage one.
  bool sampled = false;
  // For a read: an invocation reads the tensor only at positions of the output that no other invocation
  // writes, and before it writes there, so the output may alias the tensor in place. (Compilers may assume
  // that bindings do not overlap. They cannot reorder these accesses, because the stored value depends on the
  // loaded one.)
  bool same_position = false;
  // For a buffer of floats that is only read: the shader uses a texel buffer (imageLoad) instead of a storage
  // buffer.
  bool texel_buffer = false;
  // For a linear tensor of I32 that is only read, by BYTES_IN: its words are four bytes each, so that it may
  // be a texel buffer of rgba8ui.
  bool of_bytes = false;
  // For a linear tensor of U8 that is only read, by LINEAR_WORDS4_IN, or a buffer of Q8 whose bytes are whole
  // sixteens: it may be a texel buffer of rgba32ui (shaders/common/wide_texels.glsl).
  bool of_words4 = false;
  // For a tensor of Q8 that is only read: loads return numbers of steps in place of the real numbers.
  bool in_steps = false;
  // The name of the tensor in the shader, "x" of TENSOR_IN(x).
  std::string name = {};
};

// The macros of a bound tensor x, from which shaders/common/tensor.glsl makes its declaration: STORAGE_x,
// ELEMENT_x and BINDING_x. The functions return the values of the first two.
std::string storage_macro(const TensorDesc& desc, const Binding& binding);
std::string element_macro(ElementType element);
// Returns whether a macro is one of these three, or a constant of a q8 tensor's grid or of rows of texels.
bool is_tensor_macro(std::string_view macro);
// Precedes the storage of an image whose texels are accessed as a linear tensor (plan/row_texels.hpp).
inline constexpr std::string_view kRowsOfTexels = "LINEAR_ROWS_";
// Returns the value of STORAGE_x for the same storage without folding.
std::string_view unfolded(std::string_view storage_macro);

// Describes a dispatch that only copies bytes between buffers. It can be removed if one of the two tensors
// becomes a view of the other.
struct PlainCopy {
  TensorId from = kNoTensor, to = kNoTensor;
  uint64_t from_offset = 0, to_offset = 0, bytes = 0;  // offsets from the beginning of each
  bool stays = false;  // true: not replaced by a view, because the copy lets the rest of a tensor be freed
};

// The iterations that a dispatch without declared iterations may run.
inline constexpr uint64_t kUndeclaredIterations = 512;

// A field that follows the parameters of a shader: a float, or an integer.
struct AppendedParameter {
  AppendedParameter(std::string field, float value)
      : name(std::move(field)), bits(std::bit_cast<uint32_t>(value)) {}
  AppendedParameter(std::string field, int32_t value)
      : name(std::move(field)), bits(std::bit_cast<uint32_t>(value)), is_integer(true) {}

  std::string name;
  uint32_t bits;
  bool is_integer = false;
};

// One vkCmdDispatch as data: shader variant, workgroups, bindings and push constants.
struct Dispatch {
  std::string name;    // name of its node
  std::string op;      // operator type, "Conv"; "Convert" for layout conversions
  std::string shader;  // file of shaders/ without ".comp"
  std::vector<std::pair<std::string, std::string>>
      defines;  // preamble macros of this variant, sorted by name
  std::array<uint32_t, 3> workgroup_size{64, 1,
                                         1};  // the shader sees it as WORKGROUP_X, WORKGROUP_Y, WORKGROUP_Z
  std::array<uint32_t, 3> workgroup_count{1, 1, 1};
  // Each invocation has a place in a box, which workgroups of any shape would cover.
  bool covers_box = false;
  std::vector<Binding> bindings;  // binding number = position
  Parameters push_constants;
  // Fields that ProgramBuilder::add_dispatch() moves to the push constants, or to macros if the push
  // constants would exceed the device's limit.
  std::vector<AppendedParameter> appended = {};
  std::optional<PlainCopy> copy = std::nullopt;
  // Not 0: the dispatch requires full subgroups of this size, which the shader sees as SUBGROUP. It must be
  // DeviceCaps::subgroup_size, and needs full_subgroups.
  uint32_t subgroup_size = 0;
  // The workgroups count each other, or address memory by their number: they have to be in one dispatch.
  bool workgroups_cooperate = false;
  // Multiply-accumulates without padding: those of the node, or fewer for a fast algorithm. 0: negligible.
  uint64_t macs = 0;
  // An upper bound of the iterations of all loops of one invocation, including the check that ends each loop
  // (loop_iterations()). Every kernel whose loops depend on a shape declares it. 0: the loops are short for
  // all shapes (kUndeclaredIterations at most).
  uint64_t iterations = 0;
  // The kernel candidate of its node, "pointwise 4x2"; empty if there was no choice.
  std::string candidate = {};
  // The fused kernel that makes this dispatch; none for other kernels. If the kernel fails its check on a
  // device (WrongKernel), the nodes are not fused there.
  std::optional<FusedKernelId> fused = std::nullopt;
  // Not null: the dispatch copies several tensors into one. These dispatches do the same, one tensor each,
  // which frees each tensor earlier. arrange() chooses.
  std::shared_ptr<const std::vector<Dispatch>> apart = nullptr;
  // Not null: one of such dispatches. This one does what all of them do.
  std::shared_ptr<const Dispatch> together = nullptr;
};

// With elements of a larger magnitude the result of a node, of int64, may exceed the 32 bits of the device.
struct IntegerLimit {
  int64_t most = 0;
  std::string node;
};

// The positions that a node takes from an input.
struct IndexLimits {
  struct Range {
    int64_t least = 0, most = 0;
    bool operator==(const Range&) const = default;
  };
  std::vector<Range> ranges;  // of the positions of a tuple; the elements are tuples one after another
  std::string node;
  const char* fault = "";  // what the node would do with another element: "read outside of its data"

  // Returns the range of element i.
  const Range& range_of(size_t i) const { return ranges[ranges.size() == 1 ? 0 : i % ranges.size()]; }
};

// An input or output of a graph: a linear buffer that the host writes or reads.
struct Port {
  std::string name;
  TensorType type;                     // as in the model
  TensorId tensor = kNoTensor;         // kNoTensor: the value is in one of the next two members
  std::optional<HostTensor> constant;  // known before running
  // For an output of the last task, if that is a host partition with run-time shapes: its position in the
  // outputs of the partition's graph. `type` then has unknown dimensions.
  std::optional<size_t> host_output = std::nullopt;
  bool is_state = false;  // `tensor` belongs to a state, which the host does not access
  std::optional<IntegerLimit> limit = std::nullopt;  // of an input
  std::vector<IndexLimits> indices = {};             // of an input
};

// How the tensor of a state stores its values.
struct StateRows {
  RowFormat format = RowFormat::floats;  // here: elements of any type, in no words
  int64_t channels = 0;                  // of a row in words
  bool operator==(const StateRows&) const = default;
};

// A state: runs read it as an input, and leave in it the value of an output, for the next run.
struct StateTensor {
  size_t input = 0, output = 0;  // positions in Program::inputs and outputs
  TensorId tensor = kNoTensor;   // linear
  StateRows rows = {};
};

// A part of the network that the host computes with the operators' host references: an operator without a
// kernel, or the operators of a HostTail.
struct HostPartition {
  std::shared_ptr<const Graph> graph;
  std::vector<Port> inputs;  // per input of the graph; may be any tensors of the program
  // True: the shapes of the outputs are known only at run time. The outputs then stay on the host, and this
  // is the last task.
  bool has_run_time_shapes = false;
  std::vector<TensorId> outputs;  // otherwise, per output of the graph, the linear tensor that receives it
};

// One step in execution order: either a dispatch or a host partition.
struct Task {
  std::optional<Dispatch> dispatch;
  std::optional<HostPartition> host;
};

// Return the name and the operator type of the task's node, or of the first node of a host partition.
const std::string& node_name(const Task& task);
std::string_view operator_type(const Task& task);

// A network as tasks in execution order over virtual tensors.
struct Program {
  std::deque<VirtualTensor> tensors;  // references stay valid while tensors are added
  std::vector<Task> tasks;
  std::vector<Port> inputs, outputs;
  std::vector<StateTensor> states;
  std::vector<std::string> warnings;  // e.g. operators that run on the host

  // Returns whether the last task computes outputs with run-time shapes on the host.
  bool has_run_time_shapes() const;
  TensorId root(TensorId id) const;    // follows alias_of
  uint64_t offset(TensorId id) const;  // bytes from the beginning of the root
  // Returns for each tensor the root that owns its memory: follows alias_of and in_place_of.
  std::vector<TensorId> owners() const;
};

// Returns whether the tensor is in the memory of an input or output, which the host can access directly.
bool is_host_visible(const Program& program, TensorId id);

// Formats one line for each task: the output of `vellum inspect --stage program`.
std::string to_text(const Program& program);

}  // namespace vellum
