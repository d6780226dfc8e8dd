"""The end of a program's stderr is kept, however much it writes."""

from tests.fakes.waiting import until

from chie.chat.toolbox.stderr import MAX_LINE_LENGTH, MAX_LINES, StderrTail


def test_last_lines_are_kept() -> None:
    with StderrTail("time") as stderr:
        stderr.file.write("".join(f"{number} 行\n" for number in range(10)))
    assert str(stderr) == "5 行 6 行 7 行 8 行 9 行"


async def test_unterminated_line_is_read() -> None:
    with StderrTail("time") as stderr:
        stderr.file.write("知恵" * 100_000)
        stderr.file.flush()

        async def received() -> bool:
            return bool(str(stderr))

        await until(received)
        stderr.file.write(" the end")
    assert str(stderr).endswith(" the end")
    assert len(str(stderr)) <= MAX_LINES * (MAX_LINE_LENGTH + 1)
