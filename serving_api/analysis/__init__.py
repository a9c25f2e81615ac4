"""/analysis: five scores of a company by a model, a person or rules, all of them over evidence."""
