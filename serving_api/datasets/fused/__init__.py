"""The fused layer over HTTP: records of a stock, series, status, full fusion, the interface catalog, and
the stock-base list from the wide table."""
