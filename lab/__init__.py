"""Benchmarks, mutations and generators that measure the product; the product never imports them."""
