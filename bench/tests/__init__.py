"""Tests of the harness itself: python3 -m unittest discover bench."""
