// The provider through ONNX Runtime's C interface, in orders of creation and release that Python does not
// allow: c_interface_test LIBONNXRUNTIME PLUGIN MODEL. The model has one input of floats with known shape.
#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif
#include <onnxruntime_c_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace {

const OrtApi* api = nullptr;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::exit(1);
}

// Returns the message of a status, which it releases; empty for success.
std::string message(OrtStatus* status) {
  if (!status) return {};
  std::string text = api->GetErrorMessage(status);
  api->ReleaseStatus(status);
  return text;
}

void done(OrtStatus* status) {
  const std::string text = message(status);
  require(text.empty(), text.c_str());
}

const OrtEpDevice* vellum_device(OrtEnv* environment) {
  const OrtEpDevice* const* devices = nullptr;
  size_t count = 0;
  done(api->GetEpDevices(environment, &devices, &count));
  for (size_t i = 0; i < count; ++i)
    if (std::strcmp(api->EpDevice_EpName(devices[i]), "VellumExecutionProvider") == 0) return devices[i];
  require(false, "the provider has no device");
  return nullptr;
}

struct Program {
  std::filesystem::path plugin, model;

  OrtEnv* environment() const {
    OrtEnv* made = nullptr;
    done(api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "test", &made));
    return made;
  }

  OrtSession* session(OrtEnv* env, bool on_device) const {
    OrtSessionOptions* options = nullptr;
    done(api->CreateSessionOptions(&options));
    if (on_device) {
      const OrtEpDevice* device = vellum_device(env);
      const char *const keys[] = {"cache"}, *const values[] = {""};
      done(api->AddSessionConfigEntry(options, "session.disable_cpu_ep_fallback", "1"));
      done(api->SessionOptionsAppendExecutionProvider_V2(options, env, &device, 1, keys, values, 1));
    }
    OrtSession* made = nullptr;
    done(api->CreateSession(env, model.c_str(), options, &made));
    api->ReleaseSessionOptions(options);
    return made;
  }
};

struct Port {
  std::string name;
  std::vector<int64_t> shape;
  size_t count = 1;
};

Port port(OrtSession* session, bool is_input) {
  OrtAllocator* allocator = nullptr;
  done(api->GetAllocatorWithDefaultOptions(&allocator));
  char* name = nullptr;
  OrtTypeInfo* type = nullptr;
  done(is_input ? api->SessionGetInputName(session, 0, allocator, &name)
                : api->SessionGetOutputName(session, 0, allocator, &name));
  done(is_input ? api->SessionGetInputTypeInfo(session, 0, &type)
                : api->SessionGetOutputTypeInfo(session, 0, &type));
  const OrtTensorTypeAndShapeInfo* info = nullptr;
  done(api->CastTypeInfoToTensorInfo(type, &info));
  Port result{name, {}, 1};
  size_t rank = 0;
  done(api->GetDimensionsCount(info, &rank));
  result.shape.resize(rank);
  done(api->GetDimensions(info, result.shape.data(), rank));
  for (const int64_t dimension : result.shape) result.count *= static_cast<size_t>(dimension);
  api->ReleaseTypeInfo(type);
  allocator->Free(allocator, name);
  return result;
}

void fill(float* values, size_t count) {
  for (size_t i = 0; i < count; ++i) values[i] = std::sin(static_cast<float>(i));
}

