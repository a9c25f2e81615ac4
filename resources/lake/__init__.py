"""The lake: tables of the warehouse, published as Delta Lake tables that other engines read too.

One published table per fused, calculated and reference table, in `DATA_DIR/lake` or at `LAKE_URL`:
`<lake>/<table>/month=2026-08/is_current=true/….parquet` with the log in `_delta_log`. Reference and dimension
tables are not divided by month; tables without versions have no `is_current`.

    lake = Lake.of(settings.lake_url, settings.data_path)   # asks nothing yet; or Lake("s3://bucket/prefix")
    lake.names()                                            # ["calc_chip_daily", …]

Without the warehouse, one snapshot as it was published:

    opened = lake.table("fusion_kline_daily")               # PublishedTable; NotFound, StorageError
    opened.key, opened.date_column, opened.schema           # units and titles in the fields' metadata
    read_published(opened, columns=["code", "date", "close"], codes=["600519"],
                   since="2026-01-01", until="2026-08-21", as_of="2026-08-01 12:00")   # pyarrow.Table

With the warehouse, the answer of the warehouse, read from the lake where that is current:

    LakeReader(warehouse, lake).read("fusion_kline_daily", since="2026-01-01")         # pyarrow.Table

Publishing what changed, at any time, from any process, one process at a time for each table:

    Publisher(warehouse, lake).publish(warehouse.table("fusion_kline_daily"))          # Publication

PyArrow and deltalake are imported with the first of these modules, half as long as pandas takes: a process
that may do without the lake imports them where it reads.
"""
