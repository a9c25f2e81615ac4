"""What each command does. Loaded when it is carried out: help and completion of a shell need none of it."""
