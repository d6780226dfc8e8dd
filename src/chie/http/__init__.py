"""The HTTP runtime: uvicorn, workers, body limits, security headers, static files."""
