#!/usr/bin/python3
"""What the scoreboard makes of a report and a row."""
import unittest

import machine_code
import scoreboard

DISPATCH = {"macs": 64000, "invocations": 1000, "compute_us": 10, "busy": 0.5, "memory_us": 4, "latency_us": 14, "steps": 7,
            "waves": 4, "efficiency": 0.25, "overhead_us": 3}


def pipeline(loop, **defines):
    return {"hot_loop": loop, "defines": defines}


class Predicted(unittest.TestCase):
    def test_without_a_hot_loop_it_is_that_of_the_tool(self):
        self.assertEqual(scoreboard.predicted_us(DISPATCH, pipeline(None)), (10 / 0.5 / 0.25, "compute_ms", 3))

    def test_a_hot_loop_gives_efficiency_and_steps(self):
        loop = machine_code.HotLoop(fmas=16, slots=20, loads=1, counts={})
        self.assertEqual(scoreboard.predicted_us(DISPATCH, pipeline(loop)), (10 / 0.5 / 0.8, "compute_ms", 3))
        short = machine_code.HotLoop(fmas=1, slots=1, loads=1, counts={})
        self.assertEqual(scoreboard.predicted_us(DISPATCH, pipeline(short))[:2], (14 / 7 * (3 + 64) + 10 / 0.5 / 4, "latency_ms"))
        split = pipeline(short, PARTS="4")
        self.assertEqual(scoreboard.predicted_us(DISPATCH, split)[0], 14 / 7 * (3 + 1 + 64) + 10 / 0.5 / 4)


class LeastOfMost(unittest.TestCase):
    def test_the_worst_tenth_is_left_out(self):
        self.assertEqual(scoreboard.least_of_most([(50, 0.7), (41, 0.9), (9, 0.1)]), 0.7)
        self.assertEqual(scoreboard.least_of_most([(50, 0.7), (39, 0.9), (11, 0.1)]), 0.1)
        self.assertIsNone(scoreboard.least_of_most([]))


class Losses(unittest.TestCase):
    NOW = {"efficiency": 0.8, "fmas_per_load": 8.0, "resident": 8.0, "spills": 1, "pipelines": 10, "least_ms": 1.0,
           "predicted_ms": 2.0}

    def test_what_a_row_lacks_is_not_compared(self):
        self.assertEqual(list(scoreboard.losses(self.NOW, {})), [])
        self.assertEqual(list(scoreboard.losses(self.NOW, {"efficiency": 0.8, "spills": 1})), [])

    def test_losses_of_more_than_a_twentieth_count(self):
        self.assertEqual(list(scoreboard.losses(self.NOW, {**self.NOW, "predicted_ms": 1.95, "efficiency": 0.83})), [])
        self.assertEqual(len(list(scoreboard.losses(self.NOW, {**self.NOW, "predicted_ms": 1.8, "efficiency": 0.9}))), 2)
        self.assertEqual(len(list(scoreboard.losses(self.NOW, {**self.NOW, "spills": 0}))), 1)


if __name__ == "__main__":
    unittest.main()
