#include "decoder.hpp"

#include <algorithm>
#include <cmath>

#include "support/tensors.hpp"

namespace vellum::test {
namespace {

constexpr float kEpsilon = 1e-5f;

std::string of_layer(const char* what, int64_t layer) { return what + std::to_string(layer); }

double silu(double x) { return x / (1.0 + std::exp(-x)); }

}  // namespace

Decoder::Decoder(const DecoderShape& shape, DecoderForm form) : shape_(shape), form_(form) {
  uint32_t seed = 1;
  const auto matrix = [&](const std::string& name, int64_t rows, int64_t columns, double gain = 1.0) {
    const auto most = static_cast<float>(gain * std::sqrt(3.0 / static_cast<double>(rows)));
    weights_.emplace(name, random_tensor({rows, columns}, ++seed, -most, most));
  };
  const auto scale = [&](const std::string& name) {
    weights_.emplace(name, random_tensor({shape.width()}, ++seed, 0.7f, 1.3f));
  };
  const int64_t width = shape.width();
  weights_.emplace("embedding", random_tensor({shape.vocabulary, width}, ++seed));
  for (int64_t i = 0; i < shape.layers; ++i) {
    scale(of_layer("norm1.", i));
    scale(of_layer("norm2.", i));
    matrix(of_layer("q.", i), width, width, 2.0);
    matrix(of_layer("k.", i), width, shape.kv_width(), 2.0);
    matrix(of_layer("v.", i), width, shape.kv_width());
    matrix(of_layer("o.", i), width, width);
    matrix(of_layer("gate.", i), width, shape.hidden);
    matrix(of_layer("up.", i), width, shape.hidden);
    matrix(of_layer("down.", i), shape.hidden, width);
  }
  scale("norm");
  matrix("head", width, shape.vocabulary);
  const int64_t half = shape.channels / 2;
  std::vector<float> cosines, sines;
  for (int64_t position = 0; position < shape.capacity; ++position)
    for (int64_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(position) *
                           std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(half));
      cosines.push_back(static_cast<float>(std::cos(angle)));
      sines.push_back(static_cast<float>(std::sin(angle)));
    }
  weights_.emplace("cosines", HostTensor::f32({shape.capacity, half}, cosines));
  weights_.emplace("sines", HostTensor::f32({shape.capacity, half}, sines));
  if (has_sinks()) weights_.emplace("sinks", random_tensor({shape.heads}, ++seed));
}

std::string Decoder::attention_nodes(OnnxModel& model, const std::string& layer, const std::string& x) const {
  for (const char* const part : {"q", "k", "v"})
    model.node("MatMul", {x, part + ("." + layer)}, {part + ("/" + layer)});
  if (grows() && !has_groups()) return growing_attention(model, layer);
  const std::string past = "past." + layer, present = "present." + layer, y = "attention/" + layer;
  if (has_groups()) {
    const int64_t tokens = window(std::stoll(layer));
    model.node("com.microsoft.GroupQueryAttention",
               {"q/" + layer, "k/" + layer, "v/" + layer, past + ".key", past + ".value", "seqlens", "total",
                "cosines", "sines", "", "", has_sinks() ? "sinks" : ""},
               {y, present + ".key", present + ".value"},
               attributes({{"num_heads", shape_.heads},
                           {"kv_num_heads", shape_.kv_heads},
                           {"do_rotary", int64_t{1}},
                           {"local_window_size", tokens > 0 ? tokens : -1},
                           {"sliding_window_cache", int64_t{tokens > 0}}}));
    return y;
  }
  for (const char* const part : {"key", "value"})
    model.node("TensorScatter",
               {past + "." + part, (part == std::string("key") ? "k/" : "v/") + layer, "write_indices"},
               {present + "." + part});
  model.node(
      "Attention", {"q/" + layer, present + ".key", present + ".value", "", "", "", "lengths"}, {y},
      attributes(
          {{"q_num_heads", shape_.heads}, {"kv_num_heads", shape_.kv_heads}, {"is_causal", int64_t{1}}}));
  return y;
}

