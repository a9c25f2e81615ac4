"""`python -m tests.benchmarks.naive <port> <sqlite file>`: the same bars as most services would send them,
FastAPI over pandas.read_sql."""

import sys
from typing import Any

import pandas as pd
import sqlalchemy as sa
import uvicorn
from fastapi import FastAPI

COLUMNS = "date, open, high, low, close, volume, amount, change_pct, turnover_pct"


def application(file: str) -> FastAPI:
    engine = sa.create_engine(f"sqlite:///{file}")
    app = FastAPI()

    @app.get("/api/v1/stocks/{code}/kline")
    def kline(code: str, days: int = 120) -> dict[str, Any]:
        statement = sa.text(
            f"SELECT {COLUMNS} FROM fusion_kline_daily WHERE code=:code ORDER BY date DESC LIMIT :days"
        )
        with engine.connect() as connection:
            frame = pd.read_sql(statement, connection, params={"code": code, "days": days})
        rows = frame.iloc[::-1].to_dict(orient="records")
        return {"ok": True, "code": code, "results": rows, "stats": {"total": len(rows)}}

    return app


if __name__ == "__main__":
    uvicorn.run(
        application(sys.argv[2]), port=int(sys.argv[1]), loop="uvloop", http="httptools", access_log=False,
        log_level="warning",
    )  # fmt: skip
