#include "differential/random_graph.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "graph/operator.hpp"
#include "support/tensors.hpp"
#include "vellum/error.hpp"

namespace vellum::test {
namespace {

using Ints = Attributes::Ints;
using List = std::initializer_list<std::pair<std::string, Attributes::Value>>;

constexpr int kOpset = 13;
constexpr size_t kMostElements = 6000;

struct Value {
  std::string name;
  TensorType type;
  std::optional<HostTensor> constant;
  bool exact = true;  // computed without rounding
  bool read = false;
};

// How an operator treats values.
enum class Rounds : uint8_t {
  never,          // moves or selects elements
  yes,            // computes
  discontinuous,  // never rounds, but needs inputs that are exact
};

class Maker {
 public:
  explicit Maker(uint32_t seed) : random_(seed) {}

  RandomGraph make() {
    add_input(image_shape());
    if (chance(3)) add_input(chance(2) ? values_[0].type.shape : matrix_shape());
    const size_t nodes = 3 + pick(8);
    for (size_t tries = 0; nodes_ < nodes && tries < 200; ++tries) add_node();
    if (nodes_ == 0) node("Relu", {0}, {}, Rounds::never);
    size_t outputs = 0;
    for (const Value& value : values_)
      if (!value.read && !value.constant && is_output_type(value) && value.name[0] != 'x')
        graph_.model.output(value.name), ++outputs;
    if (outputs == 0) graph_.model.output(values_.back().name);
    return std::move(graph_);
  }

 private:
  size_t pick(size_t count) { return random_() % count; }
  bool chance(size_t of) { return pick(of) == 0; }
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(pick(static_cast<size_t>(high - low + 1)));
  }
  static bool is_output_type(const Value& value) { return value.type.dtype != DType::boolean; }

  Shape image_shape() { return {chance(4) ? 2 : 1, between(1, 13), between(1, 9), between(1, 9)}; }
  Shape matrix_shape() {
    Shape shape(static_cast<size_t>(between(1, 3)));
    for (int64_t& dim : shape) dim = between(1, 9);
    return shape;
  }

  void add_input(const Shape& shape) {
    const std::string name = "x" + std::to_string(values_.size());
    graph_.model.input(name, shape);
    values_.push_back({name, {DType::f32, shape}, {}, true, false});
  }

  size_t constant(HostTensor tensor) {
    const std::string name = "c" + std::to_string(values_.size());
    graph_.model.initializer(name, tensor);
    const TensorType type = tensor.type();
    values_.push_back({name, type, std::move(tensor), true, false});
    return values_.size() - 1;
  }
  size_t floats(const Shape& shape, float low = -1, float high = 1) {
    return constant(random_tensor(shape, static_cast<uint32_t>(random_()), low, high));
  }
  size_t integers(const Ints& numbers) {
    return constant(HostTensor::i64({static_cast<int64_t>(numbers.size())}, numbers));
  }

  // A computed float value, mostly a late one; of this number of dimensions if there is one, else nothing.
  std::optional<size_t> any(std::optional<size_t> rank = std::nullopt) {
    for (int tries = 0; tries < 20; ++tries) {
      const size_t at = values_.size() - 1 - std::min(pick(values_.size()), pick(values_.size()));
      const Value& value = values_[at];
      if (!value.constant && value.type.dtype == DType::f32 && !value.type.shape.empty() &&
          (!rank || value.type.shape.size() == *rank))
        return at;
    }
    return std::nullopt;
  }

  const Shape& shape(size_t value) const { return values_[value].type.shape; }