OnnxModel Decoder::model() const {
  const bool groups = has_groups();
  OnnxModel model(24);
  model.input("input_ids", {1, kUnknownDim}, DType::i64);
  for (const auto& [name, tensor] : weights_)
    if (groups || grows() || (name != "cosines" && name != "sines")) model.initializer(name, tensor);
  if (groups) {
    model.input("attention_mask", {1, grows() ? kUnknownDim : shape_.capacity}, DType::i64)
        .initializer("one", HostTensor::i64({1}, std::vector<int64_t>{1}))
        .node("ReduceSum", {"attention_mask", "one"}, {"ones"}, attributes({{"keepdims", int64_t{0}}}))
        .node("Sub", {"ones", "one"}, {"last"})
        .node("Cast", {"last"}, {"seqlens"}, attributes({{"to", int64_t{6}}}))
        .node("Shape", {"attention_mask"}, {"mask_shape"})
        .node("Gather", {"mask_shape", "one"}, {"length"})
        .node("Cast", {"length"}, {"total"}, attributes({{"to", int64_t{6}}}));
  } else if (!grows()) {
    model.input("write_indices", {1}, DType::i64).input("lengths", {1}, DType::i64);
  }
  if (grows() && !groups) add_shared_nodes(model);
  model.node("Gather", {"embedding", "input_ids"}, {"x0"});
  std::string x = "x0";
  const auto norm = [&](const std::string& name, const std::string& scale) {
    model.node("RMSNormalization", {x, scale}, {name}, attributes({{"epsilon", kEpsilon}}));
    return name;
  };
  for (int64_t i = 0; i < shape_.layers; ++i) {
    const std::string layer = std::to_string(i);
    for (const char* const part : {".key", ".value"}) {
      const Shape cache = grows() && groups ? Shape{kUnknownDim, shape_.kv_heads, kUnknownDim, kUnknownDim}
                          : grows()         ? Shape{1, shape_.kv_heads, kUnknownDim, shape_.channels}
                          : groups          ? Shape{1, shape_.kv_heads, shape_.capacity, shape_.channels}
                                            : Shape{1, shape_.capacity, shape_.kv_width()};
      model.input("past." + layer + part, cache);
    }
    const std::string y = attention_nodes(model, layer, norm("normal1/" + layer, "norm1." + layer));
    model.node("MatMul", {y, "o." + layer}, {"o/" + layer}).node("Add", {x, "o/" + layer}, {"a/" + layer});
    x = "a/" + layer;
    const std::string normal = norm("normal2/" + layer, "norm2." + layer);
    model.node("MatMul", {normal, "gate." + layer}, {"gate/" + layer})
        .node("MatMul", {normal, "up." + layer}, {"up/" + layer})
        .node("Sigmoid", {"gate/" + layer}, {"open/" + layer})
        .node("Mul", {"gate/" + layer, "open/" + layer}, {"silu/" + layer})
        .node("Mul", {"silu/" + layer, "up/" + layer}, {"h/" + layer})
        .node("MatMul", {"h/" + layer, "down." + layer}, {"down/" + layer})
        .node("Add", {x, "down/" + layer}, {"b/" + layer});
    x = "b/" + layer;
  }
  model.node("MatMul", {norm("normal", "norm"), "head"}, {"logits"})
      .node("ArgMax", {"logits"}, {"next"}, attributes({{"axis", int64_t{-1}}, {"keepdims", int64_t{0}}}))
      .output("next");
  for (int64_t i = 0; i < shape_.layers; ++i)
    for (const char* const part : {".key", ".value"}) model.output("present." + std::to_string(i) + part);
  return model;
}

Decoder::Row Decoder::times(const Row& x, const std::string& matrix) const {
  const HostTensor& w = weight(matrix);
  const float* values = w.as<float>().data();
  const auto columns = static_cast<size_t>(w.shape()[1]);
  Row y(columns, 0.0);
  for (size_t i = 0; i < x.size(); ++i)
    for (size_t j = 0; j < columns; ++j) y[j] += x[i] * double{values[i * columns + j]};
  return y;
}

