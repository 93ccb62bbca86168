"""The table that compare_models.py writes."""

import compare_models

PAGE = """# Page
<!-- models begin -->
| model | ... |
| --- | ---: |
| first | 3 of 3 | 1 | 1.0e-06 | 4.9 | 5.3 | 1.5 | 0.9 | 0.9 |  |  |
| second | 2 of 2 | 1 | 2.0e-06 | 1.0 | 1.0 | 1.0 | 0.5 | 0.5 | 20 | 10 |
<!-- models end -->
After.
"""


def test_cells_that_were_not_measured_stay(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    measured = [{"name": "first", "cold": 30.4, "context": 9.6}, {"name": "third", "failures": {"compare": "an error"}}]
    compare_models.write_between_marks(page, [compare_models.row(result) for result in measured])
    lines = page.read_text().splitlines()
    assert lines[4:7] == [
        "| first | 3 of 3 | 1 | 1.0e-06 | 4.9 | 5.3 | 1.5 | 0.9 | 0.9 | 30 | 10 |",
        "| second | 2 of 2 | 1 | 2.0e-06 | 1.0 | 1.0 | 1.0 | 0.5 | 0.5 | 20 | 10 |",
        "| third | failed |" + "  |" * 9,
    ]
    assert lines[0] == "# Page" and lines[-1] == "After."
