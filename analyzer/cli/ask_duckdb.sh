# sh -c THIS FOLDER: query.sql there is asked with the command of DuckDB. 69: it is not there.
command -v duckdb >/dev/null || exit 69
cd "$0" || exit 1
{
  echo "COPY ("
  cat query.sql
  echo ") TO 'rows.parquet' (FORMAT parquet, COMPRESSION zstd);"
} | duckdb -bail
