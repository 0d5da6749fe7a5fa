# python3 -c THIS FOLDER: the statements of query.sql there are run with PySpark. 69: it is not there.
import glob
import os
import sys

try:
    from pyspark.sql import SparkSession
except ImportError:
    sys.exit(69)
folder = sys.argv[1]
builder = SparkSession.builder.appName("leaktide ranks").config("spark.sql.warehouse.dir", folder + "/tables")
# Some fifty small tables: 200 tasks for each, and a server for a page that nobody looks at, would take longer than all else.
builder = builder.config("spark.sql.shuffle.partitions", 8).config("spark.ui.enabled", "false")
spark = builder.getOrCreate()
with open(folder + "/query.sql", encoding="utf-8") as file:
    statements = file.read().split(";\n")
for statement in filter(str.strip, statements):
    rows = spark.sql(statement)
    if "cause" in rows.columns:  # the answer, not what SET returns
        rows.coalesce(1).write.option("compression", "zstd").parquet("file://" + folder + "/rows")
os.rename(glob.glob(folder + "/rows/part-*")[0], folder + "/rows.parquet")
