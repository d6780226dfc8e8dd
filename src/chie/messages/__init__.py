"""Every text that Chie shows people, by code, in English and Japanese."""
