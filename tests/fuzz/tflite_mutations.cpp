// Gives mutated TFLite models to the fuzz target, with any compiler: tflite_mutations FOLDER COUNT [SEED].
// The models of the folder are the first parents; a mutated one takes the place of its parent now and then.
// Before each execution the model is written to the file that VELLUM_FUZZ_LAST names, if it is set: it holds
// the one that crashed.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tflite_mutator.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: tflite_mutations FOLDER COUNT [SEED]\n";
    return 1;
  }
  std::vector<std::string> parents;
  // In the order of their names, so that a seed gives the same models everywhere.
  const std::set<std::filesystem::path> paths(std::filesystem::directory_iterator(argv[1]), {});
  for (const std::filesystem::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    if (!vellum::mutated_tflite(bytes, 0).empty()) parents.push_back(std::move(bytes));
  }
  if (parents.empty()) {
    std::cerr << argv[1] << " has no TFLite model\n";
    return 1;
  }
  const std::vector<std::string> first = parents;
  std::mt19937 random(argc > 3 ? static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10)) : 1);
  const char* const last = std::getenv("VELLUM_FUZZ_LAST");
  const uint64_t count = std::strtoull(argv[2], nullptr, 10);
  for (uint64_t i = 0; i < count; ++i) {
    const size_t number = random() % parents.size();
    std::string bytes = vellum::mutated_tflite(parents[number], static_cast<uint32_t>(random()));
    if (bytes.empty()) {
      parents[number] = first[number];
      continue;
    }
    if (last) std::ofstream(last, std::ios::binary) << bytes;
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    // Few generations, or all is broken in many ways at once.
    const uint32_t chance = random() % 8;
    if (chance < 3) parents[number] = std::move(bytes);
    if (chance >= 6) parents[number] = first[number];
  }
  std::cout << count << " models\n";
}
