"""Chart patterns: 16 directions, each on the first day of a break only, and 9 metrics that are filters.

Definitions in `docs/calculations/patterns.md`, thresholds in `compute.parameters.patterns`. Importing this
package loads no numba; the first call of `pattern_columns` does.
"""

from platform_assets.compute.parameters.patterns import DIRECTIONS, METRICS
from platform_assets.compute.patterns.columns import has_row, kind_names, pattern_columns

__all__ = ["DIRECTIONS", "METRICS", "has_row", "kind_names", "pattern_columns"]
