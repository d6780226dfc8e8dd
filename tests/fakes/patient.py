"""httpx2 for tests: a busy machine is slow, not wrong, and gets a minute instead of five seconds."""

from functools import partial

import httpx2

SECONDS = 60

get = partial(httpx2.get, timeout=SECONDS)
post = partial(httpx2.post, timeout=SECONDS)
put = partial(httpx2.put, timeout=SECONDS)
patch = partial(httpx2.patch, timeout=SECONDS)
delete = partial(httpx2.delete, timeout=SECONDS)
stream = partial(httpx2.stream, timeout=SECONDS)
AsyncClient = partial(httpx2.AsyncClient, timeout=SECONDS)
