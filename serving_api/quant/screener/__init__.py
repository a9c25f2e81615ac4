"""/screener, /quant/screener and /quant/formulas: stocks of a date that meet a condition."""
