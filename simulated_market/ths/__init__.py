"""The topic portal (`ths`): responders for limit pools with reasons, popularity and strong stocks."""