// Runs once. Returns the message of an error, else empty; `copy` receives the first output.
std::string try_run(OrtSession* session, std::vector<float>& copy) {
  const Port input = port(session, true), output = port(session, false);
  std::vector<float> values(input.count);
  fill(values.data(), values.size());
  OrtMemoryInfo* memory = nullptr;
  done(api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
  OrtValue *tensor = nullptr, *result = nullptr;
  done(api->CreateTensorWithDataAsOrtValue(memory, values.data(), 4 * values.size(), input.shape.data(),
                                           input.shape.size(), ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &tensor));
  const char *const in[] = {input.name.c_str()}, *const out[] = {output.name.c_str()};
  const std::string fault = message(api->Run(session, nullptr, in, &tensor, 1, out, 1, &result));
  if (fault.empty()) {
    float* data = nullptr;
    done(api->GetTensorMutableData(result, reinterpret_cast<void**>(&data)));
    copy.assign(data, data + output.count);
  }
  api->ReleaseValue(result);
  api->ReleaseValue(tensor);
  api->ReleaseMemoryInfo(memory);
  return fault;
}

std::vector<float> run(OrtSession* session) {
  std::vector<float> copy;
  const std::string fault = try_run(session, copy);
  require(fault.empty(), fault.c_str());
  return copy;
}

void require_close(const std::vector<float>& result, const std::vector<float>& expected) {
  require(result.size() == expected.size(), "the sizes differ");
  for (size_t i = 0; i < result.size(); ++i)
    require(std::abs(result[i] - expected[i]) < 1e-4f * std::max(1.0f, std::abs(expected[i])),
            "values differ");
}

// Device tensors: allocated by the environment's shared allocator, bound, and freed after the session.
void bind(OrtEnv* env, OrtSession* session, const std::vector<float>& expected) {
  const OrtMemoryInfo* memory =
      api->EpDevice_MemoryInfo(vellum_device(env), OrtDeviceMemoryType_HOST_ACCESSIBLE);
  require(memory != nullptr, "the device has no memory that the host can read");
  OrtAllocator* allocator = nullptr;
  done(api->GetSharedAllocator(env, memory, &allocator));
  require(allocator != nullptr, "there is no shared allocator");
  OrtValue* tensors[2] = {};
  const Port ports[2] = {port(session, true), port(session, false)};
  float* data[2] = {};
  for (int i = 0; i < 2; ++i) {
    done(api->CreateTensorAsOrtValue(allocator, ports[i].shape.data(), ports[i].shape.size(),
                                     ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &tensors[i]));
    done(api->GetTensorMutableData(tensors[i], reinterpret_cast<void**>(&data[i])));
  }
  fill(data[0], ports[0].count);
  OrtIoBinding* binding = nullptr;
  done(api->CreateIoBinding(session, &binding));
  done(api->BindInput(binding, ports[0].name.c_str(), tensors[0]));
  done(api->BindOutput(binding, ports[1].name.c_str(), tensors[1]));
  for (int turn = 0; turn < 3; ++turn) done(api->RunWithBinding(session, nullptr, binding));
  require_close({data[1], data[1] + ports[1].count}, expected);
  api->ReleaseIoBinding(binding);
  for (OrtValue* tensor : tensors) api->ReleaseValue(tensor);
}

// What the provider does not offer is refused by the runtime.
void refuse_streams_and_imports(OrtEnv* env) {
  OrtSyncStream* stream = nullptr;
  const std::string no_stream =
      message(api->CreateSyncStreamForEpDevice(vellum_device(env), nullptr, &stream));
  require(!no_stream.empty() && !stream, "a stream was made");
  OrtExternalResourceImporter* importer = nullptr;
  const std::string no_import =
      message(api->GetInteropApi()->CreateExternalResourceImporterForDevice(vellum_device(env), &importer));
  require(no_import.empty() && !importer, "an importer was made");
}

void register_plugin(const Program& program, OrtEnv* env) {
  done(api->RegisterExecutionProviderLibrary(env, "vellum", program.plugin.c_str()));
}

const OrtApiBase* load_runtime(const char* file) {
#ifdef _WIN32
  const HMODULE library = LoadLibraryA(file);
  void* const entry = library ? reinterpret_cast<void*>(GetProcAddress(library, "OrtGetApiBase")) : nullptr;
#else
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  void* const entry = library ? dlsym(library, "OrtGetApiBase") : nullptr;
#endif
  require(entry != nullptr, "the runtime cannot be loaded");
  return reinterpret_cast<const OrtApiBase*(ORT_API_CALL*)()>(entry)();
}

}  // namespace

int main(int count, char** words) {
  require(count == 4, "c_interface_test LIBONNXRUNTIME PLUGIN MODEL");
  api = load_runtime(words[1])->GetApi(24);
  require(api != nullptr, "the runtime is older than 1.24");
  const Program program{words[2], words[3]};

  OrtEnv* env = program.environment();
  register_plugin(program, env);
  require(!message(api->RegisterExecutionProviderLibrary(env, "vellum", program.plugin.c_str())).empty(),
          "a name may be registered twice");
  refuse_streams_and_imports(env);
  OrtSession* host = program.session(env, false);
  const std::vector<float> expected = run(host);
  api->ReleaseSession(host);
  OrtSession* session = program.session(env, true);
  require_close(run(session), expected);
  bind(env, session, expected);
  done(api->RegisterExecutionProviderLibrary(env, "again", program.plugin.c_str()));
  require_close(run(session), expected);
  bind(env, session, expected);

  // Both registrations end while a session lives.
  done(api->UnregisterExecutionProviderLibrary(env, "again"));
  done(api->UnregisterExecutionProviderLibrary(env, "vellum"));
  require_close(run(session), expected);
  api->ReleaseSession(session);

  // The environment is released before the session, which the runtime does not allow: its own kernels fail,
  // too.
  register_plugin(program, env);
  session = program.session(env, true);
  api->ReleaseEnv(env);
  std::vector<float> ignored;
  const std::string fault = try_run(session, ignored);
  require(fault.empty() || fault.find("DefaultLogger") != std::string::npos, fault.c_str());
  api->ReleaseSession(session);

  // A new environment after that.
  env = program.environment();
  register_plugin(program, env);
  session = program.session(env, true);
  require_close(run(session), expected);
  api->ReleaseSession(session);
  api->ReleaseEnv(env);
  return 0;
}
