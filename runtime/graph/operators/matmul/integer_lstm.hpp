// The LSTM of quantised models in integers, as LiteRT's EvalInteger8x8_16() computes it
// (tflite/kernels/lstm_eval.cc): states of 8 bits, cells and gates of 16 bits.
#pragma once

#include <array>
#include <vector>

#include "graph/operator_support.hpp"

namespace vellum {

// Inputs: X (steps, batches, width), the output state and the cell state (batches, cells), the weights of X
// (4, cells, width), the weights of the output state (4, cells, cells) and the biases (4, cells). Gates are
// in the order input, forget, cell, output. Outputs: Y (steps, batches, cells), and both states after the
// last step. The elements of all tensors are integers times their steps. Not an ONNX operator: the importer
// of TFLite files makes it.
struct IntegerLstm : Operator {
  static constexpr size_t kGates = 4;
  enum Input : size_t { kX, kState, kCells, kWeights, kStateWeights, kBiases };

  float x_step = 1.0f, state_step = 1.0f;
  int64_t state_zero = 0;  // zero point: state integers are in -128..127 with it
  int64_t cell_bits = 11;  // the step of the cell state is 2^-cell_bits
  int64_t cell_clip = 0;   // bound of the cell state's integers; 0: none
  bool couples = false;    // the input gate is 1 - forget gate
  std::vector<float> w_steps = std::vector<float>(kGates, 1.0f), r_steps = std::vector<float>(kGates, 1.0f);

  std::string_view type() const override { return "IntegerLstm"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  uint64_t work(Inputs inputs, Outputs outputs) const override;
  Attributes attributes() const override;
};

}  // namespace vellum
