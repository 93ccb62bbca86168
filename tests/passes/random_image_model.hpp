// Random networks on images in both dimension orders, for passes that move transpositions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "support/onnx_builder.hpp"

namespace vellum::test {

// Some fourteen operators on images [2, C, 3, 4] and [2, 3, 4, C], with transpositions between the orders.
// Each operator reads an earlier value, rather a late one, so that the network is deep; outputs are the last
// value and some before it, which other operators read as well.
class RandomImageModel {
 public:
  explicit RandomImageModel(uint32_t seed);

  const OnnxModel& model() const { return model_; }

 private:
  struct Image {
    std::string name;
    int64_t channels;
    bool channels_last;
  };

  size_t random_below(size_t bound) { return random_() % bound; }
  Image any_image();
  // One with as many channels in the same order, perhaps itself.
  const Image& image_like(const Image& image);

  // Adds an initializer of multiples of 1/8 and returns its name.
  std::string constant(const Shape& shape);
  std::string integer_constant(const std::vector<int64_t>& values);
  // Adds a node whose result has the batch, height and width of all images.
  void add_node(const std::string& type, const std::vector<std::string>& inputs, int64_t channels,
                bool channels_last, const Attributes& attributes = {});

  void add_operator();
  void transpose(const Image& x);
  void combine_with_constant(const Image& x);
  void concatenate(const Image& x);
  void subtract_mean(const Image& x);
  void convolve(const Image& x);
  void pad_channels(const Image& x);
  void reinterpret(const Image& x);

  std::mt19937 random_;
  OnnxModel model_;
  std::vector<Image> images_;
  int constants_ = 0;
};

}  // namespace vellum::test
