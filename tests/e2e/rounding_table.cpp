// Writes tests/rounding.json: for each output of each model how far rounding moves it
// (support/rounding_study.hpp), as the largest distance from the exact result and the root mean square.
// rounding_table [CASE...]: only these. VELLUM_TEST_DATA names the folder that setup.sh fetched into.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "support/rounding_study.hpp"

namespace {

using namespace vellum;
using namespace vellum::test;

std::string case_text(const FetchedModel& model) {
  const RoundingStudy study = rounding_study(model);
  std::map<std::string, std::string> rows;
  for (const Rounding rounding : {Rounding::fp32, Rounding::fp16, Rounding::halves})
    for (const auto& [output, spread] : rounding_spread(model, study, rounding)) {
      char text[96];
      std::snprintf(text, sizeof text, "\"%s\": [%.3g, %.3g]", std::string(rounding_name(rounding)).c_str(),
                    spread.largest, spread.root_mean_square);
      rows[output] += (rows[output].empty() ? "" : ", ") + std::string(text);
    }
  std::string text = "  \"" + model.name + "\": {";
  const char* separator = "\n";
  for (const auto& [output, row] : rows) {
    text += separator + ("    \"" + output + "\": {" + row + "}");
    separator = ",\n";
  }
  return text + "}";
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> chosen(argv + 1, argv + argc);
    std::string separator = "{\n";
    for (const FetchedModel& model : fetched_models(SizeClass::large)) {
      if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), model.name) == chosen.end()) continue;
      std::printf("%s%s", separator.c_str(), case_text(model).c_str());
      std::fflush(stdout);
      separator = ",\n";
    }
    std::printf("\n}\n");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rounding_table: %s\n", error.what());
    return 1;
  }
}
