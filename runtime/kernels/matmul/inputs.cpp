// Lowers matrix products whose operands are both computed at run time, and products that have no faster
// kernel.
#include <algorithm>
#include <span>

#include "kernels/conv/cooperative_tile.hpp"
#include "kernels/conv/dispatch.hpp"
#include "kernels/conv/split_k.hpp"
#include "kernels/conv/tile.hpp"
#include "kernels/framework/activation.hpp"
#include "kernels/framework/elements.hpp"
#include "kernels/framework/iterations.hpp"
#include "kernels/framework/strided.hpp"
#include "kernels/matmul/matmul.hpp"
#include "program/divide.hpp"
#include "shaders/matmul/matmul.h"
#include "shaders/matmul/matmul_pack.h"

namespace vellum {
namespace {

// Merges adjacent batch dimensions through which both operands advance with one stride, and adds leading
// dimensions of 1 up to four. Returns false if more than four remain.
bool to_four_batch_dimensions(Product& p) {
  for (size_t i = p.batch.size(); i-- > 1;) {
    if (p.a_batch[i - 1] != p.a_batch[i] * p.batch[i] || p.b_batch[i - 1] != p.b_batch[i] * p.batch[i])
      continue;
    p.batch[i - 1] *= p.batch[i];
    p.a_batch[i - 1] = p.a_batch[i];
    p.b_batch[i - 1] = p.b_batch[i];
    for (std::vector<int64_t>* list : {&p.batch, &p.a_batch, &p.b_batch})
      list->erase(list->begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (p.batch.size() > 4) return false;
  const size_t missing = 4 - p.batch.size();
  p.batch.insert(p.batch.begin(), missing, 1);
  p.a_batch.insert(p.a_batch.begin(), missing, 0);
  p.b_batch.insert(p.b_batch.begin(), missing, 0);
  return true;
}

// An operand in the form that kernels read: matrices with `width` texels in each row, or in each column if
// `transposed`. `batch`: strides of the batch in texels.
struct Factor {
  TensorId tensor = kNoTensor;
  int64_t width = 0;
  std::vector<int64_t> batch;
  bool transposed = false;
};

// Returns whether rows of `columns` elements are whole texels of the tensor.
bool in_texels(const int64_t (&strides)[2], int64_t columns) { return strides[1] == 1 && columns % 4 == 0; }

// Returns whether columns of `rows` elements are whole texels of the tensor.
bool columns_in_texels(const int64_t (&strides)[2], int64_t rows) { return strides[0] == 1 && rows % 4 == 0; }

// Returns input i, matrices of rows x columns, in texels: in place if possible, else copied to a workspace.
// With `by_columns` columns may be in texels instead of rows. `in_steps`: the copy has numbers of steps.
Factor operand(Lowering& lowering, size_t i, int64_t rows, int64_t columns, const int64_t (&strides)[2],
               std::vector<int64_t> batch, bool by_columns, bool in_steps) {
  const TensorId x = lowering.read(i, Layout::linear);
  Factor result{x, divide_up(columns, 4), std::move(batch)};
  const bool in_rows = in_texels(strides, columns);
  result.transposed = by_columns && !in_rows && columns_in_texels(strides, rows);
  if (result.transposed) result.width = rows / 4;
  const int64_t texels = (result.transposed ? columns : rows) * result.width;
  for (int64_t& stride : result.batch) stride = stride / (rows * columns) * texels;
  if (in_rows || result.transposed) return result;
  const int64_t matrices = element_count(lowering.input_type(i).shape) / (rows * columns);
  TensorDesc desc = lowering.tensor(x).desc;
  desc.shape = {matrices, rows, 4 * result.width};
  result.tensor = lowering.workspace(lowering.node().name + (i == 0 ? "/a" : "/b"), desc);
  Dispatch dispatch = make_dispatch("matmul_pack", grid_1d(lowering.caps(), matrices * rows * result.width),
                                    {reads("x", x), writes("y", result.tensor)},
                                    MatmulPackParameters{.rows = rows,
                                                         .columns = columns,
                                                         .matrices = matrices,
                                                         .row_texels = result.width,
                                                         .row_stride = strides[0],
                                                         .column_stride = strides[1]});
  dispatch.bindings[0].in_steps = in_steps;
  lowering.dispatch(std::move(dispatch));
  return result;
}

ivec4 four(const std::vector<int64_t>& list) { return {list[0], list[1], list[2], list[3]}; }

// Returns a dispatch of matmul.comp, matmul_any.comp or matmul_cooperative.comp, without the binding of y.
Dispatch product_dispatch(Lowering& lowering, const Product& p, std::string shader, const Grid& grid,
                          const Factor& a, const Factor& b) {
  Dispatch dispatch =
      make_dispatch(std::move(shader), grid, {reads("a", a.tensor), reads("b", b.tensor)},
                    MatmulParameters{.activation_params = activation_params_or_bounds(p.activation),
                                     .batch = four(p.batch),
                                     .a_batch_strides = four(a.batch),
                                     .b_batch_strides = four(b.batch),
                                     .y_rows = p.m,
                                     .y_columns = p.n,
                                     .depth = p.k,
                                     .matrices = element_count(p.batch),
                                     .a_row_stride = p.a_strides[0],
                                     .a_column_stride = p.a_strides[1],
                                     .b_row_stride = p.b_strides[0],
                                     .b_column_stride = p.b_strides[1],
                                     .c_row_stride = p.c_strides[0],
                                     .c_column_stride = p.c_strides[1],
                                     .alpha = p.alpha,
                                     .beta = p.beta});
  if (p.has_c) dispatch.bindings.push_back(reads("c", lowering.read(2, Layout::linear)));
  dispatch.macs = static_cast<uint64_t>(p.m * p.n * p.k * element_count(p.batch));
  define(dispatch, "HAS_C", p.has_c ? "1" : "0");
  define_activation_or_bounds(dispatch, p.activation);
  if (p.fixed_point) {
    for (Binding& factor : std::span(dispatch.bindings).first(2)) factor.in_steps = true;
    append_fixed_pair(dispatch, p.fixed_point);
  }
  return dispatch;
}

// Emits matmul_any.comp: an invocation computes four elements of y from operands in their own layout. A
// workgroup shares long sums.
void multiply_elements(Lowering& lowering, const Product& p) {
  const Factor a{lowering.read(0, Layout::linear), 0, p.a_batch};
  const Factor b{lowering.read(1, Layout::linear), 0, p.b_batch};
  const int64_t groups = divide_up(p.m * p.n * element_count(p.batch), 4);
  const bool shares = p.k > most_rounds_alone(lowering.caps());
  Dispatch dispatch = product_dispatch(
      lowering, p, "matmul_any",
      shares ? workgroups_in_a_row(lowering.caps(), groups) : grid_1d(lowering.caps(), groups), a, b);
  if (shares) define(dispatch, "COOPERATIVE");
  dispatch.iterations = kShortLoops + loop_iterations(shares ? divide_up(p.k, kRowWorkgroup) : p.k);
  dispatch.bindings.push_back(writes("y", lowering.write(0, Layout::linear)));
  lowering.dispatch(std::move(dispatch));
}

// Binds y and adds the dispatch. If rows of y are not whole texels, the kernel stores elements one by one.
// Halves share words, so that the kernel writes padded rows to a workspace, which are then copied to y.
void write_rows(Lowering& lowering, const Product& p, Dispatch dispatch) {
  const int64_t matrices = element_count(p.batch), width = divide_up(p.n, 4);
  const TensorId y = lowering.write(0, Layout::linear);
  TensorId rows = y;
  if (p.n % 4 != 0 && lowering.tensor(y).desc.element == ElementType::f32) {
    define(dispatch, "Y_SCALARS");
  } else if (p.n % 4 != 0) {
    TensorDesc desc = lowering.tensor(y).desc;
    desc.shape = {matrices, p.m, 4 * width};
    rows = lowering.workspace(lowering.node().name + "/rows", desc);
  }
  dispatch.bindings.push_back(writes("y", rows));
  lowering.dispatch(std::move(dispatch));
  if (rows != y) strided_copy(lowering, rows, y, {{matrices * p.m, p.n}, {{4 * width, 1}}}, 0);
}

uint64_t iterations_of_tile(int64_t k) { return kShortLoops + loop_iterations(slices(k)); }

void emit_tiles(Lowering& lowering, const Product& p, const OutputTile& tile) {
  const int64_t matrices = element_count(p.batch), width = divide_up(p.n, 4);
  const auto in_steps = static_cast<bool>(p.fixed_point);
  const Factor a = operand(lowering, 0, p.m, p.k, p.a_strides, p.a_batch, false, in_steps);
  const Factor b = operand(lowering, 1, p.k, p.n, p.b_strides, p.b_batch, false, in_steps);
  const int64_t invocations = divide_up(width, tile.slices) * divide_up(p.m, tile.pixels) * matrices;
  Dispatch dispatch = product_dispatch(lowering, p, "matmul", grid_1d(lowering.caps(), invocations), a, b);
  dispatch.iterations = iterations_of_tile(p.k);
  define_tile(dispatch, {tile});
  if (p.k % 4 != 0) define(dispatch, "LAST_FACTORS", std::to_string(p.k % 4));
  write_rows(lowering, p, std::move(dispatch));
}

void emit_cooperative(Lowering& lowering, const Product& p, const CooperativeTile& tile) {
  const int64_t blocks = element_count(p.batch) * tile.blocks(p.m, p.n);
  const auto in_steps = static_cast<bool>(p.fixed_point);
  const Factor a = operand(lowering, 0, p.m, p.k, p.a_strides, p.a_batch, tile.matrix.m % 8 == 0, in_steps);
  const Factor b = operand(lowering, 1, p.k, p.n, p.b_strides, p.b_batch, true, in_steps);
  Dispatch dispatch =
      product_dispatch(lowering, p, "matmul_cooperative", grid_1d(lowering.caps(), blocks), a, b);
  dispatch.iterations = kShortLoops + loop_iterations(divide_up(p.k, tile.step()));
  cover_with(dispatch, lowering.caps(), tile, blocks);
  if (a.transposed) define(dispatch, "A_COLUMNS");
  if (b.transposed) define(dispatch, "B_COLUMNS");
  write_rows(lowering, p, std::move(dispatch));
}

// Returns the candidates with tiles, for operands in texels.
std::vector<KernelCandidate> tile_candidates(const Lowering& lowering, const Product& p) {
  const DeviceCaps& caps = lowering.caps();
  const int64_t matrices = element_count(p.batch);
  std::vector<KernelCandidate> candidates;
  for (const auto& [tile, cost, us] :
       output_tiles(caps, {p.m, matrices, divide_up(p.n, 4), p.m * p.n * p.k * matrices}))
    candidates.push_back({tile_name("inputs", {tile}), cost,
                          [p, tile = tile](Lowering& of_node) { emit_tiles(of_node, p, tile); }});
  for (const auto& [name, cost, tile, us] :
       cooperative_tiles(caps, {.pixels = p.m,
                               .inputs = p.k,
                               .outputs = p.n,
                               .products = matrices,
                               .precision = lowering.options().precision}))
    candidates.push_back(
        {name, cost, [p, tile = tile](Lowering& of_node) { emit_cooperative(of_node, p, tile); }});
  return candidates;
}

// Returns whether tiles are worth the dispatches that copy operands to texels.
bool has_tiles(const Product& p) {
  if (in_texels(p.a_strides, p.k) && in_texels(p.b_strides, p.n)) return true;
  constexpr int64_t kWork = 1 << 16;  // multiply-accumulates in the time of a few dispatches
  return std::min(p.m, p.n) >= 4 && p.k >= 4 && p.m * p.n * p.k * element_count(p.batch) >= kWork;
}

// Returns constant matrix A with its rows in texels, the last one padded with zeros.
Factor constant_rows(Lowering& lowering, const Product& p) {
  const int64_t width = divide_up(p.k, 4);
  const ElementType element =
      lowering.options().precision == Precision::fp16 ? ElementType::f16 : ElementType::f32;
  const TensorDesc desc{{p.m, 4 * width}, element, Storage::buffer, Layout::linear};
  const auto pack = [a = *lowering.constant(0), p, width] {
    const std::vector<float> elements = a.to_floats();
    std::vector<float> rows(static_cast<size_t>(p.m * 4 * width));
    for (int64_t m = 0; m < p.m; ++m)
      for (int64_t k = 0; k < p.k; ++k)
        rows[static_cast<size_t>(m * 4 * width + k)] =
            elements[static_cast<size_t>(m * p.a_strides[0] + k * p.a_strides[1])];
    return rows;
  };
  return {lowering.weight(lowering.node().name + "/rows of A", desc, pack), width, {0, 0, 0, 0}};
}

void emit_left(Lowering& lowering, const Product& p, const InvocationTile& tile) {
  const int64_t tiles = divide_up(divide_up(p.n, 4), tile.output.slices) * divide_up(p.m, tile.output.pixels);
  const Factor a = constant_rows(lowering, p);
  const Factor b{lowering.read(1, Layout::channels4), 0, {0, 0, 0, 0}};
  Dispatch dispatch = product_dispatch(lowering, p, "matmul", {}, a, b);
  dispatch.iterations = iterations_of_tile(p.k);
  define_tile(dispatch, tile);
  cover_blocks(dispatch, lowering.caps(), Storage::buffer, tile, {.pixels = 0}, tiles);
  define(dispatch, "MATRICES");
  if (p.k % 4 != 0) define(dispatch, "LAST_FACTORS", std::to_string(p.k % 4));
  dispatch.bindings.push_back(writes("y", lowering.write(0, Layout::channels4)));
  lowering.dispatch(std::move(dispatch));
}

}  // namespace

bool lower_left_product(Lowering& lowering, Product p) {
  const bool has_kernel = p.k > 0 && p.b_strides[1] == 1 && to_four_batch_dimensions(p) &&
                          iterations_of_tile(p.k) <= lowering.caps().max_loop_iterations;
  if (!has_kernel) return false;
  const TileDemand demand{p.m, 1, divide_up(p.n, 4), p.m * p.n * p.k};
  std::vector<PricedTile> whole_sums = output_tiles(lowering.caps(), demand);
  const auto split_sums = split_tiles(whole_sums, lowering.caps(), demand, divide_up(p.k, 4));
  std::vector<KernelCandidate> candidates;
  const auto add = [&](const InvocationTile& tile, double cost, double us) {
    candidates.push_back(
        {tile_name("left", tile), cost, [p, tile](Lowering& of_node) { emit_left(of_node, p, tile); }, us});
  };
  for (const auto& [tile, cost, us] : whole_sums) add({tile}, cost, us);
  for (const auto& [tile, cost, us] : split_sums) add(tile, cost, us);
  lowering.emit_best(candidates);
  return true;
}

void lower_linear_product(Lowering& lowering, Product p) {
  if (!to_four_batch_dimensions(p))
    return lowering.run_on_host("more than four batch dimensions that do not merge");
  const bool tiles_end = iterations_of_tile(p.k) <= lowering.caps().max_loop_iterations;
  if (p.k > 0 && has_tiles(p) && tiles_end) return lowering.emit_best(tile_candidates(lowering, p));
  multiply_elements(lowering, p);
}

}  // namespace vellum
