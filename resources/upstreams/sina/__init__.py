"""The second quote site: snapshots, daily bars and statements of single companies."""
