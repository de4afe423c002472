"""Scarlet & Violet Energies."""

from engine.ptcg.card import basic_energy

basic_energy("SVE-1", "G")
basic_energy("SVE-2", "R")
basic_energy("SVE-3", "W")
basic_energy("SVE-4", "L")
basic_energy("SVE-5", "P")
basic_energy("SVE-6", "F")
basic_energy("SVE-7", "D")
basic_energy("SVE-8", "M")
