"""CNI, the index provider of Shenzhen: members with their weights."""
