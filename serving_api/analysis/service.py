"""Analyses of companies: read, run by a model or by rules, written by a person."""

import asyncio
import logging
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any
from weakref import WeakValueDictionary

from core.clock import stamp
from core.errors import InputError, NotFound, PayloadError, PlatformError, StorageError
from platform_assets.compute.analysis.experience import block
from platform_assets.compute.analysis.scoring import Scored, score
from resources.models.protocol import LanguageModel
from resources.redact import redact
from resources.warehouse.engine import transaction
from resources.warehouse.table_versions import claim_version
from serving_api.analysis import queries, rows
from serving_api.analysis.answer import again, first_prompt, prompt_hash, verify
from serving_api.analysis.queries import Row
from serving_api.analysis.reading import Company, read_company, read_lessons
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop
from serving_api.quant.decision_cards.queries import put_card
from serving_api.settings.language_model import AWAY, model_of, why_no_model
from serving_api.skills.service import Skills, prompt_block
from serving_api.stocks.service import Stocks

log = logging.getLogger(__name__)
CACHED = "cached"
RUN_S = 150.0
"""Seconds for all questions to a model; retries and other models included."""
RULES_AFTER = timedelta(days=90)
"""How much older an analysis by a model or a person may be than one by rules and still be shown instead."""
UNREADABLE = "模型的回答不能读取，或含有没有证据的内容"


