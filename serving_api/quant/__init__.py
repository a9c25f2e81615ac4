"""/quant: calculations from the bars of a day, and requests to recalculate them."""
