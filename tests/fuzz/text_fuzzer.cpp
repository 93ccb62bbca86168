// Any bytes as the text files that Vellum reads, and as .npy files. The first byte says which.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include "api/guard.hpp"
#include "caps_file/caps_json.hpp"
#include "exec/kernel_verdicts.hpp"
#include "io/npy.hpp"
#include "tune/table_file.hpp"
#include "vellum/error.hpp"
#include "vellum/planner/plan.hpp"
#include "vellum/planner/records_csv.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(static_cast<const char*>(static_cast<const void*>(data + 1)), size - 1);
  try {
    switch (data[0]) {
      case 'c':
        vellum::guard([&] { return vellum::to_json(vellum::caps_from_json(text, "caps")); });
        break;
      case 't':
        vellum::table_from_json(text, "device");
        break;
      case 'v':
        vellum::verdicts_from_json(text, vellum::DeviceCaps{});
        break;
      case 'n':
        vellum::io::parse_npy(std::span(data + 1, size - 1), "array.npy");
        break;
      case 'r': {
        std::istringstream in{std::string(text)};
        vellum::planner::read_records_csv(in, "records");
        break;
      }
      default:
        break;
    }
  } catch (const vellum::planner::PlanError&) {
  } catch (const vellum::Error& error) {
    if (error.code() != vellum::ErrorCode::internal) return 0;
    std::cerr << "an internal error: " << error.what() << "\n";
    std::abort();
  }
  return 0;
}
