"""Sums of money in decimals, and their roots."""
import decimal

from loop import turns

for turn in turns(60):
    with decimal.localcontext() as context:
        context.prec = 200 + turn % 7
        total = decimal.Decimal(turn)
        for n in range(1, 60):
            total = (total + decimal.Decimal(1) / n).sqrt()
        str(total)
