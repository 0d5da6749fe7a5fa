# SPDX-License-Identifier: Apache-2.0
"""Budgets beside the code that they are about."""

import os

import pytest


@pytest.mark.leaktide(peak="6 MiB", leak="0")
def test_a_batch_fits():
    batch = bytearray(4 << 20)
    assert len(batch) == 4 << 20


@pytest.mark.skipif("TRAIN" not in os.environ, reason="TRAIN names the program")
def test_training_keeps_its_budget(leaktide_run):
    assert "trained" in leaktide_run([os.environ["TRAIN"]], peak="64 MiB", leak="0")
