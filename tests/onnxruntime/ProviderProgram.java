import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtEpDevice;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import java.nio.FloatBuffer;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** ONNX Runtime for Java with Vellum's provider: ProviderProgram LIBRARY MODEL. The model has one input of floats. */
public final class ProviderProgram {
    private static final String NAME = "VellumExecutionProvider";

    private static float[] run(OrtEnvironment environment, OrtSession session, float seed) throws OrtException {
        String name = session.getInputNames().iterator().next();
        long[] shape = ((ai.onnxruntime.TensorInfo) session.getInputInfo().get(name).getInfo()).getShape();
        int count = 1;
        for (long dimension : shape) count *= (int) dimension;
        FloatBuffer values = FloatBuffer.allocate(count);
        for (int i = 0; i < count; ++i) values.put(i, (float) Math.sin(seed + i));
        try (OnnxTensor tensor = OnnxTensor.createTensor(environment, values, shape);
                OrtSession.Result result = session.run(Map.of(name, tensor))) {
            FloatBuffer output = ((OnnxTensor) result.get(0)).getFloatBuffer();
            float[] array = new float[output.remaining()];
            output.get(array);
            return array;
        }
    }

    private static void check(boolean holds, String what) {
        if (!holds) throw new AssertionError(what);
    }

    private static OrtSession.SessionOptions options(List<OrtEpDevice> devices, Map<String, String> texts) throws OrtException {
        OrtSession.SessionOptions options = new OrtSession.SessionOptions();
        options.addConfigEntry("session.disable_cpu_ep_fallback", "1"); // an error unless all nodes are claimed
        options.addExecutionProvider(devices, texts);
        return options;
    }

    public static void main(String[] arguments) throws Exception {
        OrtEnvironment environment = OrtEnvironment.getEnvironment();
        environment.registerExecutionProviderLibrary("vellum", arguments[0]);
        List<OrtEpDevice> devices =
                environment.getEpDevices().stream().filter(device -> device.getEpName().equals(NAME)).collect(Collectors.toList());
        check(!devices.isEmpty(), "no device");
        devices = devices.subList(0, 1);
        try (OrtSession host = environment.createSession(arguments[1]);
                OrtSession session = environment.createSession(arguments[1], options(devices, Map.of("cache", "")))) {
            for (int turn = 0; turn < 3; ++turn) {
                float[] expected = run(environment, host, turn), result = run(environment, session, turn);
                check(result.length == expected.length, "length");
                for (int i = 0; i < result.length; ++i)
                    check(Math.abs(result[i] - expected[i]) < 1e-4 * Math.max(1, Math.abs(expected[i])), "element " + i);
            }
        }
        try {
            environment.createSession(arguments[1], options(devices, Map.of("precison", "fp16")));
            check(false, "no error for an unknown option");
        } catch (OrtException error) {
            check(error.getMessage().contains("Vellum: there is no option 'precison'"), error.getMessage());
        }
        environment.unregisterExecutionProviderLibrary("vellum");
    }
}
