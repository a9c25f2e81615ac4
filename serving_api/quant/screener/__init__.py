"""/screener, /quant/screener and /quant/formulas: stocks of a date that fulfil a condition."""
