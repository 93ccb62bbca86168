#include "random_image_model.hpp"

#include <algorithm>

namespace vellum::test {
namespace {

using Ints = Attributes::Ints;

constexpr int64_t kBatch = 2, kHeight = 3, kWidth = 4, kMostChannels = 9;

Shape image_shape(int64_t batch, int64_t channels, bool channels_last) {
  return channels_last ? Shape{batch, kHeight, kWidth, channels} : Shape{batch, channels, kHeight, kWidth};
}

}  // namespace

RandomImageModel::RandomImageModel(uint32_t seed) : random_(seed) {
  for (const bool channels_last : {false, true}) {
    const std::string name = channels_last ? "in_last" : "in_first";
    model_.input(name, image_shape(kBatch, 3, channels_last));
    images_.push_back({name, 3, channels_last});
  }
  for (int i = 0; i < 14; ++i) add_operator();
  model_.output(images_.back().name);
  for (size_t i = 2; i + 1 < images_.size(); ++i)
    if (random_below(6) == 0) model_.output(images_[i].name);
}

RandomImageModel::Image RandomImageModel::any_image() {
  const size_t count = images_.size();
  return images_[count - 1 - std::min(random_below(count), random_below(count))];
}

const RandomImageModel::Image& RandomImageModel::image_like(const Image& image) {
  std::vector<const Image*> found;
  for (const Image& other : images_)
    if (other.channels == image.channels && other.channels_last == image.channels_last)
      found.push_back(&other);
  return *found[random_below(found.size())];
}

std::string RandomImageModel::constant(const Shape& shape) {
  std::string name = "c" + std::to_string(constants_++);
  std::vector<float> values(static_cast<size_t>(element_count(shape)));
  for (float& value : values) value = static_cast<float>(random_below(17)) / 8 - 1;
  model_.initializer(name, HostTensor::f32(shape, values));
  return name;
}

std::string RandomImageModel::integer_constant(const std::vector<int64_t>& values) {
  std::string name = "c" + std::to_string(constants_++);
  model_.initializer(name, HostTensor::i64({static_cast<int64_t>(values.size())}, values));
  return name;
}

void RandomImageModel::add_node(const std::string& type, const std::vector<std::string>& inputs,
                                int64_t channels, bool channels_last, const Attributes& attributes) {
  std::string name = "v" + std::to_string(images_.size());
  model_.node(type, inputs, {name}, attributes);
  images_.push_back({std::move(name), channels, channels_last});
}

void RandomImageModel::transpose(const Image& x) {
  const Ints perm = x.channels_last ? Ints{0, 3, 1, 2} : Ints{0, 2, 3, 1};
  add_node("Transpose", {x.name}, x.channels, !x.channels_last, attributes({{"perm", perm}}));
}

// A scalar, a value per channel or an image, on either side.
void RandomImageModel::combine_with_constant(const Image& x) {
  const Shape per_channel = x.channels_last ? Shape{x.channels} : Shape{x.channels, 1, 1};
  const Shape shape = random_below(3) == 0   ? image_shape(1, x.channels, x.channels_last)
                      : random_below(3) == 0 ? Shape{}
                                             : per_channel;
  const std::string c = constant(shape);
  const char* const types[] = {"Add", "Mul", "Max"};
  const char* const type = types[random_below(3)];
  std::vector<std::string> inputs{x.name, c};
  if (random_below(2) != 0) std::swap(inputs[0], inputs[1]);
  add_node(type, inputs, x.channels, x.channels_last);
}

void RandomImageModel::concatenate(const Image& x) {
  const int64_t axis = random_below(2) == 0 ? (x.channels_last ? 3 : 1) : (x.channels_last ? -1 : -3);
  add_node("Concat", {x.name, image_like(x).name}, 2 * x.channels, x.channels_last,
           attributes({{"axis", axis}}));
}

void RandomImageModel::subtract_mean(const Image& x) {
  const Ints space = x.channels_last ? Ints{1, 2} : Ints{2, 3}, channel{x.channels_last ? 3 : 1};
  const std::string mean = "mean" + std::to_string(images_.size());
  model_.node("ReduceMean", {x.name}, {mean}, attributes({{"axes", random_below(2) ? space : channel}}));
  add_node("Sub", {x.name, mean}, x.channels, x.channels_last);
}

void RandomImageModel::convolve(const Image& x) {
  if (x.channels_last) return transpose(x);
  add_node("Conv", {x.name, constant({3, x.channels, 1, 1})}, 3, false);
}

void RandomImageModel::pad_channels(const Image& x) {
  Ints amounts(8, 0);
  amounts[x.channels_last ? 7 : 5] = 1;
  add_node("Pad", {x.name, integer_constant(amounts)}, x.channels + 1, x.channels_last);
}

// A Reshape to the other dimension order keeps the order of elements in memory: no transposition may move
// past it.
void RandomImageModel::reinterpret(const Image& x) {
  const std::string shape = integer_constant(image_shape(kBatch, x.channels, !x.channels_last));
  add_node("Reshape", {x.name, shape}, x.channels, !x.channels_last);
}

void RandomImageModel::add_operator() {
  const Image x = any_image();
  const bool is_narrow = 2 * x.channels <= kMostChannels;
  switch (random_below(12)) {
    case 0:
      return add_node("Sigmoid", {x.name}, x.channels, x.channels_last);
    case 1:
      return add_node("Add", {x.name, image_like(x).name}, x.channels, x.channels_last);
    case 2:
      return combine_with_constant(x);
    case 3:
      return is_narrow ? concatenate(x) : transpose(x);
    case 4:
      return subtract_mean(x);
    case 5:
      return convolve(x);
    case 6:
      return is_narrow ? pad_channels(x) : transpose(x);
    case 7:
      return reinterpret(x);
    case 8:
      return add_node("PRelu", {x.name, constant({1})}, x.channels, x.channels_last);
    default:
      return transpose(x);
  }
}

}  // namespace vellum::test
