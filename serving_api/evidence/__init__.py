"""Evidence packs: what is stored about the subject of a question, as numbered facts."""
