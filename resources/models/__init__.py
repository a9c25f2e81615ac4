"""Language models behind one small protocol: messages, tools and streams; keys, retries and fallback."""
