"""/mcp: the tools over a custom JSON channel and over streamable HTTP, and servers that users enter."""
