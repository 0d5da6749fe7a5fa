"""Dates arrive that are none; the error is handled."""
import pendulum

from loop import turns

for turn in turns(60):
    for n in range(30):
        try:
            pendulum.parse("2021-02-30T10:00:%02d" % n)
        except ValueError:
            pass
