// Gives files, and those of folders, to a fuzz target: where the compiler has no libFuzzer, and in ctest.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

void run(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file) {
    std::cerr << path.string() << " cannot be read\n";
    std::exit(1);
  }
  LLVMFuzzerTestOneInput(static_cast<const uint8_t*>(static_cast<const void*>(bytes.data())), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  size_t files = 0;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      run(argv[i]);
      ++files;
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i]))
      if (entry.is_regular_file()) {
        run(entry.path());
        ++files;
      }
  }
  std::cout << files << " files\n";
  return files > 0 ? 0 : 1;
}
