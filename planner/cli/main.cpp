// vellum-plan: plans the memory of a list of tensor usage records. Exit status: 0 done, 1 failed, 2 usage.
#include <CLI/CLI.hpp>
#include <chrono>
#include <exception>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "io/file_name.hpp"
#include "io/terminal.hpp"
#include "plan_json.hpp"
#include "vellum/planner/plan_report.hpp"
#include "vellum/planner/records_csv.hpp"

namespace {

using namespace vellum;

struct Arguments {
  std::string records;
  std::string strategy = "all";
  std::string mode;
  uint64_t alignment = 1;
  uint64_t budget_ms = 1000;
  uint64_t target = 0;
  std::string csv;
  bool json = false;
};

void plan(const Arguments& arguments) {
  const auto table = planner::read_records_csv(io::FileName(arguments.records).path());
  std::optional<planner::PlanMode> mode;
  if (!arguments.mode.empty()) mode = planner::plan_mode_from_name(arguments.mode);
  planner::PlanOptions options;
  options.alignment = arguments.alignment;
  options.search_budget = std::chrono::milliseconds(arguments.budget_ms);
  options.target_bytes = arguments.target;
  const auto report = planner::make_plan_report(table.records, arguments.strategy, mode, options);
  if (!arguments.csv.empty()) {
    std::ofstream out(io::FileName(arguments.csv).path(), std::ios::binary);
    if (!out) throw planner::PlanError("cannot write " + arguments.csv);
    planner::write_plan_csv(out, table.ids, table.records, report);
  }
  if (arguments.json) {
    std::cout << cli::plan_json(report).dump(1) << '\n';
  } else {
    std::cout << planner::plan_table(report);
  }
}

}  // namespace

int main(int argc, char** argv) {
  vellum::io::prepare_output();
  Arguments arguments;
  CLI::App app(
      "Plans memory for tensor usage records: which tensors share an object, or an offset each in one arena");
  app.allow_windows_style_options(false);  // a file may be /folder/name there, too
  app.add_option("FILE", arguments.records, "CSV of records: id,first,last,size")->required();
  app.add_option("--strategy", arguments.strategy, "a strategy's name, or all")->capture_default_str();
  app.add_option("--mode", arguments.mode, "objects or offsets; default: both")
      ->check(CLI::IsMember({"objects", "offsets"}));
  app.add_option("--alignment", arguments.alignment, "bytes, a power of two")->capture_default_str();
  app.add_option("--budget", arguments.budget_ms,
                 "milliseconds that exact and best may search in each mode; 0: none")
      ->check(CLI::Range(uint64_t{0}, uint64_t{3'600'000}))
      ->capture_default_str();
  app.add_option("--target", arguments.target, "stop the search once the total is at or below these bytes");
  app.add_option("--csv", arguments.csv, "write the records with each plan's assignment to this file");
  app.add_flag("--json", arguments.json, "print one JSON document");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    plan(arguments);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "vellum-plan: " << error.what() << '\n';
    return 1;
  }
}
