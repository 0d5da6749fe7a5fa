"""Rows of a database are asked for a column that they do not have."""
import sqlalchemy

from loop import turns

engine = sqlalchemy.create_engine("sqlite://")
with engine.connect() as connection:
    for turn in turns(60):
        for row in connection.execute(sqlalchemy.text("select 1 as a, 2 as b")):
            for n in range(30):
                getattr(row, "column_%d" % n, None)
