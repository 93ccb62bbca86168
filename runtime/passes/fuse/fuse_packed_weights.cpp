// Products with constant matrices of 4 or 8 bits (DequantizeLinear of integers) read these integers
// (BlockProduct), and rows of such tables are gathered before they become floats (BlockGather): device and
// host hold the bytes of the file instead of floats.
#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/operators/elementwise/quantize.hpp"
#include "graph/operators/matmul/block_product.hpp"
#include "graph/operators/matmul/matmul.hpp"
#include "graph/operators/movement/block_gather.hpp"
#include "graph/operators/movement/gather.hpp"
#include "graph/operators/movement/transpose.hpp"
#include "passes/fuse/packed_matrix.hpp"
#include "passes/passes.hpp"
#include "passes/rewrite/build.hpp"
#include "passes/rewrite/match.hpp"
#include "program/divide.hpp"

namespace vellum {
namespace {

constexpr int64_t kLeastBlock = 16, kMostBlock = 256;
// BlockProduct expands weights for each few rows. Ordinary products do so for a tile of many rows, and fuse
// with more layers, but the host holds their weights in floats: not those of a network with more weights.
constexpr int64_t kMostRows = 2, kMostFloats = int64_t{1} << 27;

// A MatMul or Gemm with the matrix.
struct PackedProduct {
  size_t node = 0;
  size_t dimension = 0;  // of the matrix: the columns of the product
  bool transposes_rows = false;
  float factor = 1.0f;
  std::optional<HostTensor> bias;
  ValueId result = kNoValue;
  std::optional<size_t> sum;  // the Add of the bias
};

// The constants of a packed matrix.
struct PackedConstants {
  PackedMatrix matrix;
  ValueId integers = kNoValue, scales = kNoValue, zero = kNoValue;
};

HostTensor times(const HostTensor& tensor, float factor) {
  if (factor == 1.0f) return tensor;
  std::vector<float> values = tensor.to_floats();
  for (float& value : values) value *= factor;
  return HostTensor::from<float>(tensor.dtype(), tensor.shape(), values);
}

// Returns the rows of a matrix of `length` columns that BlockProduct multiplies; nothing if it has no such
// blocks. `shared`: the integers of a row that share a scale.
std::optional<PackedRow> product_row(int64_t length, int64_t shared) {
  constexpr int64_t kUnit = 32;  // integers that the kernel loads together
  if (shared < length) {
    const bool is_power = (shared & (shared - 1)) == 0;
    if (!is_power || shared < kLeastBlock) return std::nullopt;
    return PackedRow{shared, divide_up(length, shared) * shared};
  }
  if (length <= kLeastBlock) return PackedRow{kLeastBlock, kLeastBlock};
  return PackedRow{static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(length))),
                   divide_up(length, kUnit) * kUnit};
}

class PackedWeightsFuser {
 public:
  explicit PackedWeightsFuser(GraphEditor& editor) : editor_(editor) {}

  // Returns whether there is any such matrix.
  bool run() {
    for (const size_t index : editor_.nodes())
      if (const auto matrix = match_dequantized_matrix(editor_, index))
        weights_ += matrix->integers.elements();
    bool found = false;
    for (const size_t index : editor_.nodes())
      if (const auto matrix = match_dequantized_matrix(editor_, index)) {
        found = true;
        fuse(*matrix, editor_.node(index).outputs[0]);
      }
    return found;
  }

