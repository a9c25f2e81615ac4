"""The five-dimension analysis of a company: scores by rules over a pack of evidence, its words, and what
earlier decisions taught. Pure."""
