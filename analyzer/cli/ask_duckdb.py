# python3 -c THIS FOLDER: query.sql there is asked with DuckDB's package. 69: it is not there.
import os
import sys

try:
    import duckdb
except ImportError:
    sys.exit(69)
os.chdir(sys.argv[1])
with open("query.sql", encoding="utf-8") as file:
    duckdb.execute("COPY (%s) TO 'rows.parquet' (FORMAT parquet, COMPRESSION zstd)" % file.read())
