// CacheUpdate: writes tokens into a cache in words (graph/byte_rows.hpp).
#pragma once

#include "graph/byte_rows.hpp"
#include "graph/operator_support.hpp"

namespace vellum {

// Inputs cache (i32: rows in words), update and first_tokens of shape {batch}: the position along `axis` at
// which each batch's update begins. An update that would extend beyond the cache is not written. The update
// has floats for a cache of scaled bytes. A cache of bytes or nibbles gets the bytes of the update, which has
// integers of 8 bits, or, with input scale, the quotients of an update of floats by it, rounded half to even
// and clamped: scale has one element, or one for each channel of all rows of a token. Output: the cache with
// the update. Not an ONNX operator: quantize_caches() and pack_integer_caches() make it of TensorScatter.
struct CacheUpdate : Operator {
  int64_t axis = 2;  // of the tokens; neither the first dimension nor the last
  RowFormat rows = RowFormat::scaled_bytes;
  int64_t channels = 4;   // elements of the model's cache in a row, a multiple of four
  TensorType cache_type;  // the type of the cache in the model

  std::string_view type() const override { return "CacheUpdate"; }
  std::vector<TensorType> infer(Inputs inputs) const override;
  std::vector<HostTensor> evaluate(HostInputs inputs) const override;
  Attributes attributes() const override;

  bool packs_integers() const { return rows != RowFormat::scaled_bytes; }
  Shape shape_in_words() const;
  int64_t channels_of_byte() const { return rows == RowFormat::nibbles ? 2 : 1; }
  // Returns the shape of an update in elements of the model's cache. `quantises`: it has floats and a scale.
  Shape shape_in_cache(Shape update, bool quantises) const;

 private:
  void check_scale(const Shape& scale, const Shape& update, const Shape& bytes) const;
  HostTensor words_of_update(HostInputs inputs) const;
};

}  // namespace vellum
