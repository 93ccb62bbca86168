#include "tile/random_local_graph.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "support/tensors.hpp"

namespace vellum::test {
namespace {

using Ints = Attributes::Ints;

struct Image {
  std::string name;
  Shape shape;  // N, C, H, W
};

class Generator {
 public:
  explicit Generator(uint32_t seed) : dice_(seed), seed_(seed) {}

  OnnxModel run() {
    const Shape image{one_of({1, 1, 2, 3}), one_of({1, 3, 4, 6, 8}), roll(17, 40), roll(6, 18)};
    if (roll(0, 2) == 0) {
      model_.input("x", {image[0], image[2], image[3], image[1]});
      model_.node("Transpose", {"x"}, {"nchw"}, attributes({{"perm", Ints{0, 3, 1, 2}}}), "to_nchw");
      images_.push_back({"nchw", image});
    } else {
      model_.input("x", image);
      images_.push_back({"x", image});
    }
    for (const int64_t count = roll(4, 12); steps_ < count;) add_operator();
    for (size_t i = 1; i < images_.size(); ++i)
      if (std::find(read_.begin(), read_.end(), images_[i].name) == read_.end() || roll(0, 9) == 0)
        model_.output(images_[i].name);
    if (images_.size() == 1) model_.output(images_[0].name);
    return std::move(model_);
  }

 private:
  int64_t roll(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(dice_); }
  int64_t one_of(std::initializer_list<int64_t> values) {
    return values.begin()[roll(0, static_cast<int64_t>(values.size()) - 1)];
  }

  // Late images are likelier, so that networks are deep.
  Image pick() {
    const auto last = static_cast<int64_t>(images_.size()) - 1;
    return images_[static_cast<size_t>(std::max(roll(0, last), roll(0, last)))];
  }

  std::string constant(const Shape& shape, float low = -0.5f, float high = 0.5f) {
    const std::string name = "c" + std::to_string(constants_++);
    model_.initializer(name,
                       random_tensor(shape, seed_ * 100 + static_cast<uint32_t>(constants_), low, high));
    return name;
  }

  void add(const std::string& type, const Image& x, std::vector<std::string> more, const Shape& shape,
           const Attributes& attrs = {}) {
    if (shape[2] < 1 || shape[3] < 1 || shape[1] < 1 || shape[1] > 48 || element_count(shape) > 60000) return;
    const std::string name = "v" + std::to_string(steps_++);
    more.insert(more.begin(), x.name);
    read_.insert(read_.end(), more.begin(), more.end());
    model_.node(type, more, {name}, attrs, "node_" + name);
    images_.push_back({name, shape});
  }

  static int64_t windows(int64_t size, int64_t begin, int64_t end, int64_t kernel, int64_t stride,
                         int64_t dilation) {
    const int64_t slack = size + begin + end - (kernel - 1) * dilation - 1;
    return slack < 0 ? 0 : slack / stride + 1;
  }

  void add_conv(const Image& x) {
    const int64_t c = x.shape[1], kernel_y = one_of({1, 1, 2, 3, 3, 3, 5}),
                  kernel_x = one_of({kernel_y, 1, 3});
    const int64_t stride = one_of({1, 1, 2}), dilation = one_of({1, 1, 1, 2});
    const int64_t group = one_of({1, 1, c, c % 2 == 0 ? 2 : 1});
    const int64_t filters = group == 1 ? roll(1, 12) : c * (group == c ? 1 : one_of({1, 2}));
    const Ints pads{roll(0, kernel_y - 1), roll(0, kernel_x - 1), roll(0, kernel_y - 1),
                    roll(0, kernel_x - 1)};
    add("Conv", x, {constant({filters, c / group, kernel_y, kernel_x}), constant({filters})},
        {x.shape[0], filters, windows(x.shape[2], pads[0], pads[2], kernel_y, stride, dilation),
         windows(x.shape[3], pads[1], pads[3], kernel_x, stride, dilation)},
        attributes({{"pads", pads},
                    {"strides", Ints{stride, stride}},
                    {"dilations", Ints{dilation, dilation}},
                    {"group", group}}));
  }

  void add_transposed(const Image& x) {
    const int64_t c = x.shape[1], kernel = one_of({1, 2, 3, 4}), stride = one_of({1, 2, 3});
    const int64_t filters = roll(1, 8), extra = roll(0, stride - 1);
    const Ints pads{roll(0, kernel - 1), roll(0, kernel - 1), roll(0, kernel - 1), roll(0, kernel - 1)};
    const auto size = [&](int64_t in, int64_t begin, int64_t end) {
      return (in - 1) * stride + kernel + extra - begin - end;
    };
    add("ConvTranspose", x, {constant({c, filters, kernel, kernel})},
        {x.shape[0], filters, size(x.shape[2], pads[0], pads[2]), size(x.shape[3], pads[1], pads[3])},
        attributes(
            {{"pads", pads}, {"strides", Ints{stride, stride}}, {"output_padding", Ints{extra, extra}}}));
  }

