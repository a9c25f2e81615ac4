"""Factor scores over the API: legend, presets, screens, breakdowns, and how factors did."""
