"""Factor scores of a market on one date, the gates before a pick, the presets, and how well factors foretell.

    scores    `factor_scores(wide)`: one date's wide rows -> columns of `calc_factor_score`
    gates     `check_gates(...)`, `gates_of(wide)`: what blocks a stock, and what it is only warned about
    presets   `PRESETS`, `preset_of(key)`, `apply_preset(scored, preset)` -> ranked rows
    breakdown `breakdown(scores, place)`: a score down to its input cells
    ic        `factor_ic(scores, returns)`: rank correlation of a factor with what followed

Pure numpy and pandas; nothing here is compiled. Every value of a date is computed from rows of that date.
"""
