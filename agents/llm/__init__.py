"""Agents that ask a chat model: one harness for every model behind an OpenAI-compatible endpoint."""
