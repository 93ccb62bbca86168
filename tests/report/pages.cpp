// report_pages FOLDER: writes the pages that page_test.mjs opens.
#include <fstream>

#include "report/example.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  std::ofstream hostile(folder + "/hostile.html", std::ios::binary),
      large(folder + "/large.html", std::ios::binary);
  hostile << vellum::profile_html(vellum::test::hostile_profile());
  large << vellum::profile_html(vellum::test::large_profile(1500));
  return hostile.good() && large.good() ? 0 : 1;
}
