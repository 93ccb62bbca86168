#include <gtest/gtest.h>

#include <sstream>

#include "records_for_tests.hpp"
#include "vellum/planner/plan_report.hpp"

namespace vellum::planner::test {
namespace {

RecordsTable parse(const std::string& text) {
  std::istringstream in(text);
  return read_records_csv(in, "f.csv");
}

void expect_error(const std::string& text, const std::string& why) {
  try {
    parse(text);
    FAIL() << "no error, but expected: " << why;
  } catch (const PlanError& error) {
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
  }
}

void expect_record(const TensorUsageRecord& record, uint64_t bytes, int64_t first, int64_t last) {
  EXPECT_EQ(byte_size(record.size), bytes);
  EXPECT_EQ(record.first_task, first);
  EXPECT_EQ(record.last_task, last);
}

TEST(RecordsCsv, ReadsTheThreeHeaders) {
  for (const char* text : {"id,first,last,size\na,1,2,30\n", "id,lower,upper,size\na,1,3,30\n",
                           "id,name,bytes_f32,first_op,last_op\na,conv,30,1,2\n"}) {
    const RecordsTable table = parse(text);
    ASSERT_EQ(table.records.size(), 1u) << text;
    EXPECT_EQ(table.ids[0], "a");
    expect_record(table.records[0], 30, 1, 2);
  }
}

TEST(RecordsCsv, ReadsCommentsQuotesByteOrderMarksAndWindowsLines) {
  const RecordsTable table = parse(
      "\xEF\xBB\xBF# where it is from\r\nid, size ,first,last\r\n\r\n\"a \"\"b\"\", c\", 8 ,0,1\r\n# "
      "more\r\n\"two\nlines\",9,2,2");
  ASSERT_EQ(table.records.size(), 2u);
  EXPECT_EQ(table.ids[0], "a \"b\", c");
  EXPECT_EQ(table.ids[1], "two\nlines");
  expect_record(table.records[0], 8, 0, 1);
  expect_record(table.records[1], 9, 2, 2);
}

TEST(RecordsCsv, NumbersRecordsWithoutIds) {
  EXPECT_EQ(parse("size,first,last\n1,0,0\n2,0,0\n").ids, (std::vector<std::string>{"0", "1"}));
}

TEST(RecordsCsv, ErrorsNameFileAndLine) {
  expect_error("", "f.csv:0: there is no header");
  expect_error("id,first,last\n", "f.csv:1: the header has no column size");
  expect_error("id,size,first\n", "f.csv:1: the header has no columns first and last");
  expect_error("size,size,first,last\n", "f.csv:1: column size appears twice");
  expect_error("# c\nsize,first,last\n8,0,1\n8,0\n", "f.csv:4: the row has 2 fields");
  expect_error("size,first,last\n8,0,x\n", "f.csv:2: last task \"x\"");
  expect_error("size,first,last\n-8,0,1\n", "f.csv:2: size \"-8\"");
  expect_error("size,first,last\n99999999999999999999,0,1\n", "f.csv:2: size");
  expect_error("size,first,last\n8.5,0,1\n", "f.csv:2: size \"8.5\"");
  expect_error("size,first,last\n0,0,1\n", "f.csv:2: size is zero");
  expect_error("size,first,last\n8,-1,1\n", "f.csv:2: first task -1 is negative");
  expect_error("size,first,last\n8,2,1\n", "f.csv:2: the lifetime ends before it begins");
  expect_error("size,lower,upper\n8,2,2\n", "f.csv:2: the lifetime ends before it begins");
  expect_error("id,size,first,last\n\"a,8,0,1\n", "a quoted field does not end");
  try {
    read_records_csv(std::filesystem::path("no/such.csv"));
    FAIL();
  } catch (const PlanError& error) {
    EXPECT_NE(std::string(error.what()).find("no/such.csv"), std::string::npos);
  }
}

TEST(RecordsCsv, WhatIsWrittenIsReadBack) {
  const std::vector<std::string> ids = {"plain", "with, comma", "quote \" and\nline", "#hash"};
  std::vector<TensorUsageRecord> records;
  for (int64_t i = 0; i < 4; ++i) records.push_back(bytes_record(static_cast<uint64_t>(10 + i), i, 2 * i));
  std::ostringstream out;
  write_records_csv(out, ids, records);
  const RecordsTable back = parse(out.str());
  EXPECT_EQ(back.ids, ids);
  for (size_t i = 0; i < 4; ++i) {
    expect_record(back.records[i], byte_size(records[i].size), records[i].first_task, records[i].last_task);
  }
}

TEST(RecordsCsv, TexturesAreWrittenWithBytesAndExtent) {
  std::ostringstream out;
  const std::vector<std::string> ids = {"a", "b"};
  write_records_csv(out, ids,
                    std::vector<TensorUsageRecord>{{Texture2D{3, 2, {7, 8}}, 0, 1}, bytes_record(5, 1, 2)});
  EXPECT_EQ(out.str(), "id,first,last,size,extent\na,0,1,48,3x2:7\nb,1,2,5,\n");
}

TEST(PlanReport, HoldsEveryStrategyOfBothModes) {
  const auto records = network("mobilenet_v2");
  const PlanReport report = make_plan_report(records, "all", std::nullopt);
  EXPECT_EQ(report.plans.size(), all_object_strategies().size() + all_offset_strategies().size());
  EXPECT_EQ(report.naive_bytes, naive_bytes(records));
  for (const PlanRow& row : report.plans) {
    EXPECT_EQ(row.assignment.size(), records.size());
    if (row.strategy == "best") {
      EXPECT_TRUE(row.smallest);
    } else if (row.strategy == "naive") {
      EXPECT_FALSE(row.smallest);
    }
  }
  const std::string table = plan_table(report);
  EXPECT_NE(table.find("65 tensors, 27,591,112 bytes (26.313 MiB)"), std::string::npos) << table;
}

TEST(PlanReport, TakesOneStrategyInTheModesThatHaveIt) {
  const auto records = network("posenet");
  EXPECT_EQ(make_plan_report(records, "greedy_by_size", std::nullopt).plans.size(), 2u);
  EXPECT_EQ(make_plan_report(records, "equality", std::nullopt).plans.size(), 1u);
  EXPECT_EQ(make_plan_report(records, "greedy_by_size", PlanMode::offsets).plans.size(), 1u);
  EXPECT_THROW(make_plan_report(records, "equality", PlanMode::offsets), PlanError);
  EXPECT_THROW(make_plan_report(records, "none", std::nullopt), PlanError);
  EXPECT_THROW(plan_mode_from_name("arena"), PlanError);
}

TEST(PlanReport, CsvHasAColumnPerPlanAndIsRecordsStill) {
  const std::vector<TensorUsageRecord> records = {bytes_record(8, 0, 1), bytes_record(4, 1, 2),
                                                  bytes_record(6, 2, 3)};
  const std::vector<std::string> ids = {"a", "b", "c"};
  std::ostringstream out;
  write_plan_csv(out, ids, records, make_plan_report(records, "greedy_by_size", std::nullopt));
  EXPECT_EQ(out.str(),
            "id,first,last,size,objects:greedy_by_size,offsets:greedy_by_size\n"
            "a,0,1,8,0,0\nb,1,2,4,1,8\nc,2,3,6,0,0\n");
  EXPECT_EQ(parse(out.str()).ids, ids);
}

}  // namespace
}  // namespace vellum::planner::test
