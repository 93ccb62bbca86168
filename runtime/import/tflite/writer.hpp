// Builds the graph of a TFLite import. It tracks which value holds each tensor of the file, and in which
// order of dimensions.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/graph.hpp"
#include "graph/operator_support.hpp"
#include "import/tflite/schema.hpp"
#include "import/tflite/stored_grid.hpp"
#include "import/tflite/subgraph.hpp"

namespace vellum::tflite {

// Convolutions, pools and resizing treat a tensor with four dimensions as an image: N, H, W, C in the file;
// N, C, H, W in the graph. A tensor is held in the order in which its operator produced it. A Transpose is
// added where another operator needs the other order.
class Writer {
 public:
  Writer(File& file, const schema::SubGraph& subgraph);

  File& file() const { return file_; }

  bool has_tensor(int32_t tensor) const {
    return tensor >= 0 && static_cast<size_t>(tensor) < tensors_.size();
  }
  size_t rank(int32_t tensor) const { return type(tensor).shape.size(); }
  // Returns the type in the file.
  const TensorType& type(int32_t tensor) const;
  // Returns the value of a constant, which is stored in the file or computed from a stored tensor by
  // DEQUANTIZE or DENSIFY; null for other tensors. Valid until its last reader has been converted.
  const HostTensor* constant(int32_t tensor) const;
  // Returns the integers of a quantised constant of 32 bits, of which floats hold 24; null for other tensors.
  const HostTensor* integer_bias(int32_t tensor) const;
  // Returns the elements of a constant tensor that decides a shape. Throws Error(unsupported) if the tensor
  // is computed.
  Ints constant_ints(int32_t tensor, std::string_view what) const;
  // Returns whether the stored integers represent real numbers. The graph holds the real numbers, and type()
  // is their type.
  bool quantised(int32_t tensor) const { return at(tensor).quantisation.has_value(); }
  // Return the scales and the type of the integers of a quantised tensor.
  std::vector<float> scales_of(int32_t tensor) const { return at(tensor).quantisation->scale.to_floats(); }
  int64_t zero_point_of(int32_t tensor) const { return at(tensor).quantisation->zero_point.to_ints()[0]; }
  bool has_zero_points(int32_t tensor) const;  // other than 0
  DType stored_type(int32_t tensor) const { return at(tensor).quantisation->stored; }
  // Return the scale of a tensor with one scale; nothing for other tensors. byte_scale(): of 8-bit integers;
  // grid_scale(): of integers of 8 or 16 bits.
  std::optional<float> byte_scale(int32_t tensor) const;
  std::optional<float> grid_scale(int32_t tensor) const;
  void set_constant(int32_t tensor, HostTensor value);
  // Makes the tensor the constant that a DEQUANTIZE makes of the constant `from`.
  void set_dequantised(int32_t tensor, int32_t from);
  // Returns whether the file gives no shape for a computed tensor: an empty one, which a scalar has, too.
  bool lacks_rank(int32_t tensor) const { return at(tensor).lacks_rank; }
  // Sets the shape of such a tensor.
  void set_open_shape(int32_t tensor, Shape shape);
  // Call it once for each converted operator that reads the tensor. After the last reader the constant is
  // freed, so that float16 weights, or weights in the file's order, are not in memory twice.
  void finished_reading(int32_t tensor);

  bool held_as_image(int32_t tensor) const;
  // Returns the real and imaginary parts of a tensor of complex numbers, which its value holds in a last
  // dimension of 2. The other functions that return values refuse such a tensor.
  ValueId complex_parts(int32_t tensor);
  bool is_complex(int32_t tensor) const { return at(tensor).is_complex; }
  ValueId in_file_order(int32_t tensor);
  // Returns a tensor from which an operator gathers computed rows: of a constant matrix in bytes the real
  // numbers of its integers as a DequantizeLinear, so that fuse_packed_weights() keeps the integers.
  ValueId table_of_rows(int32_t tensor);
  ValueId as_image(int32_t tensor);  // four dimensions only
  ValueId in_order(int32_t tensor, bool image) { return image ? as_image(tensor) : in_file_order(tensor); }

  ValueId add_constant(const std::string& name, HostTensor value);
  ValueId add_value(const std::string& name);
  void add_node(std::shared_ptr<const Operator> op, std::vector<ValueId> inputs,
                std::vector<ValueId> outputs);
  // Returns a new value for the operator that computes `tensor`.
  ValueId define(int32_t tensor, bool image);
  // Rounds the value of a quantised tensor to the numbers that its integers represent. Call it after the
  // operator that computes the tensor was converted.
  void round_to_grid(int32_t tensor);
  // Adds a call of a graph with these inputs, and returns its outputs.
  std::vector<ValueId> call(const Graph& graph, const std::vector<ValueId>& inputs);

  // handle: the tensor by which operators refer to the variable when they read or assign it.
  void name_variable(int32_t handle, const std::string& name);
  void read_variable(int32_t handle, int32_t tensor);
  void assign_variable(int32_t handle, int32_t tensor);
  // Return and set the state of an operator that keeps it in a tensor of its own from one run to the next.
  // The state is an input and an output of the graph, as a variable is. A quantised state is held as real
  // numbers.
  ValueId read_state(int32_t tensor);
  void write_state(int32_t tensor, ValueId value);

