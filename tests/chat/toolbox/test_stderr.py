"""What a program says on its way, and how little of it is kept."""

from tests.fakes.waiting import until

from chie.chat.toolbox.stderr import LINES, LONGEST, LastWords


def test_the_last_lines_are_kept() -> None:
    with LastWords("time") as words:
        words.file.write("".join(f"{number} 行\n" for number in range(10)))
    assert str(words) == "5 行 6 行 7 行 8 行 9 行"


async def test_a_line_that_never_ends_is_not_waited_for() -> None:
    with LastWords("time") as words:
        words.file.write("知恵" * 100_000)
        words.file.flush()

        async def heard() -> bool:
            return bool(str(words))

        await until(heard)
        words.file.write(" the end")
    assert str(words).endswith(" the end")
    assert len(str(words)) <= LINES * (LONGEST + 1)