  // Adds the node if its shape rule accepts it and its outputs are neither empty nor large.
  bool node(const std::string& type, const std::vector<size_t>& inputs, const Attributes& attributes,
            Rounds rounds, size_t output_count = 1) {
    std::vector<OperatorInput> operands;
    std::vector<std::string> names, outputs;
    bool exact = true;
    for (const size_t input : inputs) {
      const Value& value = values_[input];
      operands.push_back({true, value.type, value.constant ? &*value.constant : nullptr});
      names.push_back(value.name);
      exact = exact && value.exact;
    }
    if (rounds == Rounds::discontinuous && !exact) return false;
    std::vector<TensorType> types;
    try {
      const NodeSpec spec{type,        "n", kOpset, &attributes, std::vector<bool>(inputs.size(), true),
                          output_count};
      types = make_operator(spec)->infer(operands);
    } catch (const Error&) {
      return false;
    }
    for (const TensorType& output : types)
      if (element_count(output.shape) == 0 ||
          element_count(output.shape) > static_cast<int64_t>(kMostElements))
        return false;
    graph_.discontinuous = graph_.discontinuous || rounds == Rounds::discontinuous;
    for (const size_t input : inputs) values_[input].read = true;
    for (const TensorType& output : types) {
      outputs.push_back("v" + std::to_string(values_.size()));
      values_.push_back({outputs.back(), output, {}, exact && rounds != Rounds::yes, false});
    }
    graph_.model.node(type, names, outputs, attributes, "n" + std::to_string(nodes_));
    ++nodes_;
    return true;
  }

  // --- One function for each family; they do nothing where no value suits ---

  void unary() {
    static constexpr const char* smooth[] = {"Sigmoid", "Tanh", "HardSigmoid", "HardSwish",
                                             "Elu",     "Selu", "Softplus",    "Softsign",
                                             "Erf",     "Sin",  "Cos",         "Atan"};
    static constexpr const char* exact[] = {"Relu", "Abs", "Neg", "Identity"};
    static constexpr const char* steps[] = {"Floor", "Ceil", "Round", "Sign"};
    const auto x = any();
    if (!x) return;
    switch (pick(4)) {
      case 0:
        node(exact[pick(std::size(exact))], {*x}, {}, Rounds::never);
        break;
      case 1:
        node(steps[pick(std::size(steps))], {*x}, {}, Rounds::discontinuous);
        break;
      default:
        node(smooth[pick(std::size(smooth))], {*x}, {}, Rounds::yes);
    }
  }

  void clip() {
    if (const auto x = any()) node("Clip", {*x, floats({}, -1, 0), floats({}, 0, 1)}, {}, Rounds::never);
  }

  // With a value of the same shape, of another that broadcasts, or a constant.
  void binary() {
    static constexpr const char* types[] = {"Add", "Sub", "Mul", "Max", "Min", "Div"};
    const auto x = any();
    if (!x) return;
    const std::string type = types[pick(std::size(types))];
    const bool selects = type == "Max" || type == "Min";
    std::optional<size_t> other;
    if (type == "Div") {
      other = floats(broadcastable(shape(*x)), 0.5f, 2);
    } else if (chance(2)) {
      other = floats(broadcastable(shape(*x)));
    } else {
      other = any();
    }
    if (!other) return;
    std::vector<size_t> inputs{*x, *other};
    if (type != "Div" && chance(2)) std::swap(inputs[0], inputs[1]);
    node(type, inputs, {}, selects ? Rounds::never : Rounds::yes);
  }

  // Some dimensions are 1, some of the first are left out.
  Shape broadcastable(Shape shape) {
    for (int64_t& dim : shape)
      if (chance(3)) dim = 1;
    shape.erase(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(pick(shape.size() + 1)));
    return shape;
  }

  void compare_and_choose() {
    const auto x = any();
    if (!x) return;
    static constexpr const char* types[] = {"Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal"};
    if (!node(types[pick(std::size(types))], {*x, floats(broadcastable(shape(*x)))}, {},
              Rounds::discontinuous))
      return;
    const size_t condition = values_.size() - 1;
    node("Where", {condition, *x, floats(broadcastable(shape(*x)))}, {}, Rounds::never);
  }

  void convolution() {
    const auto x = any(4);
    if (!x) return;
    const int64_t channels = shape(*x)[1];
    int64_t group = 1;
    if (chance(3))
      group = channels;
    else if (channels % 2 == 0 && chance(3))
      group = 2;
    const int64_t outputs = group * between(1, group == channels ? 2 : 8), kernel = between(1, 4),
                  kernel_w = chance(2) ? kernel : between(1, 4);
    const float scale = 1.5f / std::sqrt(static_cast<float>(channels / group * kernel * kernel_w));
    std::vector<size_t> inputs{*x, floats({outputs, channels / group, kernel, kernel_w}, -scale, scale)};
    if (chance(2)) inputs.push_back(floats({outputs}));
    const int64_t dilation = chance(4) ? 2 : 1;
    const Ints strides{between(1, 2), between(1, 2)}, dilations{dilation, dilation},
        pads{between(0, 2), between(0, 2), between(0, 2), between(0, 2)};
    node("Conv", inputs,
         attributes({{"pads", pads}, {"strides", strides}, {"dilations", dilations}, {"group", group}}),
         Rounds::yes);
  }

