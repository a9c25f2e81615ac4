"""The second quote site: responders for snapshots, daily bars and statements."""
