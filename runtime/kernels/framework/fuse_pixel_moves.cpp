#include "kernels/framework/fuse_pixel_moves.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/tensor.hpp"
#include "kernels/framework/finish_dispatch.hpp"
#include "kernels/framework/tensor_uses.hpp"
#include "program/macros.hpp"
#include "shaders/conv/conv_pointwise.h"
#include "shaders/movement/strided_texels.h"

namespace vellum {
namespace {

using Extent = std::array<int32_t, 4>;  // (W, H, C, N)

bool defines_any(const Dispatch& dispatch, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(dispatch.defines, [&](const auto& macro) {
    return std::ranges::find(names, macro.first) != names.end();
  });
}

// The four integers that begin at a byte of a dispatch's parameters.
Extent extent_at(const Parameters& parameters, size_t byte) {
  Extent extent{};
  std::memcpy(extent.data(), parameters.bytes().data() + byte, sizeof(extent));
  return extent;
}

// Returns whether element (t, c) of y, the tokens t of which are the pixels of pictures, is that of x, and
// one of the two is a matrix of tokens: what strided_texels.comp does with these parameters.
bool keeps_pixels(const Parameters& parameters) {
  const auto [xw, xh, xc, xn] = extent_at(parameters, offsetof(StridedTexelsParameters, x_shape));
  const auto [yw, yh, yc, yn] = extent_at(parameters, offsetof(StridedTexelsParameters, y_shape));
  const Extent strides = extent_at(parameters, offsetof(StridedTexelsParameters, y_strides));
  int32_t base = 0;
  std::memcpy(&base, parameters.bytes().data() + offsetof(StridedTexelsParameters, base), sizeof(base));
  if (base != 0 || xc != yc || int64_t{xw} * xh * xn != int64_t{yw} * yh * yn) return false;
  const auto steps = [&](int32_t size, size_t axis, int64_t step) {
    return size == 1 || strides[axis] == step;
  };
  if (xw * xh == 1)  // a matrix becomes pictures
    return steps(yw, 0, xc) && steps(yh, 1, int64_t{yw} * xc) && steps(yc, 2, 1) &&
           steps(yn, 3, int64_t{yw} * yh * xc);
  return yw * yh == 1 && xn == 1 && steps(yc, 2, int64_t{xw} * xh) && steps(yn, 3, 1);
}

class PixelMoves {
 public:
  PixelMoves(Program& program, const DeviceCaps& caps, const WrongKernels* wrong)
      : program_(program), caps_(caps), wrong_(wrong), uses_(program) {}

  size_t fuse() {
    size_t removed = 0;
    for (size_t t = 0; t < program_.tasks.size(); ++t) {
      if (!is_move(t) || !(store_moved(t) || read_unmoved(t))) continue;
      uses_.remove(t);
      program_.tasks[t].dispatch.reset();
      ++removed;
    }
    std::erase_if(program_.tasks, [](const Task& task) { return !task.dispatch && !task.host; });
    return removed;
  }

 private:
  bool is_move(size_t t) const {
    const std::optional<Dispatch>& dispatch = program_.tasks[t].dispatch;
    if (!dispatch || dispatch->shader != "strided_texels" || dispatch->bindings.size() != 2 || dispatch->copy)
      return false;
    if (defines_any(*dispatch, {"X_LINEAR", "Y_LINEAR", "EPILOGUE"}) ||
        dispatch->push_constants.bytes().size() != sizeof(StridedTexelsParameters))
      return false;
    for (const Binding& binding : dispatch->bindings)
      if (!is_plain(binding.tensor)) return false;
    return program_.tensors[dispatch->bindings[0].tensor].desc.element ==
               program_.tensors[dispatch->bindings[1].tensor].desc.element &&
           keeps_pixels(dispatch->push_constants);
  }

  // Returns whether the tensor of floats is planned, and no view has a part in it.
  bool is_plain(TensorId id) const {
    const VirtualTensor& tensor = program_.tensors[id];
    return tensor.role == TensorRole::intermediate && tensor.alias_of == kNoTensor && !uses_.is_viewed(id) &&
           uses_.writers_of(id).size() == 1 && holds_floats(tensor.desc.element);
  }

  bool is_pointwise(size_t t) const {
    const std::optional<Dispatch>& dispatch = program_.tasks[t].dispatch;
    return dispatch && dispatch->shader == "conv_pointwise" &&
           !defines_any(*dispatch, {"MEAN", "SCALE", "SCALE_OF_IMAGES"}) &&
           dispatch->push_constants.bytes().size() == sizeof(ConvPointwiseParameters);
  }

