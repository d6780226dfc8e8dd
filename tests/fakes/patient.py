"""httpx2 with a timeout of a minute instead of five seconds, because test machines may be slow."""

from functools import partial

import httpx2

TIMEOUT_SECONDS = 60

get = partial(httpx2.get, timeout=TIMEOUT_SECONDS)
post = partial(httpx2.post, timeout=TIMEOUT_SECONDS)
put = partial(httpx2.put, timeout=TIMEOUT_SECONDS)
patch = partial(httpx2.patch, timeout=TIMEOUT_SECONDS)
delete = partial(httpx2.delete, timeout=TIMEOUT_SECONDS)
stream = partial(httpx2.stream, timeout=TIMEOUT_SECONDS)
AsyncClient = partial(httpx2.AsyncClient, timeout=TIMEOUT_SECONDS)
