"""Choosing and trusting a network: each module takes a path function and knows no solver."""
