// Networks that follow one another for each frame: their sessions with memory of their own, and with one
// vellum::MemoryPool.
//
//   pool_bench RUNS MODEL...
//
// prints a table of the bytes of intermediate tensors of each, and the least and the median time of a frame
// (each network once), measured in turn. Fails if an output differs in a bit.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <vector>

#include "session_values.hpp"
#include "vellum/vellum.hpp"

namespace {

using vellum::bench::random_inputs, vellum::bench::same_bits, vellum::bench::Tensors;

struct Frame {
  std::vector<vellum::Session> sessions;
  std::vector<Tensors> inputs;
  std::vector<double> times;

  Frame(const vellum::Device& device, const std::vector<vellum::Model>& models,
        const vellum::MemoryPool& pool) {
    vellum::SessionOptions options;
    options.memory_pool = pool;
    for (const vellum::Model& model : models) {
      vellum::Session& session = sessions.emplace_back(device, model, options);
      inputs.push_back(random_inputs(session));
    }
  }
  std::vector<Tensors> run() {
    std::vector<Tensors> outputs;
    const auto begin = std::chrono::steady_clock::now();
    for (size_t i = 0; i < sessions.size(); ++i) outputs.push_back(sessions[i].run(inputs[i]));
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    return outputs;
  }
  double median() {
    std::ranges::sort(times);
    return times[times.size() / 2];
  }
};

int measure(int runs, const std::vector<std::filesystem::path>& files) {
  vellum::DeviceOptions options;
  options.cache_folder = vellum::default_cache_folder();
  const vellum::Device device = vellum::Device::open(options);
  std::vector<vellum::Model> models;
  for (const auto& file : files) models.push_back(vellum::Model::load(file));
  const vellum::MemoryPool pool(device);
  Frame apart(device, models, {}), together(device, models, pool);

  std::printf("| network | MiB apart |\n| --- | ---: |\n");
  constexpr double kMiB = 1 << 20;
  double sum = 0;
  for (size_t i = 0; i < files.size(); ++i) {
    const auto bytes = static_cast<double>(apart.sessions[i].memory().allocated_bytes);
    sum += bytes;
    std::printf("| %s | %.2f |\n", files[i].stem().string().c_str(), bytes / kMiB);
  }
  bool same = true;
  for (int run = 0; run < runs + 2; ++run) {
    const std::vector<Tensors> want = apart.run(), got = together.run();
    same = same && std::ranges::equal(want, got, same_bits);
    if (run == 1) apart.times.clear(), together.times.clear();
  }
  const auto pooled = static_cast<double>(pool.bytes());
  std::printf("| **sum** | %.2f |\n| **in one pool** | %.2f (%.0f%%) |\n\n", sum / kMiB, pooled / kMiB,
              100 * pooled / sum);
  const double median_apart = apart.median(), median_together = together.median();
  std::printf("A frame, min and median of %d: apart %.2f, %.2f ms; in one pool %.2f, %.2f ms (%.3f times).\n",
              runs, apart.times.front(), median_apart, together.times.front(), median_together,
              together.times.front() / apart.times.front());
  std::printf("Outputs: %s.\n", same ? "the same bit for bit" : "DIFFERENT");
  return same ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 3 || std::atoi(argv[1]) < 1) {
      std::fprintf(stderr, "usage: pool_bench RUNS MODEL...\n");
      return 2;
    }
    return measure(std::atoi(argv[1]), {argv + 2, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pool_bench: error: %s\n", error.what());
    return 1;
  }
}