 private:
  void fuse(const DequantizedMatrix& matrix, ValueId floats) {
    const std::vector<size_t> gathers = gathers_of_rows(floats);
    const int64_t bits = matrix.bits();
    std::array<std::optional<PackedConstants>, 2> packed;  // by dimension
    for (const PackedProduct& product : products(floats)) {
      const size_t along = 1 - product.dimension;
      const int64_t length = matrix.shape()[along], shared = matrix.shared_scale(along);
      const auto row = product_row(length, shared);
      // Other kernels of products read bytes with a scale for each column (kernels/conv/byte_weights.hpp).
      // They fuse with more layers, but share no bytes with a table of the same rows.
      const bool has_other_kernels = shared == length && matrix.has_one_zero_point();
      const bool is_table = !gathers.empty() && product.dimension == 0;
      if (!row || (has_other_kernels && bits == 8 && !is_table)) continue;
      if (has_other_kernels && reads_rounded_values(product.node)) continue;
      if (!is_table && leaves_floats(matrix, product)) continue;
      auto& constants = packed[product.dimension];
      if (!constants) constants = add_constants(pack_matrix(matrix, product.dimension, bits, *row), floats);
      multiply(product, *constants);
    }
    if (gathers.empty()) return;
    // Rows of BlockGather have no padding.
    const int64_t columns = matrix.shape()[1], shared = matrix.shared_scale(1);
    if (packed[0] && packed[0]->matrix.row != columns) packed[0].reset();
    if (!packed[0] && shared < kLeastBlock && shared < columns) return;
    if (!packed[0])
      packed[0] =
          add_constants(pack_matrix(matrix, 0, columns % 2 == 0 ? bits : 8, {shared, columns}), floats);
    for (const size_t gather : gathers) gather_rows(gather, *packed[0]);
  }

  std::vector<size_t> gathers_of_rows(ValueId floats) const {
    std::vector<size_t> found;
    for (const size_t reader : editor_.readers(floats))
      if (const auto gather = match_node<Gather>(editor_, reader);
          gather && normalize_axis(gather->axis, 2) == 0 && gather.input() == floats &&
          editor_.constant(gather.input(1)) == nullptr)
        found.push_back(reader);
    return found;
  }

  // Returns the products with the matrix, or with its transpose.
  std::vector<PackedProduct> products(ValueId floats) const {
    std::vector<PackedProduct> found;
    const auto add = [&](ValueId value, bool transposed) {
      for (const size_t reader : editor_.readers(value))
        if (auto product = match_product(reader, value, transposed)) found.push_back(std::move(*product));
    };
    add(floats, false);
    for (const size_t reader : editor_.readers(floats)) {
      const auto transpose = match_node<Transpose>(editor_, reader);
      if (transpose &&
          editor_.type(transpose.node->outputs[0]).shape ==
              Shape{editor_.type(floats).shape[1], editor_.type(floats).shape[0]} &&
          transpose->permutation(2) == std::vector<size_t>{1, 0})
        add(transpose.node->outputs[0], true);
    }
    return found;
  }

  std::optional<PackedProduct> match_product(size_t index, ValueId matrix, bool transposed) const {
    const Node& node = editor_.node(index);
    const bool is_second = node.inputs.size() > 1 && node.inputs[1] == matrix && node.inputs[0] != matrix;
    if (editor_.removed(index) || !is_second || editor_.constant(node.inputs[0]) != nullptr)
      return std::nullopt;
    if (const auto product = match_node<MatMul>(editor_, index);
        product && !product->transpose_a && !product->transpose_b)
      return match_matmul(index, transposed);
    const auto gemm = match_node<Gemm>(editor_, index);
    return gemm ? match_gemm(gemm, transposed) : std::nullopt;
  }

  PackedProduct match_matmul(size_t index, bool transposed) const {
    PackedProduct product{.node = index, .dimension = transposed ? size_t{0} : 1};
    product.result = editor_.node(index).outputs[0];
    const Shape& shape = editor_.type(product.result).shape;
    const auto sum = match_constant_reader(editor_, product.result, BinaryKind::add);
    if (!sum || shape.empty()) return product;
    product.bias = expand_to_last_dimensions(*sum->constant, {shape.back()});
    if (!product.bias) return product;
    product.sum = sum->index;
    product.result = sum->output;
    return product;
  }

  std::optional<PackedProduct> match_gemm(const Match<Gemm>& gemm, bool transposed) const {
    PackedProduct product{.node = gemm.index, .dimension = gemm->transpose_b != transposed ? size_t{0} : 1};
    product.transposes_rows = gemm->transpose_a;
    product.factor = gemm->alpha;
    product.result = gemm.node->outputs[0];
    if (gemm->activation.kind != ActivationKind::none) return std::nullopt;
    if (gemm.node->inputs.size() < 3 || gemm.node->inputs[2] == kNoValue) return product;
    const HostTensor* c = editor_.constant(gemm.input(2));
    if (c) product.bias = expand_to_last_dimensions(*c, {editor_.type(product.result).shape[1]});
    if (!product.bias) return std::nullopt;
    product.bias = times(*product.bias, gemm->beta);
    return product;
  }