class Analyses:
    """The analyses of one app; the rows are stored in the database."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._running: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def current(self, code: str) -> dict[str, Any]:
        """The current analysis. Raises StorageError."""
        row = await self._current(code)
        return rows.empty(code) if row is None else self._shown(row)

    def _shown(self, row: Row) -> dict[str, Any]:
        """A stored analysis; its facts are noted as if they were read on its day."""
        answer, day = rows.shown(row), str(row["date"])
        for fact in answer["evidence"] or ():
            code = fact["key"].get("code", answer["code"])
            self._state.reading.ledger.note_codes(fact["table"], (fact["column"],), (code,), day)
        return answer

    async def history(self, code: str, limit: int) -> dict[str, Any]:
        found, total = await self._state.reading.scan(queries.history, code, limit)
        items = [
            {"date": str(row["date"]), "total_score": row["total_score"], "provenance": row["source"],
             "source": row["source"]}
            for row in found
        ]  # fmt: skip
        return {"code": code, "items": items, "total": total}

    async def run(self, code: str, *, refresh: bool = False) -> dict[str, Any]:
        """A new analysis: by the model, else by rules. Without `refresh` today's analysis of the model is
        returned. A code outside the list of securities is `empty`. Raises StorageError."""
        lock = self._running.setdefault(code, asyncio.Lock())
        async with lock:
            state, now = self._state, self._state.clock.now()
            if not refresh:
                today = now.date().isoformat()
                row = await state.reading.scan(queries.of_day, code, rows.MODEL, today)
                if row is not None:
                    return self._shown(row)
            company = await state.reading.scan(read_company, code, now)
            if company.name is None:
                return rows.empty(code)
            scored = score(company.pack, company.name)
            model = await model_of(state)
            if model is None:
                row = rows.by_rules(company, scored, now)
                await off_loop(self._store, row, None)
                return rows.shown(row)
            try:
                async with asyncio.timeout(RUN_S):
                    row = await self._by_model(model, company, scored)
            except (StorageError, InputError):
                raise
            except (PlatformError, TimeoutError) as error:
                return await self._fallback(company, scored, error)
            await off_loop(self._store, row, company)
            return rows.shown(row)

    async def write(self, code: str, scores: Mapping[str, float], text: str, by: str) -> dict[str, Any]:
        """Store an administrator's analysis of a company. Raises NotFound for a code that is not listed."""
        now = self._state.clock.now()
        company = await self._state.reading.scan(read_company, code, now)
        if company.name is None:
            raise NotFound(f"证券列表中没有 {code}")
        scored = score(company.pack, company.name)
        row = rows.by_hand(company, scored, scores, text, now, by)
        await off_loop(self._store, row, company)
        return rows.shown(row)

    async def _by_model(self, model: LanguageModel, company: Company, scored: Scored) -> Row:
        """Raises what the model raises, and PayloadError when two answers had numbers without evidence."""
        state, now = self._state, self._state.clock.now()
        skills = await state.part(Skills).matching(f"全面分析 {company.name} {company.industry or ''}")
        lessons = await state.reading.scan(read_lessons, now)
        experience = block(lessons, company.code, company.industry or "")
        names = [one.name for one in (await state.part(Stocks).directory()).listings if one.name]
        prompt = first_prompt(company.pack, scored, company.code, prompt_block(skills), experience)
        reply = await model.reply(prompt)
        verified = verify(reply, company.pack, scored.name, names)
        asked_again = bool(verified.problems)
        if asked_again:
            prompt = again(prompt, reply, verified.problems)
            reply = await model.reply(prompt)
            verified = verify(reply, company.pack, scored.name, names)
        if verified.problems:
            log.warning(
                "the analysis of %s: %d problems in the second answer", company.code, len(verified.problems)
            )
            raise PayloadError("two answers of the model could not be bound", source="models")
        receipt = {
            "provider": reply.provider, "model": reply.model, "prompt_hash": prompt_hash(prompt),
            "asked_again": asked_again, "skills": [skill.key for skill in skills],
        }  # fmt: skip
        return rows.by_model(company, scored, verified, now, reply.model, receipt)

    async def _fallback(self, company: Company, scored: Scored, error: Exception) -> dict[str, Any]:
        """The stored analysis of a model or a person, else that of the rules; nothing is written."""
        reported = error.message if isinstance(error, PlatformError) else "the time is over"
        log.warning(
            "analysis of %s without the model: %s: %s", company.code, type(error).__name__, redact(reported)
        )
        now = self._state.clock.now()
        before = await self._state.reading.scan(queries.newest, company.code, now.date().isoformat(), False)
        if before is not None:
            return {**self._shown(before), "llmError": _said(error), "fallbackOf": CACHED}
        ruled = rows.shown(rows.by_rules(company, scored, now))
        return {**ruled, "llmError": _said(error), "fallbackOf": queries.RULES}

    async def _current(self, code: str) -> Row | None:
        scan, today = self._state.reading.scan, self._state.today
        reported = await scan(queries.newest, code, today, False)
        ruled = await scan(queries.newest, code, today, True)
        if reported is None or ruled is None:
            return reported or ruled
        oldest = date.fromisoformat(ruled["date"]) - RULES_AFTER
        return reported if date.fromisoformat(reported["date"]) >= oldest else ruled

    def _store(self, row: Row, company: Company | None) -> None:
        """Store the row, and its decision card when `company` is given, in one transaction."""
        writer, now = self._state.writer, stamp(self._state.system.local())
        with transaction(writer.engine) as connection:
            claim_version(writer.sql, connection, writer.table(queries.TABLE))
            queries.put(connection, writer.sql, row, now)
            if company is not None:
                put_card(connection, writer.sql, _card(row, company), now)


def _card(row: Row, company: Company) -> Row:
    """The decision card of an analysis; its price is the newest known close."""
    return {
        "trace_id": f"{row['source']}_{row['code']}_{row['date']}", "source": row["source"],
        "code": row["code"], "name": row["name"], "industry": row["industry"], "decision_date": row["date"],
        "direction": row["direction"], "total_score": row["total_score"], "scores_json": row["scores_json"],
        "price_at_decision": company.price, "price_date": company.price_date,
        **{name: row[name] for name in ("conclusion", "gate_blocked", "gate_reason")},
    }  # fmt: skip


def _said(error: Exception) -> str:
    if isinstance(error, PlatformError) and not isinstance(error, PayloadError):
        return why_no_model(error)
    return UNREADABLE if isinstance(error, PayloadError) else AWAY
