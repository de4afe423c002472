"""Plays tournaments: schedule, game workers on Ray, leases, journal, resume, progress."""
