"""Questions and answers: every number of an answer is a stored value, stated by rules or by a language
model."""
