"""`chie service`: `chie serve` in the background, started at login and after a crash by the operating system."""
