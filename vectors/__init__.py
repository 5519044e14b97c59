"""The conformance vectors as data: `*.json`, format in `spec.md`. Holds no code."""
