#include "common/reuse_table.hpp"

#include <gtest/gtest.h>

namespace vellum::samples {
namespace {

TEST(ReuseTable, ShowsEveryObjectAndTheTotals) {
  MemoryReport report;
  report.strategy = "greedy_by_size";
  ObjectReport image;
  image.id = 0;
  image.kind = "image2d";
  image.extent = {64, 96, 1};
  image.format = "rgba32f";
  image.bytes = 98304;
  image.reuse_count = 7;
  ObjectReport buffer;
  buffer.id = 1;
  buffer.kind = "buffer";
  buffer.bytes = 512;
  buffer.reuse_count = 3;
  report.objects = {image, buffer};
  report.naive_bytes = 409600;
  report.planned_bytes = 98816;
  report.lower_bound_bytes = 98304;
  report.allocated_bytes = 102400;
  const std::string table = reuse_table(report);
  EXPECT_NE(table.find("10 intermediate tensors in 2 shared objects (strategy greedy_by_size)"),
            std::string::npos);
  EXPECT_NE(table.find("     0  image2d  64x96          rgba32f        96.0 KiB  7\n"), std::string::npos)
      << table;
  EXPECT_NE(table.find("     1  buffer                                  0.5 KiB  3\n"), std::string::npos)
      << table;
  EXPECT_NE(table.find("400.0 KiB  100.0%"), std::string::npos) << table;
  EXPECT_NE(table.find("100.0 KiB   25.0%"), std::string::npos) << table;
}

TEST(ReuseTable, NoIntermediatesIsNoDivisionByZero) {
  EXPECT_NE(reuse_table({}).find("0 intermediate tensors in 0 shared objects"), std::string::npos);
}

}  // namespace
}  // namespace vellum::samples
