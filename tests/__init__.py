"""The tests of sessionlab."""
