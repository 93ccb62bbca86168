// Tensor usage records as CSV, for tools and tests.
//
// The first line that is not a comment is the header. Columns may be in any order; columns other than these
// are ignored:
//   id            a label (optional; the default is the record's index)
//   size          bytes; or bytes_f32
//   first, last   tasks, both inclusive; or first_op, last_op; or lower, upper with an exclusive upper
// Lines that start with # are comments, empty lines are skipped, and fields may be quoted as in RFC 4180.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vellum/planner/records.hpp"

namespace vellum::planner {

struct RecordsTable {
  std::vector<std::string> ids;
  std::vector<TensorUsageRecord> records;  // sizes are Bytes
};

// Reads a table. `name` is the file's name in messages. Throws PlanError, which names file and line.
RecordsTable read_records_csv(std::istream& in, std::string_view name);
RecordsTable read_records_csv(const std::filesystem::path& file);

// An additional column: one number for each record.
struct CsvColumn {
  std::string name;
  std::span<const uint64_t> values;
};

// Writes id,first,last,size and the additional columns. Textures are written with their bytes and a column
// `extent`, which the reader ignores: 64x32:7 is 64 by 32 texels of format id 7. Throws PlanError if ids,
// records and columns differ in length, or the stream fails.
void write_records_csv(std::ostream& out, std::span<const std::string> ids,
                       std::span<const TensorUsageRecord> records, std::span<const CsvColumn> further = {});

}  // namespace vellum::planner
