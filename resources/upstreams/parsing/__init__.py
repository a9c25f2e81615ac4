"""What the parsers of several upstreams share: decoding, frames, pages, tables, common columns."""
