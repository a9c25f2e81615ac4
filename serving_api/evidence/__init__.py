"""Evidence packs: stored data about the subject of a question, as numbered facts."""
