"""Skills: methods of an analyst that are added to a model's prompt when a question matches
(docs/skills.md)."""
