"""Tasks that nobody waits for."""

import asyncio

import pytest

from chie import background


async def test_task_starts_again_after_an_unexpected_error_until_it_ends(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(background, "PAUSES", (0.0, 0.0))
    tries: list[int] = []

    async def work() -> None:
        tries.append(len(tries))
        if len(tries) < 5:
            raise RuntimeError("壊れた")

    await background.start(work, "keeper")
    assert len(tries) == 5
    assert caplog.text.count("background task keeper failed unexpectedly; it starts again") == 4
    assert "壊れた" in caplog.text


async def test_task_is_cancelled_as_any_other() -> None:
    task = background.start(asyncio.Event().wait, "keeper")  # type: ignore[arg-type]
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()


async def test_error_of_a_single_run_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        raise RuntimeError("壊れた")

    await asyncio.wait({background.once(work(), "renewal")})
    await asyncio.sleep(0)
    assert "background task renewal failed unexpectedly" in caplog.text
    assert "壊れた" in caplog.text
