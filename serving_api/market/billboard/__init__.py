"""What the branches of brokers deal on the exchanges' billboard."""
