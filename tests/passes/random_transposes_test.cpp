// Graphs of random operators on images in either order keep their results when transpositions move.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "passes/pass_harness.hpp"

namespace vellum::test {
namespace {

using Ints = Attributes::Ints;

struct Image {
  std::string name;
  int64_t channels;
  bool channels_last;
};

constexpr int64_t kBatch = 2, kHeight = 3, kWidth = 4, kMostChannels = 9;

class RandomModel {
 public:
  explicit RandomModel(uint32_t seed) : random_(seed) {
    for (const bool last : {false, true}) {
      const std::string name = last ? "in_last" : "in_first";
      model_.input(name, last ? Shape{kBatch, kHeight, kWidth, 3} : Shape{kBatch, 3, kHeight, kWidth});
      images_.push_back({name, 3, last});
    }
    for (int i = 0; i < 14; ++i) add_operator();
    // The last value, and some before it that others read as well.
    model_.output(images_.back().name);
    for (size_t i = 2; i + 1 < images_.size(); ++i)
      if (pick(6) == 0) model_.output(images_[i].name);
  }

  const OnnxModel& model() const { return model_; }

 private:
  size_t pick(size_t count) { return random_() % count; }
  // Rather a late one, so that the graph is deep.
  Image any() { return images_[images_.size() - 1 - std::min(pick(images_.size()), pick(images_.size()))]; }
  const Image* like(const Image& image) {
    std::vector<const Image*> found;
    for (const Image& other : images_)
      if (other.channels == image.channels && other.channels_last == image.channels_last)
        found.push_back(&other);
    return found[pick(found.size())];
  }

  std::string constant(const Shape& shape) {
    std::string name = "c" + std::to_string(constants_++);
    std::vector<float> values(static_cast<size_t>(element_count(shape)));
    for (float& value : values) value = static_cast<float>(pick(17)) / 8 - 1;
    model_.initializer(name, HostTensor::f32(shape, values));
    return name;
  }

  void add(const std::string& type, const std::vector<std::string>& inputs, int64_t channels, bool last,
           const Attributes& node_attributes = {}) {
    std::string name = "v" + std::to_string(images_.size());
    model_.node(type, inputs, {name}, node_attributes);
    images_.push_back({std::move(name), channels, last});
  }

  void turn(const Image& x) {
    const Ints perm = x.channels_last ? Ints{0, 3, 1, 2} : Ints{0, 2, 3, 1};
    add("Transpose", {x.name}, x.channels, !x.channels_last, attributes({{"perm", perm}}));
  }

  void add_constant(const Image& x) {
    const Shape per_channel = x.channels_last ? Shape{x.channels} : Shape{x.channels, 1, 1};
    const Shape image =
        x.channels_last ? Shape{1, kHeight, kWidth, x.channels} : Shape{1, x.channels, kHeight, kWidth};
    const Shape shape = pick(3) == 0 ? image : pick(3) == 0 ? Shape{} : per_channel;
    const std::string c = constant(shape);
    const char* const kinds[] = {"Add", "Mul", "Max"};
    const char* const kind = kinds[pick(3)];
    if (pick(2) == 0)
      add(kind, {x.name, c}, x.channels, x.channels_last);
    else
      add(kind, {c, x.name}, x.channels, x.channels_last);
  }

  void join(const Image& x) {
    const int64_t axis = pick(2) == 0 ? (x.channels_last ? 3 : 1) : (x.channels_last ? -1 : -3);
    add("Concat", {x.name, like(x)->name}, 2 * x.channels, x.channels_last, attributes({{"axis", axis}}));
  }

  void subtract_mean(const Image& x) {
    const Ints space = x.channels_last ? Ints{1, 2} : Ints{2, 3}, channel{x.channels_last ? 3 : 1};
    const std::string mean = "mean" + std::to_string(images_.size());
    model_.node("ReduceMean", {x.name}, {mean}, attributes({{"axes", pick(2) ? space : channel}}));
    add("Sub", {x.name, mean}, x.channels, x.channels_last);
  }

  void convolve(const Image& x) {
    if (x.channels_last) return turn(x);
    add("Conv", {x.name, constant({3, x.channels, 1, 1})}, 3, false);
  }

  void pad(const Image& x) {
    const std::string pads = "p" + std::to_string(constants_++);
    Ints amounts(8, 0);
    amounts[x.channels_last ? 7 : 5] = 1;
    model_.initializer(pads, HostTensor::i64({8}, amounts));
    add("Pad", {x.name, pads}, x.channels + 1, x.channels_last);
  }

  // Its elements stay in their order while the shape changes: nothing may move past it.
  void reshape(const Image& x) {
    const std::string to = "s" + std::to_string(constants_++);
    model_.initializer(to, HostTensor::i64({4}, x.channels_last ? Ints{kBatch, x.channels, kHeight, kWidth}
                                                                : Ints{kBatch, kHeight, kWidth, x.channels}));
    add("Reshape", {x.name, to}, x.channels, !x.channels_last);
  }

  void add_operator() {
    const Image x = any();
    const bool narrow = 2 * x.channels <= kMostChannels;
    switch (pick(12)) {
      case 0:
        return add("Sigmoid", {x.name}, x.channels, x.channels_last);
      case 1:
        return add("Add", {x.name, like(x)->name}, x.channels, x.channels_last);
      case 2:
        return add_constant(x);
      case 3:
        return narrow ? join(x) : turn(x);
      case 4:
        return subtract_mean(x);
      case 5:
        return convolve(x);
      case 6:
        return narrow ? pad(x) : turn(x);
      case 7:
        return reshape(x);
      case 8:
        return add("PRelu", {x.name, constant({1})}, x.channels, x.channels_last);
      default:
        return turn(x);
    }
  }

  std::mt19937 random_;
  OnnxModel model_;
  std::vector<Image> images_;
  int constants_ = 0;
};

void take_away_what_cancels(Graph& graph) {
  merge_reshapes(graph);
  remove_identities(graph);
  remove_dead_code(graph);
}

size_t count_transposes(const Graph& graph) {
  size_t count = 0;
  for (const Node& node : graph.nodes) count += node.op->type() == "Transpose";
  return count;
}

TEST(MoveTransposes, RandomGraphsKeepTheirResults) {
  size_t fewer = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomModel random(seed);
    size_t before = 0;
    const auto move = [&](Graph& graph) {
      take_away_what_cancels(graph);
      before = count_transposes(graph);
      move_transposes(graph);
      take_away_what_cancels(graph);
    };
    const size_t moved = count_transposes(after(move, random.model(), seed));
    EXPECT_LE(moved, before);
    fewer += moved < before;
  }
  EXPECT_GT(fewer, 10u);
}

}  // namespace
}  // namespace vellum::test
