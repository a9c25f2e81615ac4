"""Which servers the settings lead to."""

from pathlib import Path

import pytest

from core.calendar import shipped_calendar
from core.clock import SystemClock
from core.errors import InputError
from resources.composition import open_context
from resources.settings import Settings
from resources.upstreams.factory import terminal_endpoints


def test_a_sample_platform_never_falls_back_to_public_servers() -> None:
    with pytest.raises(InputError, match="SIMULATOR_TDX"):
        terminal_endpoints(Settings(data_source="mock", simulator_url="http://127.0.0.1:1"))


def test_configured_hosts_win_over_the_built_in_list() -> None:
    own = [("10.0.0.1", 7709), ("10.0.0.2", 7710)]
    assert terminal_endpoints(Settings(tdx_hosts="10.0.0.1:7709, 10.0.0.2:7710")) == (own, [])
    servers, file_servers = terminal_endpoints(Settings())
    assert len(set(servers)) == 19
    assert file_servers == [("120.76.152.87", 7709)]


@pytest.mark.parametrize("requested", [True, False])
def test_pages_of_single_companies_follow_their_setting(tmp_path: Path, requested: bool) -> None:
    settings = Settings(data_source="real", data_dir=str(tmp_path), valuation_ths_eps_enabled=requested)
    ctx = open_context(settings, SystemClock(), shipped_calendar())
    assert ctx.ths_eps is requested
    ctx.close()
