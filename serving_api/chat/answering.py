"""How an answer is made: evidence first, then a model when one is configured, else the rules.

`Conversation.answer` returns it whole: when a number of the model has no evidence the model is asked
once more, then the rules answer. `Conversation.events` streams it: a number without evidence becomes a
dash.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any, Literal

from core.errors import InputError, PlatformError
from platform_assets.compute.evidence.facts import Pack
from resources.models.protocol import (
    LanguageModel,
    Message,
    Part,
    Prompt,
    ReasoningPart,
    Reply,
    TextPart,
    ToolCall,
    ToolResult,
    Usage,
)
from resources.redact import redact
from serving_api.chat import prompts, receipts, rules, search
from serving_api.chat.checked import Checker, SentenceStream, evidence_items
from serving_api.chat.frames import with_signs_of_life
from serving_api.chat.leads import lead_of
from serving_api.chat.limits import ANSWER_S, CALLS, ROUNDS, TITLE_CHARS
from serving_api.chat.search import Found, Searched
from serving_api.chat.subjects import Topic, chart_of, topic_of
from serving_api.chat.tools import SPECS, Outcome, Tools
from serving_api.chat.wording import AnswerProperties, Asked
from serving_api.db.adjusted_reads import factor_so_far
from serving_api.evidence.guard import harmless
from serving_api.framework.state import State
from serving_api.framework.user import User
from serving_api.settings.language_model import why_no_model
from serving_api.skills.service import Skills
from serving_api.stocks.service import Stocks

log = logging.getLogger(__name__)
Event = dict[str, Any]
MODEL = "ai"
UNSUPPORTED, EMPTY = "模型的回答含有没有证据的内容", "模型没有给出回答"
LATE = "模型没有在60秒内答完"
UNFINISHED: dict[str, Literal["length", "filtered"]] = {"length": "length", "filtered": "filtered"}
NOTICE = {
    "length": "（模型的回答到长度上限为止，没有写完。）",
    "filtered": "（模型的回答被服务商的内容审查截断，没有写完。）",
}
STILL = {"type": "thinking", "text": "模型仍在作答"}
Emit = Callable[[Event], None]


class Conversation:
    """One question: prepared, then answered once, either whole or as events."""

    def __init__(self, state: State, user: User, asked: Asked, model: LanguageModel | None) -> None:
        self._state = state
        self._user = user
        self._asked = asked
        self._model = model
        self.properties = AnswerProperties()
        self.skills: list[Any] = []
        self.found = Found()
        self._before: dict[str, Any] | None = None
        """The earlier answer that a stream fell back to."""

    async def prepare(self) -> None:
        """Read the evidence. Raises StorageError when the database is unavailable."""
        state, asked = self._state, self._asked
        directory = await state.part(Stocks).directory()
        earlier = [text for role, text in asked.used if role == "user"]
        self.topic: Topic = topic_of(asked.message, earlier, asked.code, directory)
        self.pack: Pack = await state.reading.scan(self.topic.read, state.clock.now())
        names = [listing.name for listing in directory.listings if listing.name]
        self.checker = Checker(self.pack, asked.words, names)
        self.skills = await state.part(Skills).matching(asked.message, asked.skills)

    # -- whole -------------------------------------------------------------------------------------

    async def answer(self) -> dict[str, Any]:
        """The body of the answer."""
        await self._search(_nobody)
        text = None
        if self._model is not None:
            try:
                async with asyncio.timeout(ANSWER_S):
                    text = await self._by_model(self._model)
            except InputError:
                raise
            except (PlatformError, TimeoutError) as error:
                cached = await self._failed(error)
                if cached is not None:
                    return cached
        if text is None:
            text = await self._by_rules()
        return await self._body(text)

    async def _by_model(self, model: LanguageModel) -> str | None:
        """The model's text, with a dash for each number that is not bound; None when none is, and the rules
        have to answer."""
        prompt = self._prompt()
        reply, messages = await self._rounds(model, prompt)
        checked = self.checker.look(reply.text)
        if checked.unbound:
            self.properties.asked_again = True
            again = Message("user", prompts.again(checked.unbound))
            asked = Prompt(prompt.system, [*messages, Message("assistant", reply.text or "—"), again])
            reply = await model.reply(asked, model=self._asked.model)
            self._count(reply)
            checked = self.checker.look(reply.text)
        if not checked.text.strip() or (checked.unbound and not checked.bound):
            self.checker.ledger.unbound += checked.unbound
            self.properties.llm_error = UNSUPPORTED if reply.text.strip() else EMPTY
            self.properties.fallback_of = rules.PREFILL
            self.properties.provider = self.properties.model = None
            return None
        self.properties.provenance = MODEL
        return self.checker.ledger.take(checked) + self._notice(reply)

    def _notice(self, reply: Reply) -> str:
        """What the reader is told of an answer that is not whole; '' of a whole one."""
        self.properties.incomplete = UNFINISHED.get(reply.stop)
        return f"\n\n{NOTICE[reply.stop]}" if reply.stop in NOTICE else ""

    async def _rounds(self, model: LanguageModel, prompt: Prompt) -> tuple[Reply, list[Message]]:
        messages = list(prompt.messages)
        tools = Tools(self._state, self.pack)
        for turn in range(ROUNDS):
            last = turn == ROUNDS - 1
            reply = await model.reply(
                Prompt(prompt.system, messages, () if last else prompt.tools), model=self._asked.model
            )
            self._count(reply)
            if not reply.calls or last:
                break
            messages = [*messages, *await self._called(tools, reply.text, reply.calls, _nobody)]
        return reply, messages

    def _count(self, reply: Reply) -> None:
        properties = self.properties
        properties.provider, properties.model = reply.provider, reply.model
        properties.usage = Usage(
            properties.usage.input_tokens + reply.usage.input_tokens,
            properties.usage.output_tokens + reply.usage.output_tokens,
        )

    async def _failed(self, error: PlatformError | TimeoutError) -> dict[str, Any] | None:
        """Record the error of the model; returns the model's earlier answer to the same question, if one
        is stored."""
        self._remember(error)
        before = await receipts.answered_before(self._state, self._user, self._asked.hash)
        return None if before is None else self._again(before["answer"])

    def _again(self, before: dict[str, Any]) -> dict[str, Any]:
        """An earlier answer, with the reason why it is used again."""
        body = {name: value for name, value in before.items() if name != "receipt_id"}
        return {**body, "llmError": self.properties.llm_error, "fallbackOf": "cached"}

    def _remember(self, error: PlatformError | TimeoutError) -> None:
        log.warning("a model failed: %s: %s", type(error).__name__, redact(str(error)))
        why = LATE if isinstance(error, TimeoutError) else why_no_model(error)
        called = self.properties.tool_calls
        self.properties = AnswerProperties(llm_error=why, fallback_of=rules.PREFILL, tool_calls=called)

    async def _by_rules(self) -> str:
        """What was asked first, then sections of the rules, each line checked; the first lines and those on
        missing data are our own text."""
        asked = self._asked
        earlier = [text for role, text in asked.used if role == "user"]
        lead = await lead_of(self._state, asked.message, earlier, self.topic, self.pack)
        first = [self.checker.own(line) for line in lead.lines]
        shown: list[rules.Section] = []
        for section in rules.sections(self.pack, self.topic):
            if lead.sections is not None and section.key not in lead.sections:
                continue
            lines = tuple(
                harmless(line) if section.key == "missing" else self.checker.show(line)
                for line in section.lines
            )
            shown.append(rules.Section(section.key, section.title, lines))
        parts = ("\n".join(first), rules.text_of(shown))
        return "\n\n".join((f"（{rules.LABEL}）", *filter(None, parts)))

    async def _body(self, text: str) -> dict[str, Any]:
        body = {
            "answer": text,
            "title": None if self._asked.used else title_of(self._asked.message),
            "tool_calls": [
                {name: one[name] for name in ("name", "args", "ok")} for one in self.properties.tool_calls
            ],
            "skills": [one.key for one in self.skills],
            "search": self.found.shown,
            "evidence": evidence_items(self.pack, self.checker.ledger.facts),
            "unbound": len(self.checker.ledger.unbound),
            "factor": factor_so_far(),
            **self.properties.plain(),
        }
        if self.properties.llm_error is None:
            body["receipt_id"] = await self._receipt(body)
        return body

    async def _receipt(self, body: dict[str, Any]) -> str | None:
        receipt = {
            "provenance": self.properties.provenance, "provider": self.properties.provider,
            "model": self.properties.model, "prompt_hash": self.properties.prompt_hash,
            "asked_again": self.properties.asked_again, **self.checker.receipt(),
            "unbound": self.checker.ledger.unbound, "answer": body,
        }  # fmt: skip
        return await receipts.keep(self._state, self._user, "ask", self._asked.hash, receipt)

    # -- streamed -----------------------------------------------------------------------------------

    async def events(self) -> AsyncGenerator[Event, None]:
        """Events in their order, the evidence last. An error that the reader has to see is the last event."""
        yield {"type": "thinking", "text": "正在整理已存储的数据"}
        if self.skills:
            yield {"type": "skills", "items": [{"key": one.key, "name": one.name} for one in self.skills]}
        if self._wants_search():
            queue: list[Event] = []
            yield {"type": "search_status", "status": "searching"}
            await self._search(queue.append)
            for event in queue:
                yield event
        text: list[str] = []
        broken = False
        if self._model is not None:
            try:
                async with aclosing(self._streamed(self._model)) as stream:
                    async for event in stream:
                        text += [event["text"]] if event["type"] == "content" else []
                        yield event
                if text:
                    self.properties.provenance = MODEL
                else:
                    self.properties = AnswerProperties(llm_error=EMPTY, fallback_of=rules.PREFILL)
            except (PlatformError, TimeoutError) as error:
                self._remember(error)
                broken = bool(text)
        if not text and not broken:
            async for event in self._fallen_back():
                text += [event["text"]] if event["type"] == "content" else []
                yield event
        chart = await chart_of(self._state, self.topic, self.pack)
        if chart is not None and not broken:
            yield {"type": "chart", "spec": chart}
        yield {"type": "evidence", **await self._closing("".join(text))}
        if broken:
            yield {"type": "error", "message": self.properties.llm_error}

    async def _fallen_back(self) -> AsyncGenerator[Event, None]:
        """The earlier answer, or that of the rules."""
        if self.properties.llm_error is not None:
            before = await receipts.answered_before(self._state, self._user, self._asked.hash)
            if before is not None:
                self._before = before["answer"]
                yield {"type": "content", "text": self._before["answer"]}
                return
        for paragraph in (await self._by_rules()).split("\n\n"):
            yield {"type": "content", "text": f"{paragraph}\n\n"}

    async def _closing(self, text: str) -> dict[str, Any]:
        if self._before is not None:  # its citations are numbered by its own pack
            body = self._again(self._before)
        elif self.properties.llm_error is None:
            body = await self._body(text)
        else:
            ledger = self.checker.ledger
            body = {**self.properties.plain(), "evidence": evidence_items(self.pack, ledger.facts),
                    "unbound": len(ledger.unbound), "factor": factor_so_far()}  # fmt: skip
        named: Event = {name: body[name] for name in (
            "provenance", "label", "model", "usage", "unbound", "receipt_id", "llmError", "fallbackOf",
            "factor", "incomplete",
        ) if name in body}  # fmt: skip
        return {"items": body["evidence"], **named}

    async def _streamed(self, model: LanguageModel) -> AsyncGenerator[Event, None]:
        prompt = self._prompt()
        messages = list(prompt.messages)
        tools = Tools(self._state, self.pack)
        until = asyncio.get_running_loop().time() + ANSWER_S
        for turn in range(ROUNDS):
            last = turn == ROUNDS - 1
            content, reasoning = SentenceStream(self.checker), SentenceStream(self.checker, cited=False)
            reply: Reply | None = None
            asked = Prompt(prompt.system, messages, () if last else prompt.tools)
            async with (
                aclosing(model.stream(asked, model=self._asked.model)) as parts,
                aclosing(with_signs_of_life(parts, until)) as lively,
            ):
                async for part in lively:
                    if isinstance(part, Reply):
                        reply = part
                    for event in _shown(part, content, reasoning):
                        yield event
            for event in (*_texts("reasoning", reasoning.finish()), *_texts("content", content.finish())):
                yield event
            if reply is None:
                return
            self._count(reply)
            if not reply.calls or last:
                for event in _texts("content", self._notice(reply) if reply.text.strip() else ""):
                    yield event
                return
            queue: list[Event] = []
            messages = [*messages, *await self._called(tools, reply.text, reply.calls, queue.append)]
            for event in queue:
                yield event

    # -- shared ------------------------------------------------------------------------------------

    def _prompt(self) -> Prompt:
        system = prompts.system_of(self._asked.mode, ((one.name, one.text) for one in self.skills))
        parts = [prompts.evidence_block(self.pack)]
        if self.found.results:
            parts.append(prompts.search_block(self.found.results))
        parts.append(f"问题：{self._asked.message}")
        prompt = Prompt(system, prompts.conversation(self._asked.used, "\n\n".join(parts)), SPECS)
        self.properties.prompt_hash = prompts.hash_of_prompt(prompt)
        return prompt

    async def _called(
        self, tools: Tools, text: str, calls: Sequence[ToolCall], emit: Emit
    ) -> tuple[Message, Message]:
        """Run the tool calls; returns the model's message and the one that answers it."""
        results = []
        for call in calls:
            known = len(self.properties.tool_calls) < CALLS
            outcome = (
                await tools.call(call.name, call.arguments) if known
                else Outcome(False, "本次问答的工具调用已达上限", "工具调用已达上限")
            )  # fmt: skip
            # Shown once the pack contains what the call read: numbers without evidence become dashes.
            name = call.name if any(one.name == call.name for one in SPECS) else "unknown"
            shown = self.checker.arguments(call.arguments or {})
            entry = {"id": f"call_{len(self.properties.tool_calls) + 1}", "name": name, "args": shown}
            emit({"type": "tool_call", **entry})
            emit({"type": "tool_result", "id": entry["id"], "ok": outcome.ok, "summary": outcome.summary})
            self.properties.tool_calls.append({**entry, "ok": outcome.ok})
            results.append(ToolResult(call.id, outcome.text, is_error=not outcome.ok))
        return Message("assistant", text, calls=tuple(calls)), Message("user", results=tuple(results))

    def _wants_search(self) -> bool:
        return self._model is not None and search.wants(self._state, self._asked.web_search)

    async def _search(self, emit: Emit) -> None:
        """Search the web when requested; results are shown, but are never evidence."""
        if not self._wants_search():
            return
        searched: Searched = await search.search(self._state, self._asked.message)
        for source, status in searched.progress:
            emit({"type": "source_progress", "source": source, "status": status})
        emit({"type": "search_status", "status": "degraded" if searched.degraded else "done"})
        self.found = searched.found
        self.checker.allowed |= {one["url"] for one in self.found.results}
        if self.found.results:
            emit({"type": "search_results", "items": self.found.shown})


def _nobody(event: Event) -> None:
    """A sink for events of an answer that is returned whole."""


def _shown(part: Part | None, content: SentenceStream, reasoning: SentenceStream) -> list[Event]:
    """What a reader sees of a part, or of the absence of one."""
    if isinstance(part, TextPart):
        return _texts("content", content.feed(part.text))
    if isinstance(part, ReasoningPart):
        return _texts("reasoning", reasoning.feed(part.text))
    return [STILL] if part is None else []


def _texts(kind: str, text: str) -> list[Event]:
    return [{"type": kind, "text": text}] if text else []


def title_of(message: str) -> str:
    """The title by rule: the first characters of the question, on one line."""
    return harmless(" ".join(message.split()))[:TITLE_CHARS]
