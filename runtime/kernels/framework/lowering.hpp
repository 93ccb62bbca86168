// The view of a kernel file while it lowers one operator to dispatches.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "caps/device_caps.hpp"
#include "kernels/framework/candidate.hpp"
#include "kernels/framework/choice.hpp"
#include "kernels/framework/kernel_id.hpp"
#include "program/program.hpp"
#include "vellum/options.hpp"

namespace vellum {

struct LoweringOptions {
  Precision precision = Precision::fp32;
  StorageChoice storage = StorageChoice::automatic;
  // Converts float inputs of rank <= 4 to channels4 before the first operator, whatever that would like best.
  bool inputs_to_channels4 = false;
  Winograd winograd = Winograd::off;
  Arithmetic arithmetic = Arithmetic::fp32;
  // Measured times by which kernel candidates are chosen; null if nothing was measured.
  const TuningTable* tuning = nullptr;
  // The storage of each value in channels4, by ValueId; empty: `storage` for all of them.
  std::vector<StorageChoice> value_storages = {};
  // Whether weights are where values without a storage of their own are, not where their operator's output
  // is.
  bool weights_in_default_storage = false;
  // By ValueId: whether TensorDesc::rows_first holds where the value is in channels4 in a buffer; empty: for
  // none. Not for constants.
  std::vector<bool> rows_first = {};
  // TensorDesc::fold of the intermediate tensors in images of two dimensions that have several slices; more
  // where the limits of images demand it.
  uint32_t fold = 0;
  // Every choice that was to be made is added here, where it is not null.
  std::vector<Choice>* choices = nullptr;
  // Kernels that give wrong results on the device: other candidates, other storage or the host compute their
  // nodes, and the program has a warning for each. Null: none is known.
  const WrongKernels* wrong = nullptr;
  // Null: every node is a whole layer.
  const WholeLayers* whole_layers = nullptr;
  // Per node, before the strips of whole layers; null: the best of the candidates.
  const ChosenKernels* chosen = nullptr;
};

class ProgramBuilder;

// The elements of a weight in device order, as a function that is called when a session needs them. Where
// `origin` is given, sessions find out without calling it whether they hold the same weight already.
struct WeightValues {
  std::function<std::vector<float>()> make;
  WeightOrigin origin;
  // The elements are not known before running: make() gives numbers in their place (packed_weights()).
  bool numbers = false;

  template <typename Make>
  requires std::is_invocable_r_v<std::vector<float>, Make> WeightValues(Make function, WeightOrigin from = {})
      : make(std::move(function)), origin(std::move(from)) {}
};

// The lowering of one node. Tensors are handed out in the layout that the kernel wants; a conversion dispatch
// is put before the node where the value so far lives in another one (and is kept for later users).
class Lowering {
 public:
  Lowering(ProgramBuilder& builder, const Node& node) : builder_(builder), node_(node) {}

  const Node& node() const { return node_; }
  const Graph& graph() const;
  // The layer of which the node computes a strip, and its graph; the node and its graph where it computes
  // all.
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
  // Whether a node or a graph output reads output i. A kernel need not compute one that nobody reads.
  bool is_read(size_t i) const;
  // Whether output i is an output of the graph that no node reads.
  bool is_final(size_t i) const;
  // The shape of output 0 of the whole layer.
  const Shape& whole_shape() const;
  // How many there are in the whole layer of something of which there are `count` here, such as rows of
  // output 0.
  int64_t of_whole(int64_t count) const;
  // The type of output i, also of one that nobody reads.
  const TensorType& output_type(size_t i = 0) const;
  const HostTensor* constant(size_t i) const;  // nullptr where the input is not known before running

  // Lowers the node with the best of the candidates, at least one, all of which the device can run: the
  // quickest where the device's tuning table says that it is clearly quicker, else the one of the least
  // predicted cost. Call it before reading inputs; a second choice of a node is a question of its own.
  void emit_best(const std::vector<KernelCandidate>& candidates);
  // The parameters of the best candidate, likewise.
  template <typename Parameters>
  Parameters best_of(const std::vector<ParameterCandidate<Parameters>>& candidates) {
    std::vector<KernelPrediction> predictions;
    for (const auto& candidate : candidates)
      predictions.push_back({candidate.name, candidate.predicted_cost, candidate.predicted_us});
    return candidates[choose(predictions)].parameters;
  }

