"""Skills: methods of an analyst, put before a model when a question asks for them (docs/skills.md)."""
