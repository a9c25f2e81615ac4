"""The portal's (`eastmoney`) quote hosts (push2, push2his): lists, single quotes, bars, money flow."""