  // Multiply-accumulates of the node by its definition.
  uint64_t macs() const;

  // The layout in which input i exists already (channels4 or linear); for a constant: channels4 up to rank 4.
  Layout preferred_layout(size_t i) const;
  // How input i, which is no constant, is stored in channels4: what read() gives, without reading it.
  TensorDesc desc_of_input(size_t i) const;
  // Input i in `layout`. A constant becomes a weight in that layout. channels4 needs rank <= 4.
  TensorId read(size_t i, Layout layout);
  // Input i, seen with another shape of equal element count (linear only): no copy.
  TensorId read_as(size_t i, Shape shape);
  // Output i, in `layout`, in the storage that options and caps choose; a temporary of this node where the
  // node leaves the output out.
  TensorId write(size_t i, Layout layout);
  // Declares that output i, which the node has, is input j's linear data under another shape: no dispatch at
  // all.
  void alias(size_t output, size_t input);

  // A packed weight. `storage` images fall back to a buffer where the extent exceeds the device's limits, so
  // look at tensor(id).desc.storage. The desc is a plain 2-D grid of texels: shape {1, 4 * height_slices,
  // ...} is up to the kernel: use texel_grid() to describe `width` x `height` texels.
  TensorId weight(std::string name, TensorDesc desc, WeightValues values);
  // Integers as a linear weight.
  TensorId integer_weight(std::string name, Shape shape, std::vector<int64_t> values);
  // width x height texels of four elements: an image2d where it fits, the node's output is to be in an image
  // and the device's policy does not keep weights in buffers; else a buffer (index y * width + x).
  TensorDesc texel_grid(uint32_t width, uint32_t height) const;
  // Sets the storage of a channels4 tensor, as for the node's output, within the limits of images.
  void choose_storage(TensorDesc& desc) const;
  // Integers that are zero before the node's next dispatch: `count` of `tensor`, from `first` on.
  struct Counters {
    TensorId tensor = kNoTensor;
    int64_t first = 0;
  };
  Counters counters(int64_t count);
  // A temporary of this node only.
  TensorId workspace(std::string name, TensorDesc desc);
  // One of this shape, in other respects like `model`, within the limits of images. `name` follows the
  // node's.
  TensorId workspace_like(TensorId model, Shape shape, std::string_view name);

  const VirtualTensor& tensor(TensorId id) const;

  // For a form of the operator that has no kernel: the node runs on the host, and the program carries a
  // warning that says why ("LpPool has no kernel"). Call it instead of anything else.
  void run_on_host(std::string_view why);
  // For more dimensions than the kernel has loops for: "Transpose of 9 dimensions has no kernel".
  void run_on_host_for_rank();

  // Adds the dispatch. Fills in name and op, the tensor macros of each binding, workgroup size macros, and
  // how images are read; checks workgroup, push-constant, binding and range limits against caps and throws
  // Error(unsupported) naming the node where one is exceeded.
  void dispatch(Dispatch dispatch);

 private:
  bool has_output(size_t i) const;
  std::string signature() const;
  StorageChoice output_storage() const;
  size_t choose(const std::vector<KernelPrediction>& predictions);

  ProgramBuilder& builder_;
  const Node& node_;
  mutable std::vector<TensorType> output_types_;  // by the shape rule, once an output is left out
  size_t choices_ = 0;
};

using LowerOperator = void (*)(Lowering& lowering);
// From the table runtime/graph/operators.def; lower_none for an operator that only the host can run.
LowerOperator find_lowering(std::string_view operator_type);

// Graph -> Program. `graph` has all its shapes (passes/optimise). Needs no device. Throws Error(unsupported)
// if no kernels but wrong ones (options.wrong) connect the host with the device.
Program lower(const Graph& graph, const DeviceCaps& caps, const LoweringOptions& options);

}  // namespace vellum
