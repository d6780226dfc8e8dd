"""One small adapter per SDK, behind one port."""
