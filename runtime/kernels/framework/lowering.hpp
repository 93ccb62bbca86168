// The interface through which kernel files lower one operator to dispatches.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "caps/device_caps.hpp"
#include "graph/state_pairs.hpp"
#include "kernels/framework/candidate.hpp"
#include "kernels/framework/choice.hpp"
#include "kernels/framework/kernel_id.hpp"
#include "program/program.hpp"
#include "vellum/options.hpp"

namespace vellum {

struct LoweringOptions {
  Precision precision = Precision::fp32;
  StorageChoice storage = StorageChoice::automatic;
  // Converts float inputs of rank <= 4 to channels4 before the first operator, whichever layout that prefers.
  bool inputs_to_channels4 = false;
  Winograd winograd = Winograd::off;
  Arithmetic arithmetic = Arithmetic::fp32;
  // Measured times for the choice of kernel candidates; null if nothing was measured.
  const TuningTable* tuning = nullptr;
  // The storage of each value in channels4, by ValueId. Empty: `storage` for all values.
  std::vector<StorageChoice> value_storages = {};
  // True: weights use `storage`. False: weights use the storage of their operator's output.
  bool weights_in_default_storage = false;
  // TensorDesc::rows_first by ValueId, for values in channels4 in a buffer that are no constants. Empty:
  // false for all.
  std::vector<bool> rows_first = {};
  // The minimum TensorDesc::fold of intermediate tensors in 2D images with several slices. The limits of
  // images may require more.
  uint32_t fold = 0;
  // If not null, every choice that is made is appended here.
  std::vector<Choice>* choices = nullptr;
  // Kernels that give wrong results on the device. Their nodes are computed by other candidates, in other
  // storage or on the host, and the program has a warning for each. Null: none is known.
  const WrongKernels* wrong = nullptr;
  WrongNodes wrong_nodes = WrongNodes::other_kernels;
  bool device_regions = true;  // whether a DeviceRegion runs on the device; only warnings depend on it
  // The whole layers of a graph with strips. Null: every node is a whole layer.
  const WholeLayers* whole_layers = nullptr;
  // The kernels to use, per node; takes precedence over whole_layers. Null: the best candidates.
  const ChosenKernels* chosen = nullptr;
  // Whether kernels may compute elementwise functions of their results (fuse_epilogues.hpp), access what
  // moves of pixels access (fuse_pixel_moves.hpp), and compute several functions (fuse_elementwise.hpp).
  bool fuse_epilogues = true;
  // Inputs and outputs that are state. Throws Error(invalid_argument) where their types differ.
  std::vector<StatePair> states = {};
};

class ProgramBuilder;

// A function that returns the elements of a weight in device order, called when a session needs them. With
// `origin`, sessions can tell without calling it whether they already hold the same weight.
struct WeightValues {
  std::function<std::vector<float>()> make;
  WeightOrigin origin;
  // For a tensor of bytes (q8) instead of `make`: returns its bytes.
  std::function<std::vector<std::byte>()> make_bytes = {};
  // True: the elements are computed at run time, and make() returns gather indices (packed_weights()).
  bool numbers = false;

  template <typename Make>
  requires std::is_invocable_r_v<std::vector<float>, Make> WeightValues(Make function, WeightOrigin from = {})
      : make(std::move(function)), origin(std::move(from)) {}
};

// The lowering of one node. It returns tensors in the layout that the kernel needs. If a value exists only in
// the other layout, a conversion is dispatched before the node, and its result is kept for later users.
class Lowering {
 public:
  Lowering(ProgramBuilder& builder, const Node& node) : builder_(builder), node_(node) {}

  const Node& node() const { return node_; }
  const Graph& graph() const;
  // Return the whole layer of which the node computes a strip, and its graph. Return the node and its graph
  // if it computes a whole layer.
  const Node& whole_node() const;
  const Graph& whole_graph() const;
  const DeviceCaps& caps() const;
  const LoweringOptions& options() const;
  template <typename Op>
  const Op& op() const {
    return dynamic_cast<const Op&>(*node_.op);
  }

  bool has_input(size_t i) const;
  const TensorType& input_type(size_t i) const;
  // Returns whether output i is read by a node or is a graph output. A kernel need not compute other outputs.
  bool is_read(size_t i) const;
  // Returns whether output i is a graph output that no node reads.
  bool is_final(size_t i) const;
  // Returns the shape of output 0 of the whole layer.
  const Shape& whole_shape() const;
  // Scales a count that is proportional to output 0, such as its rows, from this strip to the whole layer.
  int64_t of_whole(int64_t count) const;
  // Returns the type of output i, even if nothing reads it.
  const TensorType& output_type(size_t i = 0) const;
  const HostTensor* constant(size_t i) const;  // null if the input is not known before running

  // Lowers the node with the best of the candidates, of which there must be at least one. The device must be
  // able to run all of them. Chooses the fastest measured candidate if the tuning table shows that it is
  // clearly faster, else the one with the least predicted cost. Call it before reading inputs. A node may
  // make several choices, which are independent.
  void emit_best(const std::vector<KernelCandidate>& candidates);
  // Returns the parameters of the best candidate, chosen in the same way.
  template <typename Parameters>
  Parameters best_of(const std::vector<ParameterCandidate<Parameters>>& candidates) {
    std::vector<KernelPrediction> predictions;
    for (const auto& candidate : candidates)
      predictions.push_back({candidate.name, candidate.predicted_cost, candidate.predicted_us});
    return candidates[choose(predictions)].parameters;
  }

  // Returns the multiply-accumulates of the node (Operator::macs()).
  uint64_t macs() const;

