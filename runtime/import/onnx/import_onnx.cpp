// The entry points of the ONNX reader.
#include <new>
#include <string>
#include <system_error>

#include "import/import.hpp"
#include "import/onnx/graph.hpp"
#include "import/onnx/reader.hpp"
#include "import/record.hpp"
#include "platform/utf8_path.hpp"
#include "vellum/error.hpp"

namespace vellum {
namespace {

namespace fs = std::filesystem;

// Calls `work` and adds the name of the source to its errors. Translates other exceptions of protobuf and the
// standard library.
template <typename Work>
Graph naming_source(const std::string& source, Work&& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(error.code(), source + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, source + ": not enough host memory for the model");
  } catch (const std::exception& error) {
    throw Error(ErrorCode::corrupt_model, source + ": " + error.what());
  }
}

}  // namespace

Graph import_onnx(const fs::path& file, GraphRecord& record, const fs::path& links_within) {
  return naming_source(platform::to_utf8(file), [&] {
    onnx::schema::ModelProto model = onnx::read_model(file);
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    Graph graph = onnx::take_graph(model, folder, &record, links_within);
    if (graph.name.empty()) graph.name = platform::to_utf8(file.stem());
    return graph;
  });
}

Graph import_onnx(const fs::path& file, const fs::path& links_within) {
  GraphRecord unused;
  return import_onnx(file, unused, links_within);
}

Graph import_onnx(std::span<const std::byte> bytes, GraphRecord& record) {
  return naming_source("model in memory", [&] {
    onnx::schema::ModelProto model = onnx::read_model(bytes);
    return onnx::take_graph(model, {}, &record);
  });
}

Graph import_onnx(std::span<const std::byte> bytes, const fs::path& external_data_folder) {
  return naming_source("model in memory", [&] {
    onnx::schema::ModelProto model = onnx::read_model(bytes);
    return onnx::take_graph(model, external_data_folder);
  });
}

}  // namespace vellum
