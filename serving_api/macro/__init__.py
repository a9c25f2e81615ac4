"""The economy: yields of government bonds, the equity risk premium, series by name."""
