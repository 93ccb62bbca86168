// Runs the models of tests/models.json on a device and prints how they agree with the reference outputs, as a
// table in Markdown for docs/benchmarks/models.md (tests/bench/model_table.sh): model, format, licence, milliseconds, memory,
// agreement.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "e2e/decision.hpp"
#include "vellum/vellum.hpp"

namespace {

using namespace vellum;
using namespace vellum::test;

struct Row {
  double largest = 0, root_mean_square = 0, ms = 0;
  std::string decision;
  MemoryReport memory;
};

std::map<std::string, Tensor> references(const FetchedModel& which, const Session& session) {
  std::map<std::string, Tensor> wanted;
  for (const TensorInfo& output : session.outputs()) wanted[output.name] = which.output(output.name);
  return wanted;
}

// Over all elements of all outputs: |difference| / max(1, |reference|).
void measure_distance(const std::map<std::string, Tensor>& got, const std::map<std::string, Tensor>& want,
                      Row& row) {
  double squares = 0;
  size_t count = 0;
  for (const auto& [name, tensor] : want) {
    const std::vector<float> a = got.at(name).to_floats(), b = tensor.to_floats();
    for (size_t i = 0; i < b.size(); ++i) {
      const double distance = std::abs(double{a[i]} - b[i]) / std::max(1.0, std::abs(double{b[i]}));
      row.largest = std::isnan(distance) ? INFINITY : std::max(row.largest, distance);
      squares += distance * distance;
    }
    count += b.size();
  }
  row.root_mean_square = std::sqrt(squares / static_cast<double>(count));
}

Row measure(const FetchedModel& which, const Device& device, Precision precision, int runs) {
  const Model model = Model::load(which.model());
  const HostTensor input = which.input();
  const std::string name = model.inputs().at(0).name;
  SessionOptions options;
  options.precision = precision;
  options.input_shapes[name] = input.shape();
  Session session(device, model, options);
  Row row;
  const auto want = references(which, session), got = session.run({{name, input}});
  measure_distance(got, want, row);
  row.decision = differs(which.decision, got, want);
  row.ms = INFINITY;
  for (int i = 0; i < runs; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    session.run();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    row.ms = std::min(row.ms, took.count());
  }
  row.memory = session.memory();
  return row;
}

std::string mebibytes(uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", static_cast<double>(bytes) / (1 << 20));
  return text;
}

int run(int runs, const std::string& prefix) {
  const Device device = Device::open();
  std::printf(
      "| model | format | licence | input | fp32, min | naive | planned | worst | rms | decision | fp16 |\n");
  std::printf("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  bool agrees = true;
  for (const FetchedModel& which : fetched_models(SizeClass::large)) {
    if (!which.name.starts_with(prefix)) continue;
    const Row row = measure(which, device, Precision::fp32, runs);
    const Row half = measure(which, device, Precision::fp16, 0);
    agrees = agrees && row.decision.empty() && half.decision.empty();
    std::printf("| %s | %s | %s | %s | %.1f ms | %s MiB | %s MiB | %.1e | %.1e | %s | %s |\n",
                which.title.c_str(), which.is_onnx() ? "ONNX" : "TFLite", which.licence.c_str(),
                to_string(which.input().shape()).c_str(), row.ms, mebibytes(row.memory.naive_bytes).c_str(),
                mebibytes(row.memory.planned_bytes).c_str(), row.largest, row.root_mean_square,
                row.decision.empty() ? "same" : row.decision.c_str(),
                half.decision.empty() ? "same" : half.decision.c_str());
    std::fflush(stdout);
  }
  return agrees ? 0 : 1;
}

}  // namespace

// compare [RUNS [PREFIX]]: those cases whose names begin so; exit status 0 where all decisions are the same.
int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? std::atoi(argv[1]) : 10, argc > 2 ? argv[2] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "compare: %s\n", error.what());
    return 1;
  }
}