  void add_pool(const Image& x) {
    const int64_t kernel = one_of({2, 3}), stride = one_of({1, 2});
    const Ints pads{roll(0, 1), roll(0, 1), roll(0, 1), roll(0, 1)};
    const bool average = roll(0, 1) == 0;
    Attributes attrs = attributes(
        {{"kernel_shape", Ints{kernel, kernel}}, {"strides", Ints{stride, stride}}, {"pads", pads}});
    if (average && roll(0, 1) == 0) attrs.set("count_include_pad", int64_t{1});
    add(average ? "AveragePool" : "MaxPool", x, {},
        {x.shape[0], x.shape[1], windows(x.shape[2], pads[0], pads[2], kernel, stride, 1),
         windows(x.shape[3], pads[1], pads[3], kernel, stride, 1)},
        attrs);
  }

  void add_resize(const Image& x) {
    constexpr std::array modes{"nearest", "linear", "cubic"};
    constexpr std::array coordinates{"half_pixel", "asymmetric", "align_corners"};
    const double scale = static_cast<double>(one_of({1, 2, 3, 4, 6})) / 2;
    const auto size = [&](int64_t in) { return static_cast<int64_t>(static_cast<double>(in) * scale); };
    const std::string scales = "scales" + std::to_string(constants_++);
    const auto factor = static_cast<float>(scale);
    model_.initializer(scales,
                       HostTensor::from<float>(DType::f32, {4}, std::array{1.0f, 1.0f, factor, factor}));
    add("Resize", x, {"", scales}, {x.shape[0], x.shape[1], size(x.shape[2]), size(x.shape[3])},
        attributes(
            {{"mode", std::string(modes[static_cast<size_t>(roll(0, 2))])},
             {"coordinate_transformation_mode", std::string(coordinates[static_cast<size_t>(roll(0, 2))])}}));
  }

  void add_pad(const Image& x) {
    constexpr std::array modes{"constant", "reflect", "edge"};
    const Ints pads{0, 0, roll(-1, 3), roll(0, 2), 0, 0, roll(-1, 3), roll(0, 2)};
    const std::string amounts = "pads" + std::to_string(constants_++);
    model_.initializer(amounts, HostTensor::from<int64_t>(DType::i64, {8}, pads));
    if (x.shape[2] < 5 || x.shape[3] < 5) return;
    add("Pad", x, {amounts},
        {x.shape[0], x.shape[1], x.shape[2] + pads[2] + pads[6], x.shape[3] + pads[3] + pads[7]},
        attributes({{"mode", std::string(modes[static_cast<size_t>(roll(0, 2))])}}));
  }

  void add_blocks(const Image& x) {
    if (x.shape[1] % 4 == 0)
      return add("DepthToSpace", x, {}, {x.shape[0], x.shape[1] / 4, 2 * x.shape[2], 2 * x.shape[3]},
                 attributes({{"blocksize", int64_t{2}}, {"mode", std::string(roll(0, 1) ? "DCR" : "CRD")}}));
    if (x.shape[2] % 2 == 0 && x.shape[3] % 2 == 0)
      add("SpaceToDepth", x, {}, {x.shape[0], 4 * x.shape[1], x.shape[2] / 2, x.shape[3] / 2},
          attributes({{"blocksize", int64_t{2}}}));
  }

  // A second image of the same height and width.
  void add_pair(const Image& x) {
    for (size_t i = images_.size(); i-- > 0;) {
      const Image y = images_[i];
      if (y.shape[2] != x.shape[2] || y.shape[3] != x.shape[3] || y.name == x.name) continue;
      if (y.shape[1] == x.shape[1] && roll(0, 2) > 0)
        return add(roll(0, 1) ? "Add" : "Mul", x, {y.name}, x.shape);
      return add("Concat", x, {y.name}, {x.shape[0], x.shape[1] + y.shape[1], x.shape[2], x.shape[3]},
                 attributes({{"axis", int64_t{1}}}));
    }
    add("Add", x, {constant({x.shape[1], 1, 1})}, x.shape);
  }

  void add_operator() {
    const Image x = pick();
    switch (roll(0, 11)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return add_conv(x);
      case 4:
        return add_transposed(x);
      case 5:
        return add_pool(x);
      case 6:
        return add_resize(x);
      case 7:
        return add_pad(x);
      case 8:
        return add_blocks(x);
      case 9:
        return roll(0, 1) ? add("Sigmoid", x, {}, x.shape)
                          : add("PRelu", x, {constant({x.shape[1], 1, 1})}, x.shape);
      default:
        return add_pair(x);
    }
  }

  std::mt19937 dice_;
  const uint32_t seed_;
  OnnxModel model_;
  std::vector<Image> images_;
  std::vector<std::string> read_;
  int64_t steps_ = 0, constants_ = 0;
};

}  // namespace

OnnxModel random_local_graph(uint32_t seed) { return Generator(seed).run(); }

}  // namespace vellum::test
