// Builds a Program node by node. It records which tensors hold each value of the graph, and inserts layout
// conversions where a kernel needs the other layout. Used by lower() and, through Lowering, by every kernel
// file.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/framework/kernel_id.hpp"
#include "kernels/framework/lowering.hpp"
#include "kernels/framework/share_pipelines.hpp"

namespace vellum {

class ProgramBuilder {
 public:
  ProgramBuilder(const Graph& graph, const DeviceCaps& caps, const LoweringOptions& options);

  // Lowers every node. Call it once. Throws ConversionIsWrong if only wrong kernels (LoweringOptions::wrong)
  // could convert between the layouts of a node.
  Program build();
  // Returns the wrong kernels that were avoided, also after build() threw.
  const AvoidedKernels& avoided() const { return avoided_; }
  // Returns, after build(), the lowerings of each node: first the one that was used, then lowerings with
  // other kernels of nearly the same predicted time. Empty if the options name the kernels
  // (LoweringOptions::chosen, whole_layers), or if kernels were avoided as wrong.
  const std::vector<std::vector<NodeLowering>>& lowerings() const { return lowerings_; }

  const Graph& graph() const { return graph_; }
  const DeviceCaps& caps() const { return caps_; }
  const LoweringOptions& options() const { return options_; }
  const VirtualTensor& tensor(TensorId id) const { return program_.tensors[id]; }

  bool exists_in(ValueId value, Layout layout) const;
  bool is_final(ValueId value) const { return is_output_[value] && !is_read_by_node_[value]; }
  bool is_read(ValueId value) const { return is_read_[value]; }  // by a node or as a graph output
  // Implement Lowering::read() and write().
  TensorId read(ValueId value, Layout layout);
  TensorId write(ValueId value, Layout layout);
  // Returns a linear tensor of another shape with the memory of `tensor`.
  TensorId make_alias(TensorId tensor, Shape shape, std::string tensor_name);
  void set_tensor(ValueId value, Layout layout, TensorId id);
  // Makes the tensors of `source` those of `value`, which has the same elements in the same order, where
  // these exist in channels4 alone and each element is in the same texel. Returns whether that is so.
  bool share_texels(ValueId value, ValueId source);
  // Implements Lowering::update_state().
  TensorId update_state(ValueId input, ValueId output);
  // Implements Lowering::alias_same_bytes().
  bool alias_same_bytes(ValueId value, ValueId source);
  TensorId add_tensor(VirtualTensor tensor);
  // Returns a tensor of zeros and the index of the first of `count` elements reserved for the caller. One
  // dispatch zeroes the counters of several callers.
  std::pair<TensorId, int64_t> counters(int64_t count);
  // Implement Lowering::counters_for_range() and range_of().
  bool needs_range(ValueId value) const { return needs_range_[value]; }
  void set_range(ValueId value, std::pair<TensorId, int64_t> counters) { ranges_[value] = counters; }
  std::optional<std::pair<TensorId, int64_t>> range(ValueId value) const {
    const auto found = ranges_.find(value);
    return found == ranges_.end() ? std::nullopt : std::optional(found->second);
  }
  void add_dispatch(Dispatch dispatch, const Node* node);
  // Returns the dispatches that `emit` adds, and removes them from the program. `emit` adds no other task.
  std::vector<Dispatch> without_adding(const std::function<void()>& emit);
  void add_host_partition(const Node& node, std::string_view why);

  // Returns the node of the whole graph of which this one computes a strip, or WholeLayers::kNone.
  size_t whole_of(const Node& node) const;
  // Returns the index of the candidate to use. `candidates`: names in ascending order of predicted cost;
  // `us`: their predicted times; `signature`: the operator's, for tuning tables; `number`: index of the
  // choice among those of the node.
  size_t choose(std::string signature, std::vector<KernelName> candidates, const std::vector<double>& us,
                size_t number);
  std::string describe_input(ValueId value) const;
  std::string describe_output(ValueId value) const;

  // Returns the storage that the options give a value in channels4; never automatic. kNoValue: the default
  // storage.
  StorageChoice storage_choice(ValueId value) const;
  // Sets the storage and fold of a channels4 tensor: `choice` if the limits of images allow it.
  void choose_storage(TensorDesc& desc, StorageChoice choice) const;
  ElementType float_element() const;
  // Sets the element type to q8 if the value is stored in bytes.
  void choose_element(TensorDesc& desc, ValueId value) const;
  // Returns the desc of an intermediate tensor. `choice`: the storage if it is in channels4.
  TensorDesc describe_type(const TensorType& type, Layout layout, StorageChoice choice) const;

