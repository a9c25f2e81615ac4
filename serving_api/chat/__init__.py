"""Questions and answers: every number of an answer is a stored one, by rules or by a language model."""
