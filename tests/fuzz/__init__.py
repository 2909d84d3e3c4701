"""Damaging files at random, and giving them to every reader."""
