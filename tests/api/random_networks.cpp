#include "random_networks.hpp"

#include <algorithm>
#include <random>

#include "support/tensors.hpp"

namespace vellum::test {
namespace {

constexpr size_t kNodes = 26;
constexpr int64_t kMostChannels = 40;

struct Value {
  std::string name;
  Shape shape;
};

class NetworkMaker {
 public:
  explicit NetworkMaker(uint32_t seed) : seed_(seed), random_(seed) {
    values_.push_back({"x", random_network_input(seed)});
    model_.input("x", values_.front().shape);
  }

  OnnxModel make() {
    while (values_.size() < kNodes) {
      switch (pick(9)) {
        case 0:
          convolve(1);
          break;
        case 1:
          convolve(3);
          break;
        case 2:
          activate();
          break;
        case 3:
        case 4:
          combine();
          break;
        case 5:
          join();
          break;
        case 6:
          split();
          break;
        case 7:
          gate();
          break;
        default:
          pool();
          break;
      }
    }
    finish("y");
    finish("z");
    return std::move(model_);
  }

 private:
  size_t pick(size_t count) { return random_() % count; }

  // Mostly late ones, so that the network is deep and some values wait long for their last reader.
  const Value& any() {
    const size_t back = std::min(pick(values_.size()), pick(values_.size()));
    return values_[values_.size() - 1 - back];
  }

  std::string add(Shape shape) {
    values_.push_back({"v" + std::to_string(values_.size()), std::move(shape)});
    return values_.back().name;
  }

  std::string weights(const Shape& shape) {
    const std::string name = "w" + std::to_string(weights_++);
    model_.initializer(name,
                       random_tensor(shape, seed_ * 1000 + static_cast<uint32_t>(weights_), -0.4f, 0.4f));
    return name;
  }

  void convolve(int64_t size) {
    const Value x = any();
    const int64_t channels = x.shape[1], outputs = pick(3) ? 4 * (1 + static_cast<int64_t>(pick(6)))
                                                           : 3 + 2 * static_cast<int64_t>(pick(5));
    const std::string w = weights({outputs, channels, size, size});
    Shape shape = x.shape;
    shape[1] = outputs;
    const int64_t pad = size / 2;
    model_.node("Conv", {x.name, w}, {add(shape)}, attributes({{"pads", std::vector<int64_t>(4, pad)}}));
  }

  void activate() {
    const Value x = any();
    const char* const types[] = {"Relu", "Sigmoid", "Tanh", "LeakyRelu", "Abs"};
    model_.node(types[pick(5)], {x.name}, {add(x.shape)});
  }

  // Combines two values of one shape, if there are such.
  void combine() {
    const Value a = any();
    std::vector<Value> alike;
    for (const Value& value : values_)
      if (value.shape == a.shape) alike.push_back(value);
    const Value b = alike[pick(alike.size())];
    const char* const types[] = {"Add", "Mul", "Sub", "Max"};
    model_.node(types[pick(4)], {a.name, b.name}, {add(a.shape)});
  }

  void join() {
    const Value first = any();
    const size_t axis = pick(3) ? 1 : 2;
    std::vector<std::string> parts{first.name};
    Shape shape = first.shape;
    for (const Value& value : values_) {
      Shape rest = value.shape, wanted = shape;
      rest[axis] = wanted[axis] = 0;
      if (parts.size() < 3 && rest == wanted && value.name != first.name && pick(2) &&
          shape[axis] + value.shape[axis] <= kMostChannels) {
        parts.push_back(value.name);
        shape[axis] += value.shape[axis];
      }
    }
    model_.node("Concat", parts, {add(shape)}, attributes({{"axis", static_cast<int64_t>(axis)}}));
  }

  void split() {
    const Value x = any();
    if (x.shape[1] < 2) return;
    const int64_t low = x.shape[1] >= 8 && pick(3) ? x.shape[1] / 8 * 4 : x.shape[1] / 2;
    Shape first = x.shape, second = x.shape;
    first[1] = low;
    second[1] = x.shape[1] - low;
    HostTensor sizes(DType::i64, {2});
    auto* values = static_cast<int64_t*>(static_cast<void*>(sizes.mutable_data()));
    values[0] = low;
    values[1] = x.shape[1] - low;
    const std::string name = "s" + std::to_string(weights_++);
    model_.initializer(name, sizes);
    const std::string a = add(first), b = add(second);
    model_.node("Split", {x.name, name}, {a, b}, attributes({{"axis", int64_t{1}}}));
  }

  void pool() {
    const Value x = any();
    model_.node(
        pick(2) ? "MaxPool" : "AveragePool", {x.name}, {add(x.shape)},
        attributes({{"kernel_shape", std::vector<int64_t>{3, 3}}, {"pads", std::vector<int64_t>(4, 1)}}));
  }

  // Squeeze-and-excitation, and a convolution after it.
  void gate() {
    const Value x = any();
    const int64_t channels = x.shape[1], hidden = 1 + static_cast<int64_t>(pick(9));
    const std::string name = "g" + std::to_string(weights_);
    model_.node("GlobalAveragePool", {x.name}, {name + "_means"});
    model_.node("Conv", {name + "_means", weights({hidden, channels, 1, 1})}, {name + "_hidden"});
    model_.node("Relu", {name + "_hidden"}, {name + "_relu"});
    model_.node("Conv", {name + "_relu", weights({channels, hidden, 1, 1})}, {name + "_gate"});
    model_.node(pick(2) ? "Sigmoid" : "HardSigmoid", {name + "_gate"}, {name + "_factor"});
    model_.node("Mul", {x.name, name + "_factor"}, {name});
    Shape shape = x.shape;
    shape[1] = 4 + static_cast<int64_t>(pick(12));
    const std::string w = weights({shape[1], channels, 1, 1});
    model_.node("Conv", {name, w}, {add(shape)});
  }

  // Every value that no node reads as yet would be dead code: the mean over space of some, added up in two
  // outputs.
  void finish(const std::string& name) {
    const Value &a = values_[values_.size() - 1 - pick(3)], &b = any();
    const std::string left = name + "_left", right = name + "_right";
    for (const auto& [value, to] : {std::pair<const Value&, std::string>{a, left}, {b, right}}) {
      const std::string w = weights({4, value.shape[1], 1, 1});
      model_.node("Conv", {value.name, w}, {to + "_conv"});
      model_.node("GlobalAveragePool", {to + "_conv"}, {to});
    }
    model_.node("Add", {left, right}, {name});
    model_.output(name);
  }

  const uint32_t seed_;
  std::mt19937 random_;
  OnnxModel model_;
  std::vector<Value> values_;
  size_t weights_ = 0;
};

}  // namespace

Shape random_network_input(uint32_t seed) {
  return {seed % 5 == 4 ? 2 : 1, 4 + static_cast<int64_t>(seed % 3) * 2, 6, 8};
}

OnnxModel random_network(uint32_t seed) { return NetworkMaker(seed).make(); }

}  // namespace vellum::test
