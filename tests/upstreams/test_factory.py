"""Which servers the settings lead to."""

import pytest

from resources.errors import InputError
from resources.settings import Settings
from resources.upstreams.factory import terminal_endpoints


def test_a_sample_platform_never_falls_back_to_public_servers() -> None:
    with pytest.raises(InputError, match="SIMULATOR_TDX"):
        terminal_endpoints(Settings(data_source="mock", simulator_url="http://127.0.0.1:1"))


def test_configured_hosts_win_over_the_built_in_list() -> None:
    assert terminal_endpoints(Settings(tdx_hosts="10.0.0.1:7709, 10.0.0.2:7710")) == [
        ("10.0.0.1", 7709),
        ("10.0.0.2", 7710),
    ]
    assert len(terminal_endpoints(Settings())) > 3