  // Returns whether the matrix becomes a constant of floats, in which kernels find the integers again
  // (find_narrow_weights()).
  bool leaves_floats(const DequantizedMatrix& matrix, const PackedProduct& product) const {
    const size_t along = 1 - product.dimension;
    const int64_t columns = matrix.shape()[product.dimension];
    const int64_t shared = matrix.shared_scale(along);
    const int64_t rows = element_count(editor_.type(product.result).shape) / std::max<int64_t>(columns, 1);
    if (rows <= kMostRows || product.transposes_rows || matrix.scale.dtype() != DType::f32) return false;
    return weights_ <= kMostFloats && (shared == matrix.shape()[along] || shared <= kMostBlock);
  }

  // Returns whether the rows of a product are rounded to integers, which other kernels multiply as they are.
  bool reads_rounded_values(size_t product) const {
    return bool(match_producer<DequantizeLinear>(editor_, editor_.node(product).inputs[0]));
  }

  PackedConstants add_constants(PackedMatrix matrix, ValueId floats) {
    const std::string name = editor_.graph().values[floats].name;
    PackedConstants constants;
    constants.integers = editor_.add_constant(name + "/integers", matrix.integers);
    constants.scales = editor_.add_constant(name + "/scales", matrix.scales);
    if (matrix.zero) constants.zero = editor_.add_constant(name + "/zero_points", *matrix.zero);
    constants.matrix = std::move(matrix);
    return constants;
  }

  void multiply(const PackedProduct& product, const PackedConstants& constants) {
    const std::string name = editor_.node(product.node).name;
    auto op = std::make_shared<BlockProduct>();
    op->weights.rows = constants.matrix.columns;
    op->weights.columns = constants.matrix.scales.shape()[0];
    op->weights.bits = constants.matrix.bits;
    op->weights.block = constants.matrix.block;
    if (constants.matrix.row != op->weights.blocks() * op->weights.block)
      op->weights.length = constants.matrix.row;
    ValueId rows = editor_.node(product.node).inputs[0], scales = constants.scales;
    if (product.transposes_rows) {
      TensorType type = editor_.type(rows);
      std::swap(type.shape[0], type.shape[1]);
      auto transpose = std::make_shared<Transpose>();
      transpose->perm = Ints{1, 0};
      rows =
          editor_.compute_before(product.node, name + "/rows", std::move(transpose), {rows}, std::move(type));
    }
    if (product.factor != 1.0f)
      scales = editor_.add_constant(name + "/scales", times(constants.matrix.scales, product.factor));
    std::vector<ValueId> inputs{rows, constants.integers, scales, constants.zero};
    if (product.bias) inputs.push_back(editor_.add_constant(name + "/bias", *product.bias));
    while (inputs.back() == kNoValue) inputs.pop_back();
    if (product.sum) editor_.remove(*product.sum);
    editor_.replace(product.node, {name, std::move(op), std::move(inputs), {product.result}});
  }

  void gather_rows(size_t index, const PackedConstants& constants) {
    auto op = std::make_shared<BlockGather>();
    op->bits = constants.matrix.bits;
    op->block = constants.matrix.block;
    op->packed_pairs = op->bits == 4;
    op->is_centred = true;
    std::vector<ValueId> inputs{constants.integers, editor_.node(index).inputs[1], constants.scales};
    if (constants.zero != kNoValue) inputs.push_back(constants.zero);
    editor_.replace(index, std::move(op), std::move(inputs));
  }

  GraphEditor& editor_;
  int64_t weights_ = 0;  // of all such matrices
};

}  // namespace

void fuse_packed_weights(Graph& graph) {
  GraphEditor editor(graph);
  const bool found = PackedWeightsFuser(editor).run();
  editor.commit();
  if (found) infer_shapes_and_fold(graph, {});  // what still reads a matrix reads floats
}

}  // namespace vellum
