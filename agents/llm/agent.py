"""The agent that asks a chat model: one decision is a bounded conversation that ends in an action.

Everything that goes into a request follows from the observations, the replies and the agent's seed. So an agent that is
shown the same game and given the same replies asks the same again, call by call, which is what lets a run resume in the
middle of a decision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from agents.base import Decision
from agents.llm.alike import only_choice
from agents.llm.causes import Cause
from agents.llm.config import HarnessConfig, History, Mask, parse_harness
from agents.llm.contract import Caller, CallFailed, CallKey, ChatReply, ChatRequest, FailureKind
from agents.llm.conversation import Conversation
from agents.llm.fallback import fall_back
from agents.llm.memory import Memory
from agents.llm.models import ModelConfig, ToolProtocol, parse_model
from agents.llm.protocol import JsonText, ToolCalls
from agents.llm.record import Record
from agents.llm.rendering import render
from agents.llm.replies import thoughts_to_send_back
from agents.llm.system import legal_keys_only, system_prompt
from agents.llm.table import Table
from agents.llm.texts import played_instead
from agents.llm.tools import functions, functions_size, legal_schema, reply_schema
from engine.match import Action, Observation, Seat
from engine.ptcg.actions import PtcgAction
from engine.ptcg.observation import PtcgObservation

_RESERVE: Final = 64
"""Tokens of the context that are left to what endpoints add to a request."""


class LLMAgent:
    """A model with a harness, in one seat of one game of the Pokémon Trading Card Game.

    ``connect`` gives it the caller that makes its calls. A call that fails for good raises
    :class:`~agents.llm.contract.CallFailed` out of :meth:`act`; the game cannot go on then.
    """

    reads_observation: ClassVar[bool] = True
    waits: ClassVar[bool] = True

    def __init__(
        self,
        model: ModelConfig,
        harness: HarnessConfig,
        seat: Seat,
        rng_seed: int,
        guidance: str = "",
    ) -> None:
        self.model = model
        self.harness = harness
        self.harness_digest = harness.digest()
        self._seat = seat
        self._rng_seed = rng_seed
        self._caller: Caller | None = None
        self._decisions = 0
        self._memory = Memory()
        skilled = harness.skills is not None
        listed = harness.mask is Mask.LISTED
        self._uses_tools = model.tool_protocol is ToolProtocol.TOOLS
        self._protocol = ToolCalls() if self._uses_tools else JsonText()
        self._parameters = model.body_parameters()
        self._only_keys = legal_keys_only(model, harness)
        if model.json_schema and not self._uses_tools and not self._only_keys:
            self._parameters["response_format"] = reply_schema(skilled, listed)
        self._tools = functions(skilled, listed) if self._uses_tools else ()
        room = model.context_size - model.max_output_tokens - _RESERVE
        if harness.history_tokens is not None:
            room = min(room, harness.history_tokens)
        fixed = functions_size(skilled, listed) if self._uses_tools else 0
        self._conversation = Conversation(system_prompt(model, harness, guidance), room, fixed)

    def connect(self, caller: Caller) -> None:
        """Have ``caller`` make the calls of this agent."""
        self._caller = caller

    async def act(self, observation: Observation, legal: Sequence[Action]) -> Decision:
        """Ask the model until it gives a legal action or the decision reaches one of its bounds."""
        if not isinstance(observation, PtcgObservation):
            raise ValueError("an agent of kind 'llm' plays the game ptcg only")
        choices = [action for action in legal if isinstance(action, PtcgAction)]
        number = self._decisions
        self._decisions += 1
        self._memory.take(observation)
        only = only_choice(observation, choices)
        if only is not None:
            return Decision((only,), attempts=0, harness_digest=self.harness_digest)
        if self.harness.history is History.NONE:
            self._conversation.forget()
        self._conversation.open(render(observation, choices, self._memory, self.harness))
        self._memory.tell()
        record = Record(self.harness_digest)
        played = await self._ask_until_played(number, observation, choices, record)
        if played is not None:
            return record.decision(played)
        rule = self.harness.fallback
        actions = await fall_back(rule, self._rng_seed, number, self._seat, observation, choices)
        self._conversation.note(played_instead(actions))
        return record.decision(actions, fallback=rule.value)

    async def _ask_until_played(
        self, number: int, observation: PtcgObservation, legal: Sequence[PtcgAction], record: Record
    ) -> tuple[PtcgAction, ...] | None:
        """The actions that the model played, or ``None`` where it came to the end of what a decision may take."""
        harness = self.harness
        table = Table(observation, legal, harness.mask is Mask.LISTED, harness.query_calls, harness.skills)
        failed = 0
        while True:
            request, reply = await self._ask(number, legal, record)
            reading = self._protocol.read(reply)
            verdict = table.judge(reading, record.queries)
            record.add(request, reply, reading, verdict)
            said = self._protocol.echo(reply, reading, self._thoughts(reply))
            self._conversation.add([said, *self._protocol.answers(reading, verdict.texts)])
            if verdict.played is not None:
                return verdict.played
            failed += verdict.is_failure
            if failed > harness.further_attempts:
                record.stop(Cause.ATTEMPT_LIMIT)
            elif harness.decision_tokens is not None and record.output_tokens >= harness.decision_tokens:
                record.stop(Cause.TOKEN_LIMIT)
            elif harness.decision_seconds is not None and record.seconds >= harness.decision_seconds:
                record.stop(Cause.TIME_LIMIT)
            else:
                continue
            return None

    async def _ask(self, number: int, legal: Sequence[PtcgAction], record: Record) -> tuple[ChatRequest, ChatReply]:
        """One call; where the request was too long for the model, once more with a shorter history."""
        if self._caller is None:
            raise RuntimeError("the agent has no caller; connect one first")
        parameters = self._parameters
        if self._only_keys:
            parameters = {**parameters, "response_format": legal_schema([action.key for action in legal])}
        tried_again = False
        while True:
            request = ChatRequest(self.model.id, self._conversation.messages(), self._tools, parameters)
            key = CallKey(number, record.next_call())
            try:
                reply = await self._caller(key, request)
            except CallFailed as failure:
                if failure.kind is not FailureKind.CONTEXT_OVERFLOW or tried_again or not self._conversation.cut():
                    raise
                tried_again = True
                continue
            if not reply.usage_estimated:
                self._conversation.learn(reply.usage.input)
            return request, reply

    def _thoughts(self, reply: ChatReply) -> Mapping[str, Any]:
        field = self.model.reasoning.pass_back
        return thoughts_to_send_back(reply.raw, field) if field and reply.raw else {}


def make_llm(config: Mapping[str, Any], seat: Seat, rng_seed: int) -> LLMAgent:
    """The agent that ``config`` describes: ``model`` as in ``conf/model``, ``harness`` as in ``conf/harness``.

    Raises ``ValueError`` with one line for what cannot be used.
    """
    model, harness = config.get("model"), config.get("harness", {})
    if not isinstance(model, Mapping) or not isinstance(harness, Mapping):
        raise ValueError("an agent of kind 'llm' needs a model (a file of conf/model) and takes a harness")
    return LLMAgent(parse_model(model), parse_harness(harness), seat, rng_seed)
