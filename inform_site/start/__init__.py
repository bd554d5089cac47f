"""The pages that lead a curator from an empty desk to a site, in six steps."""
