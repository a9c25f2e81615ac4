"""/mcp: the tools over a custom JSON channel and over streamable HTTP, and tool servers that users
register."""
