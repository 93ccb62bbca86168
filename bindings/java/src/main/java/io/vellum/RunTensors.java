package io.vellum;

import java.nio.ByteBuffer;
import java.util.Map;

/** The tensors of a run as native code takes them. */
final class RunTensors {
  final String[] names;
  final long[][] shapes;
  final ByteBuffer[] values;

  RunTensors(Map<String, Tensor> tensors, String parameter) {
    names = new String[tensors.size()];
    shapes = new long[tensors.size()][];
    values = new ByteBuffer[tensors.size()];
    int i = 0;
    for (Map.Entry<String, Tensor> entry : tensors.entrySet()) {
      Tensor tensor = Check.notNull(entry.getValue(), "a tensor of " + parameter);
      names[i] = Check.notNull(entry.getKey(), "a name of " + parameter);
      shapes[i] = tensor.dims();
      values[i++] = tensor.memory();
    }
  }
}
