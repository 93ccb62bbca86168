// What Kotlin must refuse, an error a line: null where the interface takes none, and a value that may be null used as one.
import io.vellum.Device
import io.vellum.Model
import io.vellum.Session
import io.vellum.SessionOptions
import io.vellum.Tensor

fun nulls(device: Device, model: Model?) {
  Session.create(device, model)
  Model.load(null as String?)
  SessionOptions().inputShape(null, 1L)
  Tensor.of(null, 1L)
}
