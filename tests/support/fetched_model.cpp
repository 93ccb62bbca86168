#include "support/fetched_model.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "io/npy.hpp"

namespace vellum::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path test_data() {
  const char* folder = std::getenv("VELLUM_TEST_DATA");
  if (folder == nullptr) throw std::runtime_error("VELLUM_TEST_DATA is not set: run the tests with ctest");
  return folder;
}

HostTensor load_floats(const fs::path& file) {
  const io::NpyArray array = io::read_npy(file);
  if (array.dtype != "float32") throw std::runtime_error(file.string() + " is not float32");
  HostTensor tensor(DType::f32, array.shape);
  std::memcpy(tensor.mutable_data(), array.data.data(), tensor.byte_size());
  return tensor;
}

// The name of the file that `vellum run` writes for a tensor.
std::string file_name(std::string name) {
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  };
  std::replace_if(
      name.begin(), name.end(), [&](char c) { return !allowed(static_cast<unsigned char>(c)); }, '_');
  return name + ".npy";
}

SizeClass size_class(const std::string& word) {
  if (word == "small") return SizeClass::small;
  if (word == "medium") return SizeClass::medium;
  if (word == "large") return SizeClass::large;
  throw std::runtime_error("models.json: no size class " + word);
}

Decision read_decision(const json& from) {
  Decision decision;
  decision.kind = from.at("kind").get<std::string>();
  for (const char* key : {"outputs", "scores"})
    if (from.contains(key)) decision.outputs = from[key].get<std::vector<std::string>>();
  if (from.contains("output")) decision.outputs = {from["output"].get<std::string>()};
  decision.boxes = from.value("boxes", std::vector<std::string>{});
  decision.strides = from.value("strides", std::vector<int>{});
  decision.threshold = from.value("threshold", 0.0);
  decision.side = from.value("side", 0);
  return decision;
}

json read_json(const fs::path& file) {
  std::ifstream stream(file);
  return json::parse(stream);
}

std::map<std::string, std::array<Distance, 3>> read_spread(const json& table, const std::string& case_name) {
  std::map<std::string, std::array<Distance, 3>> spread;
  const json outputs = table.value(case_name, json::object());
  for (const auto& [output, distances] : outputs.items())
    for (const Rounding rounding : {Rounding::fp32, Rounding::fp16, Rounding::halves}) {
      const json& distance = distances.at(std::string(rounding_name(rounding)));
      spread[output][static_cast<size_t>(rounding)] = {distance.at(0).get<double>(),
                                                       distance.at(1).get<double>()};
    }
  return spread;
}

std::map<std::string, Suppression> read_suppressed(const json& model) {
  std::map<std::string, Suppression> suppressed;
  const json outputs = model.value("suppressed", json::object());
  for (const auto& [output, entry] : outputs.items())
    suppressed[output] = {entry.at("of").get<std::string>(), entry.at("window").get<int64_t>()};
  return suppressed;
}

std::vector<FetchedModel> read_table() {
  const json table = read_json(VELLUM_MODELS_TABLE), rounding = read_json(VELLUM_ROUNDING_TABLE);
  std::vector<FetchedModel> models;
  for (const json& entry : table.at("models"))
    for (const json& test_case : entry.at("cases"))
      models.push_back({test_case.at("name").get<std::string>(), entry.at("title").get<std::string>(),
                        entry.at("file").get<std::string>(), entry.at("licence").get<std::string>(),
                        size_class(entry.at("size_class").get<std::string>()),
                        read_decision(entry.at("decision")),
                        read_spread(rounding, test_case.at("name").get<std::string>()),
                        read_suppressed(entry), entry.value("host_operators", std::vector<std::string>{})});
  return models;
}

std::string folder_of(const QuantisedModel& model) { return model.source.name + "_" + model.scheme; }

const std::vector<FetchedModel>& table() {
  static const std::vector<FetchedModel> models = read_table();
  return models;
}

}  // namespace

fs::path FetchedModel::model() const { return test_data() / "models" / file; }

HostTensor FetchedModel::input() const { return reference_tensor(name, "input.npy"); }

HostTensor FetchedModel::output(const std::string& output_name) const {
  return reference_tensor(name, file_name(output_name));
}

HostTensor FetchedModel::before_suppression(const std::string& output_name) const {
  return reference_tensor(name, file_name(suppressed.at(output_name).of));
}

fs::path reference_file(const std::string& name, const std::string& file) {
  return test_data() / "references" / name / file;
}

HostTensor reference_tensor(const std::string& name, const std::string& file) {
  return load_floats(reference_file(name, file));
}

fs::path QuantisedModel::model() const { return reference_file(folder_of(*this), "model.tflite"); }

std::map<std::string, QuantisedModel::Grid> QuantisedModel::grids() const {
  std::map<std::string, Grid> grids;
  const json edges = read_json(reference_file(folder_of(*this), "edges.json"));
  for (const char* side : {"inputs", "outputs"})
    for (const auto& [name, grid] : edges.at(side).items())
      grids[name] = {grid.at("scale").get<float>(), grid.at("zero_point").get<int>()};
  return grids;
}

HostTensor QuantisedModel::input() const { return reference_tensor(folder_of(*this), "input.npy"); }

HostTensor QuantisedModel::output_of_integers(const std::string& output_name) const {
  return reference_tensor(folder_of(*this), "integers/" + file_name(output_name));
}

HostTensor QuantisedModel::output_of_floats(const std::string& output_name) const {
  return reference_tensor(folder_of(*this), "floats/" + file_name(output_name));
}

std::vector<QuantisedModel> quantised_models() {
  std::vector<QuantisedModel> models;
  const json file = read_json(VELLUM_MODELS_TABLE);
  for (const json& entry : file.at("models"))
    for (const std::string& scheme : entry.value("quantised", std::vector<std::string>{}))
      for (const json& test_case : entry.at("cases"))
        models.push_back({fetched_model(test_case.at("name").get<std::string>()), scheme});
  return models;
}

std::vector<FetchedModel> fetched_models(SizeClass largest) {
  std::vector<FetchedModel> found;
  for (const FetchedModel& model : table())
    if (model.size_class <= largest) found.push_back(model);
  return found;
}

std::vector<FetchedModel> small_fetched_models() {
  return {fetched_model("blazeface_front"), fetched_model("blazeface_back"), fetched_model("mlsd_tiny")};
}

const FetchedModel& fetched_model(const std::string& name) {
  for (const FetchedModel& model : table())
    if (model.name == name) return model;
  throw std::runtime_error("models.json has no case " + name);
}

}  // namespace vellum::test