  void transposed_convolution() {
    const auto x = any(4);
    if (!x) return;
    const int64_t channels = shape(*x)[1], kernel = between(1, 4), outputs = between(1, 6),
                  stride = between(1, 3), pad = between(0, 1);
    const float scale = 1.5f / std::sqrt(static_cast<float>(channels * kernel));
    node("ConvTranspose", {*x, floats({channels, outputs, kernel, kernel}, -scale, scale)},
         attributes({{"strides", Ints{stride, stride}}, {"pads", Ints(4, pad)}}), Rounds::yes);
  }

  void pool() {
    const auto x = any(4);
    if (!x) return;
    const int64_t kernel = between(1, 3);
    const Ints strides{between(1, 2), between(1, 2)};
    if (chance(4)) {
      node(chance(2) ? "GlobalAveragePool" : "GlobalMaxPool", {*x}, {}, Rounds::yes);
    } else if (chance(2)) {
      node("MaxPool", {*x},
           attributes({{"kernel_shape", Ints{kernel, kernel}},
                       {"strides", strides},
                       {"pads", Ints(4, kernel / 2)},
                       {"ceil_mode", between(0, 1)}}),
           Rounds::never);
    } else {
      node("AveragePool", {*x},
           attributes({{"kernel_shape", Ints{kernel, kernel}},
                       {"strides", strides},
                       {"pads", Ints(4, kernel / 2)},
                       {"count_include_pad", between(0, 1)}}),
           Rounds::yes);
    }
  }

  void resize() {
    const auto x = any(4);
    if (!x) return;
    static constexpr const char* coordinates[] = {"half_pixel", "asymmetric", "align_corners",
                                                  "pytorch_half_pixel"};
    const bool nearest = chance(2);
    Ints sizes = shape(*x);
    sizes[2] = between(1, 2 * sizes[2] + 1);
    sizes[3] = between(1, 2 * sizes[3] + 1);
    // Nearest elements are decided by coordinates, which engines round differently; twice the size is
    // certain.
    if (nearest) sizes[2] = 2 * shape(*x)[2], sizes[3] = 2 * shape(*x)[3];
    node("Resize",
         {*x, constant(HostTensor(DType::f32, {0})), constant(HostTensor(DType::f32, {0})), integers(sizes)},
         attributes(
             {{"mode", std::string(nearest ? "nearest" : "linear")},
              {"coordinate_transformation_mode", std::string(nearest ? "asymmetric" : coordinates[pick(4)])},
              {"nearest_mode", std::string("floor")}}),
         nearest ? Rounds::never : Rounds::yes);
  }

  void reduce() {
    static constexpr const char* types[] = {"ReduceMean", "ReduceMax",       "ReduceMin",      "ReduceL1",
                                            "ReduceL2",   "ReduceSumSquare", "ReduceLogSumExp"};
    const auto x = any();
    if (!x) return;
    const std::string type = types[pick(std::size(types))];
    Ints axes;
    for (size_t axis = 0; axis < shape(*x).size(); ++axis)
      if (chance(2)) axes.push_back(static_cast<int64_t>(axis));
    if (axes.empty()) axes.push_back(-1);
    node(type, {*x}, attributes({{"axes", axes}, {"keepdims", between(0, 1)}}),
         type == "ReduceMax" || type == "ReduceMin" ? Rounds::never : Rounds::yes);
  }

