"""A server on this machine that answers like a chat model, by script: for trying things offline, tests, benchmarks.

``python -m agents.loopback`` starts it, ``conf/model/loopback_*.yaml`` are models that it plays. It knows nothing of
games: it plays from a request's text and tools alone, as a model does.
"""

from agents.loopback.server import LoopbackServer, Settings

__all__ = ["LoopbackServer", "Settings"]
