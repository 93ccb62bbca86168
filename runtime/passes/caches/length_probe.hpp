// Finds how the shapes and the known values of a graph depend on the number of tokens in its growing caches.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "graph/operators/movement/slice.hpp"
#include "passes/caches/growing_caches.hpp"

namespace vellum {

// Infers all types for three numbers of earlier tokens: capacity - tokens, and one and two fewer. Computes
// all values that follow from shapes and small constants.
class LengthProbe {
 public:
  static constexpr size_t kLengths = 3;

  LengthProbe(const Graph& graph, std::span<const GrowingCache> caches, const InputShapes& shapes,
              const InputTensors& values);

  int64_t past() const { return past_; }  // earlier tokens in the longest caches
  const TensorType& type(ValueId value) const { return graphs_[0].values[value].type; }
  // Whether the value is known before running, other than a constant of the model. Values that were added to
  // the graph later are not.
  bool is_known(ValueId value) const { return value < values() && known_[0][value].has_value(); }
  // The known value for the longest caches.
  const HostTensor& value(ValueId value) const { return *known_[0][value]; }
  // Whether constant folding gives different constants for a value that is not known here.
  bool differs_otherwise(ValueId value) const;
  size_t values() const { return known_[0].size(); }
  // Whether the type of a value depends on the length.
  bool grows(ValueId value) const { return type(value) != graphs_[1].values[value].type; }
  // The sizes of a value along `axis` for the three lengths.
  std::array<int64_t, kLengths> sizes(ValueId value, size_t axis) const;
  // Whether `value_of_run`, computed for these lengths in shapes of the longest caches, begins with the known
  // value for each of them.
  bool begins_with_known(ValueId value, const std::array<HostTensor, kLengths>& value_of_run) const;
  // The earlier tokens of the three lengths.
  std::array<int64_t, kLengths> lengths() const { return {past_, past_ - 1, past_ - 2}; }
  // Whether a known value is the same for all lengths.
  bool is_same(ValueId value) const;
  // Whether a known value for shorter caches is a prefix of the value for longer ones.
  bool is_prefix(ValueId value) const;

  // value = offset + factor * length, element by element.
  struct Linear {
    HostTensor offset, factor;
    bool is_length = false;  // the factor is 1 everywhere
  };
  std::optional<Linear> linear(ValueId value) const;

  // Returns the ranges of a Slice for the three lengths; nothing if they are known only in a run.
  using Ranges = std::array<SliceRange, kLengths>;
  std::optional<Ranges> slice_ranges(const Node& node) const;

  // Returns the linear function of the length that has these three integer values; nothing if there is none.
  std::optional<Linear> linear(const std::array<HostTensor, kLengths>& values) const;

 private:
  const HostTensor* find(size_t k, ValueId value) const;
  std::vector<OperatorInput> inputs_of(size_t k, const Node& node) const;
  void evaluate_known(const Graph& graph);

  std::array<Graph, kLengths> graphs_;  // with all types
  std::array<std::vector<std::optional<HostTensor>>, kLengths> known_;
  int64_t past_ = 0;
};

}  // namespace vellum