  void pick_largest() {
    const auto x = any();
    if (!x) return;
    const int64_t rank = static_cast<int64_t>(shape(*x).size()), axis = between(0, rank - 1);
    if (chance(2)) {
      node(chance(2) ? "ArgMax" : "ArgMin", {*x}, attributes({{"axis", axis}, {"keepdims", between(0, 1)}}),
           Rounds::discontinuous);
    } else {
      node("TopK", {*x, integers({between(1, shape(*x)[static_cast<size_t>(axis)])})},
           attributes({{"axis", axis}, {"largest", between(0, 1)}}), Rounds::discontinuous, 2);
    }
  }

  void normalise() {
    const auto x = any();
    if (!x) return;
    const int64_t rank = static_cast<int64_t>(shape(*x).size());
    switch (pick(4)) {
      case 0:
        node(chance(3) ? "LogSoftmax" : "Softmax", {*x}, attributes({{"axis", between(-rank, rank - 1)}}),
             Rounds::yes);
        break;
      case 1:
        // A variance of few elements may be near 0, where its root amplifies every rounding.
        if (shape(*x).back() > 3)
          node("LayerNormalization", {*x, floats({shape(*x).back()}), floats({shape(*x).back()})},
               attributes({{"epsilon", 1e-2f}}), Rounds::yes);
        break;
      case 2:
        if (rank == 4 && shape(*x)[2] * shape(*x)[3] > 3)
          node("InstanceNormalization", {*x, floats({shape(*x)[1]}), floats({shape(*x)[1]})},
               attributes({{"epsilon", 1e-2f}}), Rounds::yes);
        break;
      default:
        if (rank == 4) {
          const Shape channels{shape(*x)[1]};
          node("BatchNormalization",
               {*x, floats(channels), floats(channels), floats(channels), floats(channels, 0.5f, 2)}, {},
               Rounds::yes);
        }
    }
  }

  void product() {
    const auto x = any();
    if (!x || shape(*x).size() < 2) return;
    const int64_t inner = shape(*x).back(), columns = between(1, 12);
    const float scale = 1.5f / std::sqrt(static_cast<float>(inner));
    const auto other = chance(3) ? any(shape(*x).size()) : std::nullopt;
    if (other && node("MatMul", {*x, *other}, {}, Rounds::yes)) return;
    if (shape(*x).size() == 2 && chance(2)) {
      const bool transposed = chance(2);
      node("Gemm",
           {*x, floats(transposed ? Shape{columns, inner} : Shape{inner, columns}, -scale, scale),
            floats({columns})},
           attributes({{"transB", int64_t{transposed}}}), Rounds::yes);
    } else {
      node("MatMul", {*x, floats({inner, columns}, -scale, scale)}, {}, Rounds::yes);
    }
  }

  void reshape() {
    const auto x = any();
    if (!x) return;
    const int64_t rank = static_cast<int64_t>(shape(*x).size());
    switch (pick(4)) {
      case 0: {
        Ints permutation;
        for (int64_t i = 0; i < rank; ++i) permutation.push_back(i);
        for (size_t i = permutation.size(); i > 1; --i) std::swap(permutation[i - 1], permutation[pick(i)]);
        node("Transpose", {*x}, attributes({{"perm", permutation}}), Rounds::never);
        break;
      }
      case 1:
        node("Flatten", {*x}, attributes({{"axis", between(0, rank)}}), Rounds::never);
        break;
      case 2: {
        // Two neighbouring dimensions become one, or one becomes two.
        Ints to = shape(*x);
        const size_t at = pick(to.size());
        if (to.size() > 1 && at + 1 < to.size()) {
          to[at] *= to[at + 1];
          to.erase(to.begin() + static_cast<std::ptrdiff_t>(at) + 1);
        } else if (to[at] % 2 == 0 && to.size() < 5) {
          to[at] /= 2;
          to.insert(to.begin() + static_cast<std::ptrdiff_t>(at), 2);
        }
        node("Reshape", {*x, integers(to)}, {}, Rounds::never);
        break;
      }
      default:
        if (rank < 5) node("Unsqueeze", {*x, integers({between(0, rank)})}, {}, Rounds::never);
    }
  }

