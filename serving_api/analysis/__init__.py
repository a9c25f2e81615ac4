"""/analysis: five scores of a company by a model, a person or rules, each based on stored facts."""
