"""The portal's articles, flash news, notices and research reports."""