  std::string name_of(int32_t tensor) const;
  // Gives the graph's inputs and outputs the names of the signature, unless another tensor has the name.
  Graph finish(const schema::SignatureDef* signature);

 private:
  using TensorNames = flatbuffers::Vector<flatbuffers::Offset<schema::TensorMap>>;

  struct Quantisation {
    DType stored;
    HostTensor scale, zero_point;  // as the inputs of DequantizeLinear
    int64_t axis;
  };

  struct Tensor {
    TensorType type;
    std::string name;
    std::optional<HostTensor> constant;
    std::optional<HostTensor> bias;  // the integers of 32 bits of which `constant` has the real numbers
    std::optional<Quantisation> quantisation;
    std::optional<Quantisation> integers;  // of which a DEQUANTIZE makes `constant`
    ValueId file = kNoValue, image = kNoValue;
    uint32_t readers = 0;       // operators that are not converted yet, and graph outputs
    bool is_constant = false;   // stays true after `constant` was freed
    bool is_interface = false;  // a graph input or output: its name belongs to the file's order
    bool is_handle = false;     // refers to a variable, and has no value
    bool lacks_rank = false;    // an empty shape, which may be that of a scalar
    bool is_state = false;      // an operator keeps it from one run to the next
    bool is_complex = false;    // `type` is the type of one part (real or imaginary)
    std::string variable;       // the variable of a handle
  };

  const Tensor& at(int32_t tensor) const;
  Tensor& at(int32_t tensor);
  static void refuse_complex(const Tensor& tensor);
  std::string unique(const std::string& name);
  std::string value_name(const Tensor& tensor, bool image);
  static Quantisation read_quantisation(const schema::Tensor& entry, const TensorType& type);
  void make_real_of_blocks(Tensor& tensor, const schema::SubGraph& subgraph,
                           const schema::BlockwiseQuantization& blocks);
  void make_real(Tensor& tensor, const schema::Tensor& entry);
  HostTensor to_real(const HostTensor& stored, const Quantisation& quantisation);
  HostTensor stored_and_real(const HostTensor& real, const Quantisation& quantisation);
  static StoredGrid grid_of(const Quantisation& quantisation);
  void note_grid(const Node& node);
  ValueId rounded(ValueId value, const StoredGrid& grid);
  ValueId read_input(Tensor& input);
  ValueId write_output(int32_t tensor);
  ValueId copied(ValueId value, const std::string& name);
  ValueId quantised_value(ValueId real, const Tensor& tensor, const std::string& name);
  void read_tensors(const schema::SubGraph& subgraph);
  void count_tensor(const schema::Tensor& entry);
  const std::string& variable_of(int32_t handle) const;
  void share_value(int32_t from, Tensor& to);
  void write_variables();
  void count_readers(const schema::SubGraph& subgraph);
  void find_empty_constants(const schema::SubGraph& subgraph);
  void name_by(const TensorNames* names, const std::vector<int32_t>& tensors,
               const std::vector<ValueId>& values);
  void mark_interface(const flatbuffers::Vector<int32_t>* ids, const char* what, std::vector<int32_t>& list);

  File& file_;
  bool is_called_;  // an operator calls the graph: inputs and outputs are real numbers
  Graph graph_;
  std::vector<Tensor> tensors_;
  bool is_quantised_ = false;                      // whether a computed tensor is quantised
  std::unordered_map<ValueId, StoredGrid> grids_;  // of values that are known to be on a grid
  std::unordered_map<int32_t, ValueId> tables_;    // by the tensor that table_of_rows() took
  std::map<std::string, int32_t> variables_;       // the tensor with the current value, from its first use on
  std::map<std::string, std::string> variable_inputs_;  // names of the inputs of variables
  std::vector<std::string> assigned_;                   // in the order of their first assignment
  std::unordered_set<std::string> is_assigned_;
  std::vector<std::pair<int32_t, ValueId>> states_;  // state tensors, and their values after a run
  std::vector<int32_t> inputs_, outputs_;
  std::unordered_map<std::string, int> names_;  // used names, each with the next suffix to try
  std::unordered_set<ValueId> written_;         // the graph's outputs
};

// Returns the elements of an NHWC tensor in the order NCHW. Lower ranks first get leading dimensions of 1, as
// in broadcasting.
HostTensor to_image_order(const HostTensor& tensor);
HostTensor permuted(const HostTensor& tensor, const Ints& order);
// Returns the dimension of an image (N, C, H, W) that is dimension `axis` in the file's order (N, H, W, C).
int64_t image_axis(int64_t axis);
// Convert from the file's order of dimensions to the order in which the tensor is held: an axis (a negative
// one counts from the end), and a list with one value for each dimension.
int64_t held_axis(int64_t axis, size_t rank, bool image);
Ints by_axis(const Ints& values, bool image);

}  // namespace vellum::tflite
