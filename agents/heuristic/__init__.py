"""The agent that samples legal actions by predefined weights that read the observation."""

from agents.heuristic.agent import HeuristicAgent, make_heuristic
from agents.heuristic.weights import Weights

__all__ = ["HeuristicAgent", "Weights", "make_heuristic"]
