"""Games, and the match contract that everything above them plays through."""
