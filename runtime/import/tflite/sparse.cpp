#include "import/tflite/sparse.hpp"

#include <cstring>
#include <vector>

#include "graph/operator_support.hpp"

namespace vellum::tflite {
namespace {

template <typename Values>
Ints widen_indices(const Values* table) {
  if (table == nullptr || table->values() == nullptr) refuse_model("sparse tensor: an index list is missing");
  return Ints(table->values()->begin(), table->values()->end());
}

Ints read_indices(schema::IndexVector type, const void* table) {
  switch (type) {
    case schema::IndexVector::Int32Vector:
      return widen_indices(static_cast<const schema::Int32Vector*>(table));
    case schema::IndexVector::Uint16Vector:
      return widen_indices(static_cast<const schema::Uint16Vector*>(table));
    case schema::IndexVector::Uint8Vector:
      return widen_indices(static_cast<const schema::Uint8Vector*>(table));
    default:
      break;
  }
  refuse_model("sparse tensor: an index list of unknown kind");
}

// One level of the traversal, outermost first: a dimension of the tensor, or of a block in it.
struct Level {
  bool sparse = false;
  int64_t size = 0;  // how many indices the dimension has
  Ints segments, indices;
  int64_t stride = 0;  // elements of the dense tensor from one index to the next
};

class Densifier {
 public:
  Densifier(const schema::Sparsity& sparsity, const HostTensor& values, const Shape& shape)
      : values_(values), dense_(values.dtype(), shape) {
    read_levels(sparsity, shape);
  }

  HostTensor run() {
    if (dense_.elements() > 0) walk(0, 0, 0);
    if (next_ != values_.elements()) refuse_model("sparse tensor: it stores more elements than it places");
    return std::move(dense_);
  }

 private:
  void read_levels(const schema::Sparsity& sparsity, const Shape& shape) {
    const auto *order = sparsity.traversal_order(), *map = sparsity.block_map();
    const auto* dimensions = sparsity.dimensions();
    const size_t rank = shape.size(), blocks = map == nullptr ? 0 : map->size();
    if (order == nullptr || dimensions == nullptr || order->size() != rank + blocks ||
        dimensions->size() != rank + blocks) {
      refuse_model("sparse tensor: traversal order, block map and dimensions do not fit its shape");
    }
    // The level of each dimension in the traversal.
    std::vector<size_t> level_of(rank + blocks, SIZE_MAX);
    for (size_t i = 0; i < order->size(); ++i) {
      const int32_t dim = order->Get(static_cast<flatbuffers::uoffset_t>(i));
      if (dim < 0 || static_cast<size_t>(dim) >= level_of.size() ||
          level_of[static_cast<size_t>(dim)] != SIZE_MAX) {
        refuse_model("sparse tensor: the traversal order is no permutation");
      }
      level_of[static_cast<size_t>(dim)] = i;
    }
    levels_.resize(rank + blocks);
    for (size_t i = 0; i < levels_.size(); ++i) {
      read_level(*dimensions->Get(static_cast<flatbuffers::uoffset_t>(i)), levels_[i]);
    }
    const auto strides = row_major_strides(shape);
    std::vector<int64_t> block_size(rank, 1);
    for (size_t b = 0; b < blocks; ++b) {
      const int32_t dim = map->Get(static_cast<flatbuffers::uoffset_t>(b));
      if (dim < 0 || static_cast<size_t>(dim) >= rank || block_size[static_cast<size_t>(dim)] != 1) {
        refuse_model("sparse tensor: the block map is wrong");
      }
      Level& level = levels_[level_of[rank + b]];
      if (level.sparse || level.size < 1) refuse_model("sparse tensor: a block dimension must be dense");
      block_size[static_cast<size_t>(dim)] = level.size;
      level.stride = strides[static_cast<size_t>(dim)];
    }
    for (size_t dim = 0; dim < rank; ++dim) {
      Level& level = levels_[level_of[dim]];
      if (shape[dim] % block_size[dim] != 0) refuse_model("sparse tensor: blocks do not fit its shape");
      const int64_t size = shape[dim] / block_size[dim];
      if (!level.sparse && level.size != size) refuse_model("sparse tensor: a dimension has the wrong size");
      level.size = size;
      level.stride = strides[dim] * block_size[dim];
    }
  }

  static void read_level(const schema::Dimension& dimension, Level& level) {
    level.sparse = dimension.format() == schema::DimensionFormat::sparse_csr;
    level.size = dimension.dense_size();
    if (!level.sparse && dimension.format() != schema::DimensionFormat::dense) {
      refuse_model("sparse tensor: a dimension of unknown format");
    }
    if (!level.sparse) return;
    level.segments = read_indices(dimension.segments_type(), dimension.segments());
    level.indices = read_indices(dimension.indices_type(), dimension.indices());
  }

  // `position`: the index of this level's parent among the stored entries; `offset`: its element.
  void walk(size_t depth, int64_t position, int64_t offset) {
    if (depth == levels_.size()) {
      if (next_ >= values_.elements()) refuse_model("sparse tensor: it stores too few elements");
      const size_t size = size_of(values_.dtype());
      std::memcpy(dense_.mutable_data() + static_cast<size_t>(offset) * size,
                  values_.data() + static_cast<size_t>(next_) * size, size);
      ++next_;
      return;
    }
    const Level& level = levels_[depth];
    if (!level.sparse) {
      for (int64_t i = 0; i < level.size; ++i) {
        walk(depth + 1, position * level.size + i, offset + i * level.stride);
      }
      return;
    }
    const auto at = static_cast<size_t>(position);
    if (at + 1 >= level.segments.size()) refuse_model("sparse tensor: too few segments");
    const int64_t begin = level.segments[at], end = level.segments[at + 1];
    if (begin < 0 || end < begin || end > static_cast<int64_t>(level.indices.size())) {
      refuse_model("sparse tensor: a segment is outside the indices");
    }
    for (int64_t i = begin; i < end; ++i) {
      const int64_t index = level.indices[static_cast<size_t>(i)];
      if (index < 0 || index >= level.size) refuse_model("sparse tensor: an index is out of range");
      walk(depth + 1, i, offset + index * level.stride);
    }
  }

  const HostTensor& values_;
  HostTensor dense_;
  std::vector<Level> levels_;
  int64_t next_ = 0;
};

}  // namespace

HostTensor densify(const schema::Sparsity& sparsity, const HostTensor& values, const Shape& shape) {
  return Densifier(sparsity, values, shape).run();
}

}  // namespace vellum::tflite
