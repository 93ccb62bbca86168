// Records that the planner's tests share: the networks in tests/data, and random ones.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "vellum/planner/plan.hpp"
#include "vellum/planner/records_csv.hpp"

namespace vellum::planner::test {

inline std::filesystem::path data_folder() {
  const char* folder = std::getenv("VELLUM_TEST_SOURCE");
  if (!folder) throw std::runtime_error("VELLUM_TEST_SOURCE is not set; run the tests through ctest");
  return std::filesystem::path(folder) / "data";
}

inline std::vector<TensorUsageRecord> network(const std::string& name) {
  return read_records_csv(data_folder() / "records" / (name + ".csv")).records;
}

inline TensorUsageRecord bytes_record(uint64_t bytes, int64_t first, int64_t last) {
  return {Bytes{bytes}, first, last};
}

struct RandomShape {
  size_t count = 50;
  int64_t tasks = 40;
  int64_t longest = 8;
  uint64_t sizes = 12;    // how many different sizes or extents
  bool textures = false;  // mixes bytes, 2D and 3D of two formats
};

class RandomRecords {
 public:
  explicit RandomRecords(uint64_t seed) : random_(seed) {}

  std::vector<TensorUsageRecord> operator()(const RandomShape& shape) {
    std::vector<TensorUsageRecord> records;
    for (size_t i = 0; i < shape.count; ++i) {
      TensorUsageRecord record;
      record.first_task = static_cast<int64_t>(below(static_cast<uint64_t>(shape.tasks)));
      record.last_task =
          record.first_task + static_cast<int64_t>(below(static_cast<uint64_t>(shape.longest)));
      record.size = shape.textures ? any_size(shape.sizes) : Size{Bytes{17 * (1 + below(shape.sizes))}};
      if (const auto* flat = std::get_if<Texture2D>(&record.size))
        for (uint64_t others = below(3); others > 0; --others) {
          Texture2D& other = record.other_extents.emplace_back(*flat);
          other.width = dim(shape.sizes), other.height = dim(shape.sizes);
        }
      records.push_back(record);
    }
    return records;
  }

  uint64_t below(uint64_t limit) { return random_() % limit; }

 private:
  uint32_t dim(uint64_t sizes) { return static_cast<uint32_t>(1 + below(sizes)); }

  Size any_size(uint64_t sizes) {
    const TexelFormat format = below(2) == 0 ? TexelFormat{1, 16} : TexelFormat{2, 8};
    const uint64_t kind = below(3);
    if (kind == 0) return Bytes{16 * (1 + below(sizes))};
    if (kind == 1) return Texture2D{dim(sizes), dim(sizes), format};
    return Texture3D{dim(sizes), dim(sizes), dim(sizes), format};
  }

  std::mt19937_64 random_;
};

// Shapes that differ in what is hard: many equal sizes, long lives, everything at once, sparse time.
inline std::vector<RandomShape> random_shapes() {
  return {{0, 1, 1, 1, false},     {1, 1, 1, 1, false},      {50, 40, 8, 12, false},   {80, 20, 20, 3, false},
          {40, 1, 1, 40, false},   {60, 4000, 5, 20, false}, {100, 30, 3, 100, false}, {50, 40, 8, 6, true},
          {120, 60, 10, 20, true}, {40, 1, 1, 4, true}};
}

}  // namespace vellum::planner::test
