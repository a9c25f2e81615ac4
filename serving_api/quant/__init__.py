"""/quant: what is calculated from the bars of a day, and asking for it anew."""
