"""`chie connect`: add Chie's servers to an MCP client's configuration, or remove them."""
