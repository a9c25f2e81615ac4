"""The condition language of the screener: catalogue of fields, grammar, tree, evaluation."""
