"""The system prompt, put together from the files under ``prompts/`` as harness and model are configured."""

from __future__ import annotations

from agents.llm.config import Constraint, HarnessConfig, History, Mask, ObservationForm, PromptLength
from agents.llm.models import ModelConfig, ToolProtocol
from agents.llm.prompts import filled, prompt, prompt_for
from agents.llm.tools import tool_list


def legal_keys_only(model: ModelConfig, harness: HarnessConfig) -> bool:
    """Whether the endpoint holds replies to the keys of the legal actions."""
    return (
        model.tool_protocol is ToolProtocol.JSON
        and model.json_schema
        and harness.constraint is Constraint.LEGAL
        and harness.mask is Mask.LISTED
    )


def system_prompt(model: ModelConfig, harness: HarnessConfig, guidance: str) -> str:
    """All that a model is told before the game.

    ``guidance`` is what an evolving agent has learned, empty for others.
    """
    only_keys = legal_keys_only(model, harness)
    listed = harness.mask is Mask.LISTED
    picks = [] if listed else [prompt("picks_hidden")]
    skills = harness.skills
    if harness.prompt is PromptLength.SHORT:
        parts = [prompt("short"), *picks]
    else:
        structured = harness.observation is ObservationForm.STRUCTURED
        parts = [
            prompt("role"),
            prompt("rules"),
            prompt_for("observation_structured" if structured else "observation_raw", listed),
            prompt("mask_listed" if listed else "mask_hidden"),
            *picks,
            _pattern(harness, only_keys),
        ]
    if only_keys:
        parts.append(prompt("protocol_legal"))
    elif model.tool_protocol is ToolProtocol.JSON:
        parts.append(filled("protocol_json", {"tools": tool_list(skills is not None, listed)}))
        parts.append(prompt("keys"))
    else:
        parts.append(prompt("protocol_tools"))
        parts.append(prompt("keys"))
    if harness.history is History.NONE and harness.prompt is PromptLength.FULL:
        parts.append(prompt("history_none"))
    if skills is not None:
        parts.append(filled("skills", {"skills": skills.index()}))
    if guidance:
        parts.append(filled("guidance", {"guidance": guidance}))
    return "\n\n".join(parts)


def _pattern(harness: HarnessConfig, only_keys: bool) -> str:
    if only_keys or not harness.query_calls:
        return prompt("pattern_no_queries")
    return filled("pattern", {"queries": str(harness.query_calls)})