  // Makes the kernel that computes the source of the move store its result instead.
  bool store_moved(size_t move) {
    const Dispatch& moves = *program_.tasks[move].dispatch;
    const TensorId from = moves.bindings[0].tensor;
    if (uses_.readers_of(from) != std::vector<size_t>{move}) return false;
    const size_t writer = *uses_.writers_of(from).begin();
    if (!is_pointwise(writer)) return false;
    const Dispatch& producer = *program_.tasks[writer].dispatch;
    // Their residual, operand and second result have the positions of the former result.
    if (defines_any(producer, {"RESIDUAL", "EPILOGUE", "WITH_LAYER"})) return false;
    auto changed =
        with_tensor(producer, "y", moves, moves.bindings[1], offsetof(ConvPointwiseParameters, y_shape),
                    extent_at(moves.push_constants, offsetof(StridedTexelsParameters, y_shape)));
    if (!changed) return false;
    replace(writer, std::move(*changed));
    return true;
  }

  // Makes all kernels that read the result of the move read its source.
  bool read_unmoved(size_t move) {
    const Dispatch& moves = *program_.tasks[move].dispatch;
    const TensorId from = moves.bindings[0].tensor, to = moves.bindings[1].tensor;
    const std::vector<size_t> readers = uses_.readers_of(to);
    std::vector<Dispatch> changed;
    for (const size_t reader : readers) {
      if (!is_pointwise(reader)) return false;
      const Dispatch& consumer = *program_.tasks[reader].dispatch;
      if (std::ranges::count(consumer.bindings, to, &Binding::tensor) != 1) return false;
      auto with =
          with_tensor(consumer, "x", moves, moves.bindings[0], offsetof(ConvPointwiseParameters, x_shape),
                      extent_at(moves.push_constants, offsetof(StridedTexelsParameters, x_shape)));
      if (!with || with->bindings[position_of(*with, "x")].tensor != from) return false;
      changed.push_back(std::move(*with));
    }
    for (size_t i = 0; i < changed.size(); ++i) replace(readers[i], std::move(changed[i]));
    return !changed.empty();
  }

  void replace(size_t task, Dispatch dispatch) {
    uses_.remove(task);
    program_.tasks[task].dispatch = std::move(dispatch);
    uses_.add(task);
  }

  static size_t position_of(const Dispatch& dispatch, std::string_view name) {
    const auto found = std::ranges::find(dispatch.bindings, name, &Binding::name);
    return static_cast<size_t>(found - dispatch.bindings.begin());
  }

  // Returns `pointwise` with another tensor as its x or y, which the move accesses by `binding`. Returns
  // nothing where the device cannot run it.
  std::optional<Dispatch> with_tensor(Dispatch pointwise, const std::string& name, const Dispatch& moves,
                                      Binding binding, size_t byte, const Extent& extent) const {
    const size_t at = position_of(pointwise, name);
    if (at == pointwise.bindings.size()) return std::nullopt;
    Macros& macros = pointwise.defines;
    Macros from = moves.defines;
    std::string* storage = find_macro(macros, "STORAGE_" + name);
    const std::string* moved = find_macro(from, "STORAGE_" + binding.name);
    if (!storage || !moved) return std::nullopt;
    *storage = *moved;
    binding.name = name;
    pointwise.bindings[at] = std::move(binding);
    // Pixels that are contiguous in the former tensor need not be so in this one.
    if (name == "x")
      std::erase_if(macros, [](const auto& macro) {
        return macro.first == "CONTIGUOUS" || macro.first == "FOUR_PIXELS";
      });
    constexpr std::string_view kSampled = "SAMPLED_TEXEL_BUFFERS";
    if (find_macro(from, kSampled) && !find_macro(macros, kSampled)) macros.emplace_back(kSampled, "1");
    if (!find_macro(macros, "OTHER_PIXELS")) macros.emplace_back("OTHER_PIXELS", "1");
    std::ranges::sort(macros);
    ConvPointwiseParameters parameters = parameters_of(pointwise);
    std::memcpy(reinterpret_cast<std::byte*>(&parameters) + byte, extent.data(), sizeof(extent));
    pointwise.push_constants = parameters;
    if (!can_bind(program_, caps_, pointwise)) return std::nullopt;
    if (wrong_ && wrong_->contains(kernel_id(pointwise).text())) return std::nullopt;
    return pointwise;
  }

  static ConvPointwiseParameters parameters_of(const Dispatch& pointwise) {
    const ivec4 none{0, 0, 0, 0};
    ConvPointwiseParameters parameters{
        .x_shape = none, .y_shape = none, .activation_params = {0, 0, 0, 0}, .residual_shape = none};
    std::memcpy(&parameters, pointwise.push_constants.bytes().data(), sizeof(parameters));
    return parameters;
  }

  Program& program_;
  const DeviceCaps& caps_;
  const WrongKernels* wrong_;
  TensorUses uses_;
};

}  // namespace

size_t fuse_pixel_moves(Program& program, const DeviceCaps& caps, const WrongKernels* wrong) {
  return PixelMoves(program, caps, wrong).fuse();
}

}  // namespace vellum
