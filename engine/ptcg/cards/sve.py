"""Scarlet & Violet Energies."""

from engine.ptcg.card import basic_energy

basic_energy("SVE-2", "R")
basic_energy("SVE-4", "L")
basic_energy("SVE-5", "P")
basic_energy("SVE-7", "D")
basic_energy("SVE-8", "M")
