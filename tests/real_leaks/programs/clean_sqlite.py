"""Rows come and go in a database in memory."""
import sqlite3

from loop import turns

base = sqlite3.connect(":memory:")
base.execute("create table row (n integer, text text)")
for turn in turns(80):
    base.executemany("insert into row values (?, ?)", [(n, "text %d" % n) for n in range(100)])
    base.execute("select sum(n) from row").fetchall()
    base.execute("delete from row")
