// Makes one random graph, node by node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "differential/random_graph.hpp"
#include "graph/operator.hpp"

namespace vellum::test {

// How an operator treats values.
enum class Rounds : uint8_t {
  never,          // moves or selects elements
  yes,            // computes
  discontinuous,  // never rounds, but needs inputs that are exact
};

class GraphMaker {
 public:
  GraphMaker(uint32_t seed, Axes axes) : random_(seed), is_large_(axes == Axes::large) {}

  RandomGraph make();

 private:
  using Ints = Attributes::Ints;
  static constexpr int kOpset = 17;

  struct Value {
    std::string name;
    TensorType type;
    std::optional<HostTensor> constant;
    bool exact = true;  // computed without rounding
    bool read = false;
  };

  size_t pick(size_t count) { return random_() % count; }
  bool chance(size_t of) { return pick(of) == 0; }
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(pick(static_cast<size_t>(high - low + 1)));
  }
  static bool is_output_type(const Value& value) { return value.type.dtype != DType::boolean; }

  Shape image_shape();
  Shape matrix_shape();
  void add_input(const Shape& shape);
  size_t constant(HostTensor tensor);
  size_t floats(const Shape& shape, float low = -1, float high = 1);
  size_t integers(const Ints& numbers);
  // A computed float value, mostly a late one; of this number of dimensions if there is one, else nothing.
  std::optional<size_t> any(std::optional<size_t> rank = std::nullopt);
  const Shape& shape(size_t value) const { return values_[value].type.shape; }

  // Adds the node if its shape rule accepts it and its outputs are neither empty nor large.
  bool node(const std::string& type, const std::vector<size_t>& inputs, const Attributes& attributes,
            Rounds rounds, size_t output_count = 1);
  void add_node();

  // One function for each family; they do nothing where no value suits. computing_nodes.cpp:
  void unary();
  void clip();
  // With a value of the same shape, of another that broadcasts, or a constant.
  void binary();
  void compare_and_choose();
  void convolution();
  void transposed_convolution();
  void pool();
  void resize();
  void reduce();
  void pick_largest();
  void normalise();
  void product();
  void accumulate();
  // Some dimensions are 1, some of the first are left out.
  Shape broadcastable(Shape shape);
  // moving_nodes.cpp:
  void reshape();
  void cut();
  void join();
  void repeat();
  void move_between_space_and_depth();

  std::mt19937 random_;
  bool is_large_;
  RandomGraph graph_{OnnxModel(kOpset), false};
  std::vector<Value> values_;
  size_t nodes_ = 0;
};

}  // namespace vellum::test