 private:
  // Throws Error(unsupported), which names a remedy.
  [[noreturn]] void refuse_large(const VirtualTensor& tensor) const;
  struct ValueTensors {
    TensorId channels4 = kNoTensor, linear = kNoTensor;
    TensorId& in(Layout layout) { return layout == Layout::channels4 ? channels4 : linear; }
    bool operator==(const ValueTensors&) const = default;
  };
  // A choice that the current node made.
  struct NodeChoice {
    KernelName taken;
    size_t candidates = 0;  // number of candidates that were not avoided
    double us = 0;          // predicted time; 0: unknown
    std::vector<KernelName> as_quick;
  };
  // The program before a node was lowered, so that the node can be lowered again.
  struct Checkpoint {
    size_t tasks, tensors, warnings, choices;
    std::vector<ValueTensors> value_tensors;
    std::pair<TensorId, int64_t> counters;
    std::map<ValueId, std::pair<TensorId, int64_t>> ranges;
  };

  Checkpoint checkpoint() const;
  void restore(const Checkpoint& checkpoint);
  // Returns whether a task from `first_task` on has loops that the device would end early
  // (DeviceCaps::max_loop_iterations).
  bool has_endless_loops(size_t first_task) const;
  // Returns whether a task from `first_task` on has such loops or a kernel of options_.wrong, and records the
  // kernel.
  bool used_wrong_kernel(size_t first_task);
  bool avoid_a_candidate();
  // Lowers the node with each combination of kernels of nearly the same predicted time, and records the
  // pipelines of each combination. Finally lowers the node again as it was.
  void find_lowerings(const Node& node, const Checkpoint& before);
  NodeLowering lowering_since(const Checkpoint& before);
  // Returns the kernels that the current node must use; null: the best.
  const std::vector<KernelName>* wanted_kernels() const;
  bool lower_with_right_candidate(const Node& node, bool is_replacement);
  // Throws ConversionIsWrong if other storage for all tensors may help.
  void lower_with_right_kernels(const Node& node);
  void lower_or_run_on_host(const Node& node);
  void warn_of_avoided_kernels();

  void add_inputs();
  void lower_node(const Node& node);
  void lower_node_once(const Node& node);
  // Makes the tensor of a state's input. `state`: its position in LoweringOptions::states.
  void add_state(size_t state, ValueId input);
  // Copies the next values of states that no node has updated in place.
  void store_states();
  void add_outputs();
  void add_outputs_and_tail(const HostTail& tail);
  void add_tail_partition(const HostTail& tail, std::vector<Port> inputs);
  Port output_port(ValueId id);
  TensorId output_tensor(ValueId value);
  std::vector<size_t> allowed_candidates(const std::vector<KernelName>& candidates) const;
  TensorId constant_tensor(ValueId value, Layout layout);
  bool layouts_are_identical(TensorId from, ValueId value, Layout layout) const;
  TensorId convert(TensorId from, ValueId value, Layout layout);
  // Return linear tensors that the host can read and write. A value that is stored in bytes gets an fp32
  // tensor.
  TensorId read_for_host(ValueId value);
  TensorId write_for_host(ValueId value);
  TensorId copy_to_output(TensorId from, ValueId value);
  // Copies a linear tensor to another of the same shape. Returns `to`.
  TensorId copy_to(TensorId to, TensorId from);
  TensorDesc describe_value(ValueId value, Layout layout) const;

  const Graph& graph_;
  const DeviceCaps& caps_;
  LoweringOptions options_;
  Program program_;
  std::vector<ValueTensors> value_tensors_;
  // The latest tensor of counters, and the number of counters used in it.
  std::pair<TensorId, int64_t> counters_{kNoTensor, 0};
  // Where the kernels that compute these values leave their ranges.
  std::map<ValueId, std::pair<TensorId, int64_t>> ranges_;
  std::vector<bool> is_output_, is_read_, is_read_by_node_, needs_range_;
  std::vector<std::optional<ByteGrid>> grids_;             // by value; empty if none is stored in bytes
  bool may_use_images_;                                    // whether options allow images for channels4
  const Node* current_ = nullptr;                          // the node whose dispatches are being added
  std::vector<NodeChoice> node_choices_;                   // of the current node
  std::vector<KernelName> wanted_;                         // its required kernels, in find_lowerings()
  std::vector<std::set<std::string>> avoided_candidates_;  // for each of node_choices_
  AvoidedKernels avoided_;
  bool converts_wrongly_ = false;
  uint64_t longest_loops_ = 0;  // iterations of the current node's kernels with too long loops; 0: none
  std::vector<std::vector<NodeLowering>> lowerings_;
  // By shader, macros, workgroup and subgroup size.
  std::map<std::tuple<std::string, decltype(Dispatch::defines), decltype(Dispatch::workgroup_size), uint32_t>,
           size_t>
      pipelines_;
};

}  // namespace vellum
