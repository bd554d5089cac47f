"""Benchmarks, mutations and generators: they measure the product, which never imports them."""
