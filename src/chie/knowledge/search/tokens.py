"""The tokenizer of the lexical index, for notes and queries alike.

Japanese has no spaces and many words of two characters, so runs of kana and kanji become overlapping bigrams. Spellings
of one word become one: hiragana is read as katakana, long vowels are left out (サーバ, サーバー), and kanji that only
inflection separates are neighbours too (問い合わせ, 問合せ). English words are reduced to their stems. Identifiers are
indexed whole and in parts, because people remember either.

Anyone who changes what `tokens` returns raises TOKENS_VERSION, so that the stores index their notes again.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from chie import unicode as spelling
from chie.unicode import normal

TOKENS_VERSION = 3
MAX_QUERY_TOKENS = 64
MAX_KNOWN_WORD = 32  # characters; longer words are rare, and would fill the cache
MAX_PHRASE_REACH = 30  # characters

# Kana, kanji with their iteration marks, and the extensions beyond the basic plane.
_JAPANESE = r"\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_PIECES = re.compile(
    rf"(?P<japanese>[{_JAPANESE}]+)"
    r"|(?P<word>(?:(?![" + _JAPANESE + r"])\w)+(?:[-./:@\\](?:(?![" + _JAPANESE + r"])\w)+)*(?:\+\+|#)?)"
    r"|(?P<symbol>[^\w\s\x00-\x7f\u3000-\u303f\uff00-\uffef])"
)
LETTER = rf"[^\W_{_JAPANESE}]"  # of scripts with word boundaries, which kana and kanji lack
_LATIN = re.compile(r"[a-z0-9]")
# Runs of a folded text that are indexed alike wherever they stand.
_RUNS = re.compile(rf"[{_JAPANESE}]+|(?<![^\W\d_{_JAPANESE}])(?P<word>[a-z]+)(?![^\W\d_{_JAPANESE}]|\+\+|\#)")
_LONG_WORD = re.compile(r"\w{2}[a-z]\Z")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_LETTERS = re.compile(r"[^\W\d_]+")
_LONG_VOWEL = "ー"
_KATAKANA = {code: chr(code + 0x60) for code in range(0x3041, 0x3097)}  # of hiragana
_LARGE = str.maketrans("ァィゥェォヵヶヮ", "アイウエオカケワ")  # ウィンドウ, ウインドウ
_SPELLING: dict[int, str | int] = {
    **{code: kana.translate(_LARGE) for code, kana in _KATAKANA.items()},
    **_LARGE,
    ord(_LONG_VOWEL): "",
}
_INFLECTION = re.compile(r"(?<=[\u3005\u4e00-\u9fff])[イキギシジチテビベミメリレエケゲセゼワ]{1,2}(?=[\u4e00-\u9fff])")
_HIRAGANA = re.compile(r"[\u3041-\u309f]+")
_GRAMMAR = frozenset(
    "a an and are as at be by can do for from have how i if in into is it my not of on or that the this to"
    " was we what when where which why will with you".split()
)
_SUFFIX = re.compile(r"(?<=[a-z]{3})(?:ies|ied|ing|ed|es|s|e)$")
_DOUBLED = re.compile(r"([bdfgmnprt])\1$")


def fold(text: str) -> str:
    """Normalise width, case and white space for comparison."""
    return " ".join(spelling.fold(text).split())


def one_spelling(text: str) -> str:
    """Read hiragana as katakana, small kana as large ones, and leave long vowels out."""
    return text.translate(_SPELLING)


def phrase(folded: str) -> re.Pattern[str]:
    """A pattern that finds the phrase in a folded text at word boundaries: `go` is not in `category` or `good`. Three
    letters or more may be a prefix, such as `connect`, but `10.0.0.1` is not in `10.0.0.12`."""
    start = rf"(?<!{LETTER})" if _LATIN.match(folded[:1]) else ""
    end = rf"(?!{LETTER})" if _LATIN.match(folded[-1:]) and not _LONG_WORD.search(folded) else ""
    return re.compile(start + re.escape(folded) + end)


def tokens(text: str) -> list[str]:
    return _tokens(normal(text))


def query_tokens(text: str) -> list[str]:
    """The distinct tokens of a query without grammar words, which occur in half of all notes."""
    content = dict.fromkeys(_tokens(normal(text), grammar=False))
    return list(content or dict.fromkeys(_tokens(normal(text))))[:MAX_QUERY_TOKENS]


def phrase_terms(folded: str) -> list[set[str]]:
    """What a text with the folded phrase has in the index: one term of each set, as a rule. A passage may end inside
    the phrase, and inside a word if that has no blanks for long; of a phrase this short it can cut one."""
    found: dict[str, set[str]] = {}
    for match in _RUNS.finditer(folded):
        if match.start() > MAX_PHRASE_REACH:
            break
        if word := match["word"]:  # an identifier such as `GitHub` is indexed whole, without a stem
            found[word] = {word, stem(word)}
        else:
            run = one_spelling(match.group())[:MAX_PHRASE_REACH]
            found |= {run[at : at + 2]: {run[at : at + 2]} for at in range(len(run) - 1)}
    return list(found.values())


def identifiers(text: str) -> set[str]:
    """The identifiers in a query, such as `max_connections`, `ERR_42`, `useEffect` and `10.0.0.1`."""
    words = (match["word"] for match in _PIECES.finditer(normal(text)))
    return {word.casefold() for word in words if word and _is_identifier(word)}


def latin_words(text: str) -> list[str]:
    """The words of plain letters, also those in identifiers."""
    words = (match["word"] for match in _PIECES.finditer(normal(text)))
    return [part for word in words if word for part in _PARTS.findall(word) if part.isascii() and part.isalpha()]


def _is_identifier(word: str) -> bool:
    return len(word) > 2 and (
        not word.isalnum()
        or "_" in word
        or (not word.isdigit() and any(map(str.isdigit, word)))
        or (not word.isupper() and any(map(str.isupper, word[1:])))
    )


def _tokens(text: str, *, grammar: bool = True) -> list[str]:
    found: list[str] = []
    for match in _PIECES.finditer(text):
        piece = match.group()
        if match.lastgroup == "japanese":
            found += _japanese(piece, grammar=grammar)
        elif match.lastgroup == "word":
            found += _word(piece) if grammar else _content_words(piece)
        elif not unicodedata.category(piece).startswith(("M", "P", "C")):
            found.append(piece)
    return found


def _japanese(run: str, *, grammar: bool) -> list[str]:
    """Bigrams. Those of hiragana alone are mostly grammar, unless they are katakana in disguise (さーば)."""
    spelt = run.replace(_LONG_VOWEL, "") or run
    plain = one_spelling(spelt) or run
    found = _bigrams(plain)
    if not grammar and _LONG_VOWEL not in run:
        found = [bigram for at, bigram in enumerate(found) if not _HIRAGANA.fullmatch(spelt[at : at + 2])]
    return found + [plain[gap.start() - 1] + plain[gap.end()] for gap in _INFLECTION.finditer(plain)]


def _bigrams(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _word(word: str) -> Sequence[str]:
    return _known_word(word) if len(word) <= MAX_KNOWN_WORD else _word_tokens(word)


@lru_cache(maxsize=4096)
def _known_word(word: str) -> Sequence[str]:
    """Notes repeat their words."""
    return _word_tokens(word)


def _word_tokens(word: str) -> Sequence[str]:
    parts = [stem(part.casefold()) for part in _PARTS.findall(word)]
    whole = word.casefold()
    if len(parts) != 1:
        return whole, *parts, *(run for run in _camel_runs(word) if run != whole)
    return (whole,) if not word.isalnum() and "_" not in word else parts  # c++ and c# are not c


def _camel_runs(word: str) -> Iterator[str]:
    """`github` of `GitHub-Actions`, which a phrase may have by itself."""
    return (run.casefold() for run in _LETTERS.findall(word) if len(_PARTS.findall(run)) > 1)


def _content_words(word: str) -> Iterator[str]:
    """Without grammar words, also as parts of an identifier."""
    if word.casefold() not in _GRAMMAR:
        yield from (token for token in _word(word) if token not in _GRAMMAR)


def stem(word: str) -> str:
    """A light stemmer: `caches`, `cached` and `caching` share a stem, and `address` stays as it is."""
    if word.endswith("ss"):
        return word
    found = _SUFFIX.search(word)
    if not found:
        return word
    stem = word[: found.start()]
    if found.group() in ("ies", "ied"):
        return stem + "y"
    return _DOUBLED.sub(r"\1", stem) if found.group() in ("ing", "ed") else stem.removesuffix("e")