Decoder::Row Decoder::normalized(const Row& x, const std::string& scale) const {
  double squares = 0.0;
  for (const double value : x) squares += value * value;
  const double factor = 1.0 / std::sqrt(squares / static_cast<double>(x.size()) + double{kEpsilon});
  const auto scales = weight(scale).as<float>();
  Row y = x;
  for (size_t i = 0; i < y.size(); ++i) y[i] *= factor * double{scales[i]};
  return y;
}

void Decoder::turn(Row& heads, int64_t position) const {
  if (form_ == DecoderForm::tensor_scatter) return;
  const auto channels = static_cast<size_t>(shape_.channels), half = channels / 2;
  for (size_t head = 0; head < heads.size(); head += channels)
    for (size_t i = 0; i < half; ++i) {
      const size_t at = static_cast<size_t>(position) * half + i;
      const double c{weight("cosines").as<float>()[at]}, s{weight("sines").as<float>()[at]};
      double &a = heads[head + i], &b = heads[head + half + i];
      const double real = c * a - s * b;
      b = s * a + c * b;
      a = real;
    }
}

Decoder::Row Decoder::attend(int64_t layer, const Row& q, const std::vector<Row>& keys,
                             const std::vector<Row>& values) const {
  const auto seen = static_cast<size_t>(window(layer));
  const size_t first = seen > 0 && keys.size() > seen ? keys.size() - seen : 0;
  const auto channels = static_cast<size_t>(shape_.channels);
  const auto heads_of_each = static_cast<size_t>(shape_.heads / shape_.kv_heads);
  Row y(q.size(), 0.0);
  for (size_t head = 0; head < static_cast<size_t>(shape_.heads); ++head) {
    const size_t from = head * channels, kv = head / heads_of_each * channels;
    Row weights;
    for (size_t key = first; key < keys.size(); ++key) {
      double score = 0.0;
      for (size_t i = 0; i < channels; ++i) score += q[from + i] * keys[key][kv + i];
      weights.push_back(score / std::sqrt(static_cast<double>(channels)));
    }
    const double most = *std::ranges::max_element(weights);
    double sum = 0.0;
    for (double& w : weights) sum += w = std::exp(w - most);
    if (has_sinks()) sum += std::exp(double{weight("sinks").as<float>()[head]} - most);
    for (size_t key = first; key < keys.size(); ++key)
      for (size_t i = 0; i < channels; ++i) y[from + i] += weights[key - first] / sum * values[key][kv + i];
  }
  return y;
}

std::vector<int64_t> Decoder::generate(const std::vector<int64_t>& prompt, size_t count) const {
  const auto layers = static_cast<size_t>(shape_.layers);
  std::vector<std::vector<Row>> keys(layers), values(layers);
  std::vector<int64_t> tokens = prompt;
  for (size_t position = 0; tokens.size() < prompt.size() + count; ++position) {
    const auto all = weight("embedding")
                         .as<float>()
                         .subspan(static_cast<size_t>(tokens[position] * shape_.width()),
                                  static_cast<size_t>(shape_.width()));
    Row x(all.begin(), all.end());
    const auto add = [&x](const Row& y) {
      for (size_t i = 0; i < x.size(); ++i) x[i] += y[i];
    };
    for (size_t i = 0; i < layers; ++i) {
      const std::string layer = std::to_string(i);
      const Row normal = normalized(x, "norm1." + layer);
      Row q = times(normal, "q." + layer), k = times(normal, "k." + layer);
      turn(q, static_cast<int64_t>(position));
      turn(k, static_cast<int64_t>(position));
      keys[i].push_back(k);
      values[i].push_back(times(normal, "v." + layer));
      add(times(attend(static_cast<int64_t>(i), q, keys[i], values[i]), "o." + layer));
      const Row second = normalized(x, "norm2." + layer);
      Row gate = times(second, "gate." + layer);
      const Row up = times(second, "up." + layer);
      for (size_t c = 0; c < gate.size(); ++c) gate[c] = silu(gate[c]) * up[c];
      add(times(gate, "down." + layer));
    }
    if (position + 1 < tokens.size()) continue;
    const Row logits = times(normalized(x, "norm"), "head");
    tokens.push_back(std::ranges::max_element(logits) - logits.begin());
  }
  return {tokens.begin() + static_cast<std::ptrdiff_t>(prompt.size()), tokens.end()};
}

}  // namespace vellum::test
