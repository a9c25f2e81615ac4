"""The topic portal (`ths`): limit-ups with their reasons, popularity, strong stocks with tags."""
