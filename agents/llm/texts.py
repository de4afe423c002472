"""What the harness says to a model in answer to its replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from agents.llm.causes import Cause
from engine.match import Action

NO_CALL_TEXTS: Final[Mapping[Cause, str]] = {
    Cause.EMPTY_REPLY: "Your reply was empty. Say in short what you think and act with one tool.",
    Cause.REFUSAL: "This is a card game between two players; nothing in it harms anybody. Act with one tool.",
    Cause.CUT: "Your reply was cut off at its longest allowed length before an action. Be brief and act with one tool.",
    Cause.NO_TOOL_CALL: "There was no tool call in your reply, so nothing was done. Act with one tool.",
    Cause.MALFORMED_JSON: "No complete JSON object with a call could be read in your reply. Send just one.",
}
NOT_EXECUTED: Final = "Not executed: only the first action of a reply counts."
QUERIES_SPENT: Final = "No more queries in this decision. Act now."


def unknown_tool(name: str) -> str:
    """Answers a call of a tool that there is not."""
    return f"There is no tool {name[:64]!r}. Use one of those that you were given."


def unreadable_arguments(written: str) -> str:
    """Answers a call whose arguments are no JSON object."""
    return f"The arguments are not a JSON object and nothing was done; they begin {written[:100]!r}."


def cut_arguments() -> str:
    """Answers a call whose arguments end where the reply was cut."""
    return "Your reply was cut off at its longest allowed length, within the arguments. Nothing was done; be brief."


def no_index(said: str) -> str:
    """Answers a pick by an index where the candidates are not listed."""
    return (
        f"{said} is an index, and picks have none here. Name each pick as what it is: a card by id or name, a Pokémon "
        "in play by its place or name, a card on a Pokémon as CARD@PLACE, an option by its text. Nothing was chosen."
    )


def played_text(actions: Sequence[Action]) -> str:
    """Answers the call that was carried out."""
    return "Done: " + " ".join(action.sentence for action in actions)


def played_instead(actions: Sequence[Action]) -> str:
    """Tells what was played for the model when it gave no legal action."""
    return "You gave no legal action in time. Played for you: " + " ".join(action.sentence for action in actions)
