"""Public servers of the terminal protocol that were seen working in 2026-06; TDX_HOSTS overrides them."""

PUBLIC_HOSTS: tuple[tuple[str, int], ...] = tuple(
    (host, 7709)
    for host in (
        "119.97.185.59",
        "124.70.133.119",
        "116.205.183.150",
        "123.60.73.44",
        "121.36.225.169",
        "124.71.187.122",
        "110.41.147.114",
    )
)
