"""How this Chie was installed, and the commands that change that installation."""
