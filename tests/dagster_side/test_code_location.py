"""What the code server loads: all of it together, as the daemon and the UI ask for it."""

import dagster as dg


def test_everything_of_the_code_location_loads_together() -> None:
    from platform_assets.definitions import defs

    dg.Definitions.validate_loadable(defs)
