"""Language models: one adapter per SDK, behind one port."""