  // Returns the layout in which input i already exists. For a constant: channels4 up to rank 4.
  Layout preferred_layout(size_t i) const;
  // Returns the desc that read() in channels4 would return for input i, which is no constant, without reading
  // it.
  TensorDesc desc_of_input(size_t i) const;
  // Returns whether input i, which is no constant, is stored in bytes (q8).
  bool is_in_bytes(size_t i) const;
  // Returns whether constant weights of a layer may be integers times a scale, as files have them: input 0 is
  // stored in bytes, or the file has such constants.
  bool may_have_byte_weights() const;
  // Returns whether the file has such constants, and input 0 is not stored in bytes.
  bool has_only_integer_weights() const;
  // Returns input i in `layout`. A constant becomes a weight in that layout. channels4 needs rank <= 4.
  TensorId read(size_t i, Layout layout);
  // Returns a view of input i with another shape of equal element count (linear only), without a copy.
  TensorId read_as(size_t i, Shape shape);
  // Returns the tensor for output i in `layout`, in the storage that options and caps choose. If the node
  // omits the output, it is a workspace of this node.
  TensorId write(size_t i, Layout layout);
  // Declares that an output is the linear data of an input under another shape, without a dispatch. The node
  // must have the output.
  void alias(size_t output, size_t input);
  // Lets the node update a state in place, if output `output` is the next value of the state at input `input`
  // and nothing else reads that input. The output becomes the state's linear tensor, which is returned.
  // Returns kNoTensor if the node must write a tensor of its own.
  TensorId update_state(size_t input, size_t output);
  // Declares without a dispatch that output 0 has the tensors of input 0, if both are stored in bytes on the
  // same grid, and no byte is outside of `least` to `most` steps. Returns whether that is so.
  bool alias_same_bytes(float least, float most);

  // Returns a prepacked weight. An image falls back to a buffer if its extent exceeds the device's limits, so
  // check tensor(id).desc.storage. Describe the weight by texel_grid().
  TensorId weight(std::string name, TensorDesc desc, WeightValues values);
  // Returns constant input i as a linear weight in its own type, in every precision: the bytes of the model
  // file, which need no copy (8-bit integers, fp16 and fp32; fp64 becomes fp32).
  TensorId constant_as_stored(size_t i);
  // Returns integers as a linear weight.
  TensorId integer_weight(std::string name, Shape shape, std::vector<int64_t> values);
  // Describes width x height texels of four elements. It is an image2d if the texels fit, the node's output
  // is in an image, and the device's weights are not in buffers (DeviceTraits). Otherwise it is a buffer with
  // index y * width + x.
  TensorDesc texel_grid(uint32_t width, uint32_t height) const;
  // Sets the storage of a channels4 tensor to the storage of the node's output, within the limits of images.
  void choose_storage(TensorDesc& desc) const;
  // Integers in `tensor`, from index `first` on.
  struct Counters {
    TensorId tensor = kNoTensor;
    int64_t first = 0;
  };
  // Returns `count` integers that are zero before the node's next dispatch.
  Counters counters(int64_t count);
  // Returns counters for the range of output 0 (shaders/common/range.glsl), which a kernel may find as it
  // stores the output in channels4. Returns nothing if no node needs the range. The kernel must find it then.
  std::optional<Counters> counters_for_range();
  // Returns the counters in which the kernel that computes input i left its range; nothing if it did not.
  std::optional<Counters> range_of(size_t i) const;
  // Returns a workspace, a temporary tensor of this node.
  TensorId workspace(std::string name, TensorDesc desc);
  // Returns a workspace of this shape that is otherwise like `model`, within the limits of images. `name` is
  // appended to the node's name.
  TensorId workspace_like(TensorId model, Shape shape, std::string_view name);

  const VirtualTensor& tensor(TensorId id) const;

  // Runs the node on the host because its form has no kernel. The program gets a warning with the reason
  // ("LpPool has no kernel"). Call no other function for the node.
  void run_on_host(std::string_view why);
  // Runs the node on the host because the kernel has too few loops for the tensor's dimensions. The reason is
  // "Transpose of 9 dimensions has no kernel".
  void run_on_host_for_rank();

  // Returns whether input i exists in this layout, so that reading it adds no conversion.
  bool exists_in(size_t i, Layout layout) const;
  // Returns what dispatch() adds in `emit`, without adding it.
  std::vector<Dispatch> without_adding(const std::function<void()>& emit);
  // Adds the dispatch. Fills in name and op, the tensor macros of each binding, workgroup size macros, and
  // how images are read. Throws Error(unsupported), which names the node, if the dispatch exceeds a limit of
  // the caps on workgroups, push constants, bindings or ranges.
  void dispatch(Dispatch dispatch);

 private:
  bool has_output(size_t i) const;
  std::string signature() const;
  StorageChoice output_storage() const;
  size_t choose(const std::vector<KernelPrediction>& predictions);

  ProgramBuilder& builder_;
  const Node& node_;
  mutable std::vector<TensorType> output_types_;  // by the shape rule, computed if an output is omitted
  size_t choices_ = 0;
};

using LowerOperator = void (*)(Lowering& lowering);
// Looks up the tables runtime/graph/operators.def and, for FusedNodes, operators/fused/fused_kernels.def.
// Returns lower_none for an operator that only the host can run.
LowerOperator find_lowering(const Operator& op);

// Lowers a graph to a program. All shapes of `graph` must be known (passes/optimise). Needs no device. Throws
// Error(unsupported) if only wrong kernels (options.wrong) could convert inputs or outputs.
Program lower(const Graph& graph, const DeviceCaps& caps, const LoweringOptions& options);

}  // namespace vellum
