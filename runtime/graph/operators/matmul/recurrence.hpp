// The sequential part of a recurrent layer, after the products with its inputs. passes/decompose makes it
// from RNN, GRU and LSTM (recurrent.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "graph/operator_support.hpp"

namespace vellum {

enum class RecurrentCell : uint8_t { rnn, gru, lstm };

// With D directions, sequences of T steps, B batches, H hidden units and the G gates of the cell (in the
// order of ONNX: rnn i; gru z, r, h; lstm i, o, f, c):
//   inputs   0 products TxBxDGH: input times W plus biases. Only inputs 0 and 1 are required
//            1 R DxGHxH
//            2 candidate_bias DxH: gru with linear_before_reset, added to the product of the gate h with R
//            3 sequence_lens B    4 initial_h DxBxH    5 initial_c DxBxH
//            6 P Dx3H: lstm's peepholes i, o, f
//   outputs  Y TxDxBxH (or with these dimensions in another order), Y_h DxBxH, and of an lstm Y_c DxBxH
// After the end of a sequence Y is 0, and Y_h and Y_c are the values of its last step.
struct Recurrence : Operator {
  // The activations f, g and h of one direction, as ONNX names them. An rnn has only f, a gru f and g.
  using Activations = std::array<Activation, 3>;

  RecurrentCell cell = RecurrentCell::lstm;
  std::vector<Activations> activations;  // for each direction
  bool first_reversed = false;       // direction 0 runs from the end of the sequence; direction 1 always does
  float clip = 0.0f;                 // bounds the arguments of f and g, as in ONNX Runtime; 0: no bound
  float cell_clip = 0.0f;            // lstm: bounds the cells after each step, as in TFLite; 0: no bound
  bool input_forget = false;         // lstm: the gate f is 1 - i
  bool linear_before_reset = false;  // gru: the gate r acts on the product with R, not on its argument
  // Dimension i of Y is dimension y_order[i] of TxDxBxH. The last one is H.
  std::array<size_t, 4> y_order{0, 1, 2, 3};

  int64_t directions() const { return static_cast<int64_t>(activations.size()); }
  int64_t gates() const { return cell == RecurrentCell::lstm ? 4 : cell == RecurrentCell::gru ? 3 : 1; }
  bool reversed(size_t direction) const { return direction == 1 || first_reversed; }
  Shape y_shape(int64_t steps, int64_t batches, int64_t hidden) const;
  // The distances in Y between steps, directions and batches, in rows of H elements.
  std::array<int64_t, 3> y_strides(int64_t steps, int64_t batches) const;

  std::string_view type() const override { return "Recurrence"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t macs(Inputs inputs) const override;
  Attributes attributes() const override;
};

// Makes ONNX's LSTM with cells that `cell_clip` bounds.
std::shared_ptr<const Operator> make_clipped_lstm(const NodeSpec& spec, float cell_clip);

}  // namespace vellum
