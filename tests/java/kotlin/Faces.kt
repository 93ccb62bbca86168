// A program in Kotlin as an application would have it: what may be null has a type that says so. kotlin.sh compiles and runs it.
//   Faces MODEL FOLDER     writes each output of the model, whose input is 0.5 everywhere, to FOLDER
import io.vellum.Device
import io.vellum.LargePicture
import io.vellum.Model
import io.vellum.PictureRegion
import io.vellum.Session
import io.vellum.SessionOptions
import io.vellum.Tensor
import io.vellum.VellumException
import java.io.File

fun run(file: String, folder: File) {
  Device.open().use { device ->
    Model.load(file).use { model ->
      Session.create(device, model, SessionOptions().profile(true)).use { session ->
        val input = session.inputs().first()
        val half = Tensor.of(FloatArray((input.byteSize() / 4).toInt()) { 0.5f }, *input.shape())
        val outputs: Map<String, Tensor> = session.run(mapOf(input.name() to half))
        for ((name, tensor) in outputs) File(folder, name.replace(':', '_')).writeBytes(tensor.toBytes())
        check(session.layerTimes().isNotEmpty())
        check(session.memory().allocatedBytes() > 0)
      }
      val message = try {
        LargePicture.create(device, model, null).use { picture -> watch(picture) }
        null
      } catch (refused: VellumException) {
        refused.message
      }
      checkNotNull(message) { "a network that looks at the whole picture has no tiles" }
    }
  }
}

fun watch(picture: LargePicture) {
  var rows = 0L
  picture.run({ region: PictureRegion, _ -> rows += region.height() }, { _, _ -> }, { done, total -> done < total })
}

fun main(arguments: Array<String>) = run(arguments[0], File(arguments[1]))
