from core.declaration.interfaces import DAY, FLOAT, REQUIRED, TEXTS, Interface, Parameter, market


def test_a_parameter_has_the_type_that_is_named_or_that_of_its_default() -> None:
    interface = market("get_rank", "by_date", "highest ratios", ttl=3600, order="-ratio").takes(
        code=REQUIRED, report_period=DAY, fields=TEXTS, least=FLOAT, limit=100, ascending=True, pool="up"
    )
    assert interface == Interface(
        dimension="market",
        name="get_rank",
        template="by_date",
        description="highest ratios",
        ttl=3600,
        order="-ratio",
        params={
            "code": Parameter("string", required=True),
            "report_period": Parameter("date"),
            "fields": Parameter("string[]"),
            "least": Parameter("float"),
            "limit": Parameter("int", default=100),
            "ascending": Parameter("bool", default=True),
            "pool": Parameter("string", default="up"),
        },
    )
