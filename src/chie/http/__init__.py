"""The HTTP runtime: uvicorn, workers, draining, body limits, security headers, errors, static files."""