  void cut() {
    const auto x = any();
    if (!x) return;
    const size_t axis = pick(shape(*x).size());
    const int64_t length = shape(*x)[axis];
    switch (pick(4)) {
      case 0: {
        const int64_t begin = between(0, length - 1), step = chance(4) ? -1 : between(1, 2);
        const int64_t end = step < 0 ? -length - 1 : between(begin + 1, length);
        node("Slice",
             {*x, integers({begin}), integers({end}), integers({static_cast<int64_t>(axis)}),
              integers({step})},
             {}, Rounds::never);
        break;
      }
      case 1:
        if (length > 1) {
          const int64_t first = between(1, length - 1);
          node("Split", {*x, integers({first, length - first})},
               attributes({{"axis", static_cast<int64_t>(axis)}}), Rounds::never, 2);
        }
        break;
      case 2: {
        Ints pads(2 * shape(*x).size(), 0);
        for (int64_t& pad : pads)
          if (chance(3)) pad = between(0, 2);
        static constexpr const char* modes[] = {"constant", "edge", "reflect"};
        node("Pad", {*x, integers(pads)}, attributes({{"mode", std::string(modes[pick(3)])}}), Rounds::never);
        break;
      }
      default: {
        Ints indices;
        for (int64_t i = between(1, 4); i > 0; --i) indices.push_back(between(-length, length - 1));
        node("Gather", {*x, integers(indices)}, attributes({{"axis", static_cast<int64_t>(axis)}}),
             Rounds::never);
      }
    }
  }

  void join() {
    const auto x = any();
    if (!x) return;
    const size_t axis = pick(shape(*x).size());
    std::vector<size_t> parts{*x};
    while (parts.size() < 3) {
      Shape other = shape(*x);
      other[axis] = between(1, 5);
      const auto value = any(other.size());
      parts.push_back(value && chance(2) ? *value : floats(other));
    }
    node("Concat", parts, attributes({{"axis", static_cast<int64_t>(axis)}}), Rounds::never);
  }

  void repeat() {
    const auto x = any();
    if (!x) return;
    if (chance(2)) {
      Ints repeats;
      for (size_t i = 0; i < shape(*x).size(); ++i) repeats.push_back(chance(3) ? 2 : 1);
      node("Tile", {*x, integers(repeats)}, {}, Rounds::never);
    } else {
      Ints to = shape(*x);
      for (int64_t& dim : to)
        if (dim == 1) dim = between(1, 3);
      node("Expand", {*x, integers(to)}, {}, Rounds::never);
    }
  }

  void move_between_space_and_depth() {
    const auto x = any(4);
    if (!x) return;
    const bool to_space = chance(2);
    node(to_space ? "DepthToSpace" : "SpaceToDepth", {*x},
         to_space ? attributes({{"blocksize", int64_t{2}}, {"mode", std::string(chance(2) ? "DCR" : "CRD")}})
                  : attributes({{"blocksize", int64_t{2}}}),
         Rounds::never);
  }

  void accumulate() {
    if (const auto x = any())
      node("CumSum", {*x, integers({between(0, static_cast<int64_t>(shape(*x).size()) - 1)})},
           attributes({{"exclusive", between(0, 1)}, {"reverse", between(0, 1)}}), Rounds::yes);
  }

  void add_node() {
    using Family = void (Maker::*)();
    static constexpr Family families[] = {&Maker::unary,
                                          &Maker::unary,
                                          &Maker::clip,
                                          &Maker::binary,
                                          &Maker::binary,
                                          &Maker::compare_and_choose,
                                          &Maker::convolution,
                                          &Maker::convolution,
                                          &Maker::convolution,
                                          &Maker::transposed_convolution,
                                          &Maker::pool,
                                          &Maker::resize,
                                          &Maker::reduce,
                                          &Maker::pick_largest,
                                          &Maker::normalise,
                                          &Maker::product,
                                          &Maker::reshape,
                                          &Maker::reshape,
                                          &Maker::cut,
                                          &Maker::cut,
                                          &Maker::join,
                                          &Maker::repeat,
                                          &Maker::move_between_space_and_depth,
                                          &Maker::accumulate};
    (this->*families[pick(std::size(families))])();
  }

  std::mt19937 random_;
  RandomGraph graph_{OnnxModel(kOpset), false};
  std::vector<Value> values_;
  size_t nodes_ = 0;
};

}  // namespace

RandomGraph random_graph(uint32_t seed) { return Maker(seed).make(); }

}  // namespace vellum::test
