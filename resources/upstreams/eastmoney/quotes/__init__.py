"""The portal's quote hosts: lists, single quotes, bars, money flow, limit pools."""
