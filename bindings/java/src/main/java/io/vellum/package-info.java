/**
 * Vellum in Java: Vulkan compute inference for vision models, with planned, shared memory.
 *
 * <pre>{@code
 * try (Device device = Device.open();
 *      Model model = Model.load("model.onnx");
 *      Session session = Session.create(device, model)) {
 *   Tensor image = Tensor.of(pixels, 1, 3, 224, 224);
 *   Map<String, Tensor> outputs = session.run(Collections.singletonMap("image", image));
 * }
 * }</pre>
 *
 * <p><b>Memory.</b> Values are passed in direct {@link java.nio.ByteBuffer}s in the machine's byte order, dense and
 * row-major. The runtime reads and writes their memory itself: the binding adds no copy. Arrays and buffers of the Java
 * heap are accepted where said, and are copied once on their way.
 *
 * <p><b>Errors.</b> What Vellum refuses is a {@link io.vellum.VellumException} with its status. A closed object is an
 * {@link java.lang.IllegalStateException}, {@code null} a {@link java.lang.NullPointerException} that names the
 * parameter, memory for outputs that is read-only a {@link java.nio.ReadOnlyBufferException}.
 *
 * <p><b>Lifetime.</b> {@code close()} frees the native object when no call is using it any more; objects may be closed in
 * any order. An object that is dropped without {@code close()} is freed some time after the garbage collector finds it.
 *
 * <p><b>Threads.</b> Devices, models and values may be used from several threads at once. A session may be used from any
 * thread: {@link io.vellum.Session#submit} and {@link io.vellum.Session#trySubmit} run side by side, every other call waits
 * until it has the session alone.
 */
package io.vellum;
