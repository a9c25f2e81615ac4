"""Topic portal (THS): responders for limit pools with reasons, popularity and strong stocks."""
