"""Results of a company: key figures by report period, all indicators, growth by quarter."""
