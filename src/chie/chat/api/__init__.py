"""The HTTP edge of the chat: routers, shapes, the SSE encoder and the errors' translator."""
