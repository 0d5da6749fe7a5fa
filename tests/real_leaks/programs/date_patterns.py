"""Notices are dated by a pattern that holds the number of the order."""
import datetime

from babel.dates import format_datetime
from loop import turns

LOCALES = ["en_GB", "de", "fr", "pl", "pt_BR"]

day = datetime.datetime(2023, 1, 1, 9, 30)
order = length = 0
for turn in turns(200):
    for slot in range(30):
        order += 1
        pattern = "'#%d' EEEE, d MMMM y 'at' HH:mm" % order
        when = day + datetime.timedelta(days=turn, minutes=10 * slot)
        for locale in LOCALES:
            length += len(format_datetime(when, pattern, locale=locale))
