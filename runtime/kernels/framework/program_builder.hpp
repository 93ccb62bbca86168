// Builds a Program node by node: keeps for each value of the graph the tensors that hold it, and puts layout
// conversions where a kernel wants another one. Used by lower() and, through Lowering, by every kernel file.
#pragma once

#include <string>
#include <vector>

#include "kernels/framework/lowering.hpp"

namespace vellum {

class ProgramBuilder {
 public:
  ProgramBuilder(const Graph& graph, const DeviceCaps& caps, const LoweringOptions& options);

  // Lowers every node; call once.
  Program build();

  const Graph& graph() const { return graph_; }
  const DeviceCaps& caps() const { return caps_; }
  const LoweringOptions& options() const { return options_; }
  const VirtualTensor& tensor(TensorId id) const { return program_.tensors[id]; }

  bool exists_in(ValueId value, Layout layout) const;
  bool is_read(ValueId value) const { return is_read_[value]; }  // by a node, or as a graph output
  TensorId read(ValueId value, Layout layout);
  TensorId write(ValueId value, Layout layout);
  TensorId make_alias(TensorId of, Shape shape, std::string tensor_name);
  void set_tensor(ValueId value, Layout layout, TensorId id);
  TensorId add_tensor(VirtualTensor tensor);
  void add_dispatch(Dispatch dispatch, const Node* node);
  void add_host_partition(const Node& node, std::string_view why);

  // The candidate to take, of names in order of their predicted costs; and the signatures of operators.
  size_t choose(std::string signature, std::vector<KernelName> candidates);
  std::string describe_input(ValueId value) const;
  std::string describe_output(ValueId value) const;

  // What options say of a value in channels4, never automatic. kNoValue: of any.
  StorageChoice storage_choice(ValueId value) const;
  // The same for a tensor of that shape where the limits of images allow it.
  Storage image_or_buffer(const Shape& shape, StorageChoice choice) const;
  ElementType float_element() const;
  // How the device holds an intermediate tensor. `choice`: of a tensor in channels4.
  TensorDesc describe_type(const TensorType& type, Layout layout, StorageChoice choice) const;

 private:
  struct ValueTensors {
    TensorId channels4 = kNoTensor, linear = kNoTensor;
    TensorId& in(Layout layout) { return layout == Layout::channels4 ? channels4 : linear; }
  };

  void add_inputs();
  void lower_node(const Node& node);
  void add_outputs();
  void add_outputs_and_tail(const HostTail& tail);
  void add_tail_partition(const HostTail& tail, std::vector<Port> inputs);
  Port output_port(ValueId id);
  TensorId output_tensor(ValueId value);
  TensorId constant_tensor(ValueId value, Layout layout);
  bool lies_alike_in_both(TensorId from, ValueId value, Layout layout) const;
  TensorId convert(TensorId from, ValueId value, Layout layout);
  TensorId copy_to_output(TensorId from, ValueId value);
  TensorDesc describe_value(ValueId value, Layout layout) const;
  void check_limits(const Dispatch& dispatch) const;
  void choose_image_reads(Dispatch& dispatch) const;
  void choose_buffer_reads(Dispatch& dispatch) const;

  const Graph& graph_;
  const DeviceCaps& caps_;
  LoweringOptions options_;
  Program program_;
  std::vector<ValueTensors> value_tensors_;
  std::vector<bool> is_output_, is_read_;
  const Node* current_ = nullptr;  // the node whose dispatches are being added
};

}  // namespace vellum
