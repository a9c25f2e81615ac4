"""Factor scores: legend, presets, screens, breakdowns, and the predictive power of factors."""
