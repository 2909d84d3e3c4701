"""The lessons' texts: their code runs, and their form is that of every lesson."""

import contextlib
import io
import re

import pytest

from lessons.cuda_on_cpu import NoCompiler
from tests.lessons.course import (
    CAPSTONE,
    LESSONS,
    every_guided_lesson,
    every_lesson,
    listings_of,
    prose_of,
    sections_of,
    text_of,
)

NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}


def approximate(text):
    """The text without the numbers that follow the word about, and these: a long training ends with slightly
    different ones on another processor."""
    pieces = re.split(r"(?<=about )(\d+(?:\.\d+)?)", text)
    return pieces[::2], [float(number) for number in pieces[1::2]]


@every_lesson
def test_the_python_blocks_run_and_print_what_the_text_says(lesson, monkeypatch, tmp_path):
    """Blocks run in order in one namespace."""
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "lesson"}
    listings = listings_of(lesson)
    assert listings
    for code, expected in listings:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                exec(compile(code, str(lesson / "README.md"), "exec"), namespace)
            except NoCompiler as missing:
                pytest.skip(str(missing))
        words, numbers = approximate(printed.getvalue())
        expected_words, expected_numbers = approximate(expected)
        assert words == expected_words, code
        assert numbers == pytest.approx(expected_numbers, rel=0.1), code


@every_lesson
def test_its_length(lesson):
    words = len(prose_of(lesson).split())
    assert 700 <= words <= 2400, f"{words} words"


@every_guided_lesson
def test_it_says_where_in_the_model_it_is(lesson):
    assert re.search(r"^!\[You are here: .*\]\(figures/where\.png\)$", text_of(lesson), re.M)


@every_guided_lesson
def test_its_sections(lesson):
    expected = ["Your turn", "What goes wrong", "Questions without a check", "In tinyvit", "Read on"]
    assert [title for title in sections_of(lesson) if title in expected] == expected


@every_lesson
def test_three_links_to_read_on(lesson):
    found = re.findall(r"\]\(https?://[^)]+\)", sections_of(lesson).get("Read on", ""))
    assert len(found) == 3, found


@every_guided_lesson
def test_something_is_predicted_before_it_is_run(lesson):
    assert re.search(r"\*\*Predict\.\*\*.*?<details>", text_of(lesson), re.S)


@every_lesson
def test_what_is_to_be_predicted_is_not_printed_below_the_question(lesson):
    """After a question, what the next listing of the section prints is folded."""
    for section in sections_of(lesson).values():
        for question in section.split("**Predict.**")[1:]:
            assert not re.match(
                r"(?:(?!```|<details>).)*```python\n(?:(?!```).)*```\n```text", question, re.S
            ), question


@every_lesson
def test_folds_are_closed_and_set_off_by_blank_lines(lesson):
    text = text_of(lesson)
    assert text.count("<details>") == text.count("</details>")
    assert not re.search(r"</summary>[^\n]*\n(?!\n)", text), "no blank line after a </summary>"
    assert not re.search(r"[^\n]\n</details>", text), "no blank line before a </details>"


@every_lesson
def test_formulas_survive_markdown(lesson):
    """A backslash before punctuation is an escape for Markdown, which eats it before the formula is set."""
    text = re.sub(r"```.*?```", "", text_of(lesson), flags=re.DOTALL)
    assert re.findall(r"\$[^$]*\\[,;:!{}_|*#%&][^$]*\$", text) == []


# An underscore with which Markdown can begin an emphasis, and further on one with which it can end it.
SLANTED = re.compile(r"(?<![^\W_])_(?=\S).*?(?<=\S)_(?![^\W_])", re.S)


@every_lesson
def test_no_two_underscores_of_a_paragraph_are_taken_for_emphasis(lesson):
    """`e'_{i} = R_{ij}` would be set as e'{i} = R{ij}, half of it slanted, and no formula: write `e_{i}'`."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", text_of(lesson), flags=re.DOTALL)
    assert [paragraph for paragraph in text.split("\n\n") if SLANTED.search(paragraph)] == []


@every_lesson
def test_a_formula_begins_after_a_space(lesson):
    """GitHub takes a dollar sign after most other characters for money."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", text_of(lesson), flags=re.DOTALL)
    formulas = re.finditer(r"\$\$.+?\$\$|\$[^$]+\$", text, re.DOTALL)
    assert [f[0] for f in formulas if re.match(r"[^\s(]\$|.\$\s", text[f.start() - 1 : f.start() + 2])] == []


CORE = [lesson for lesson in LESSONS if lesson.name < CAPSTONE]
every_core_lesson = pytest.mark.parametrize("lesson", CORE, ids=[lesson.name for lesson in CORE])


def test_the_course_states_the_times_of_its_core():
    text = (LESSONS[0].parent / "README.md").read_text("utf-8")
    hours = sum(map(minutes_stated, CORE)) / 60
    assert f"in about {hours:.0f} hours, or in thirteen" in " ".join(text.split())
    assert sum(map(short_way, CORE)) <= 13 * 60
    for lesson in CORE:
        full, short = re.search(rf"{lesson.name}/README.*\| ([\d¼½¾]+) h \| (\d+) min \|", text).groups()
        fraction = {"¼": 15, "½": 30, "¾": 45}.get(full[-1], 0)
        assert 60 * int(full.rstrip("¼½¾") or 0) + fraction == minutes_stated(lesson), lesson.name
        assert int(short) == short_way(lesson), lesson.name


@every_core_lesson
def test_a_table_says_how_long_each_function_takes(lesson):
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (easy|medium|hard) \| (yes )?\|$", text_of(lesson), re.M)
    asked, _, _ = (lesson / "exercise.py").read_text("utf-8").partition("# The puzzle")
    assert sorted(name for name, *_ in rows) == sorted(re.findall(r"^def (\w+)", asked, re.M))
    assert sum(int(minutes) for _, minutes, *_ in rows) < minutes_stated(lesson)
    assert 0 < sum(int(minutes) for _, minutes, _, short in rows if short) < short_way(lesson)


@every_guided_lesson
def test_it_states_a_time(lesson):
    assert 15 <= minutes_stated(lesson) <= 330


@pytest.mark.parametrize(
    ("words", "minutes"),
    [
        ("about an hour", 60),
        ("an hour and a half", 90),
        ("about two and a half hours", 150),
        ("half an hour", 30),
        ("three quarters of an hour", 45),
        ("45 minutes", 45),
        ("an hour and a quarter", 75),
        ("an hour and three quarters", 105),
        ("an hour of your time", 60),
        ("two hours and a quarter", 135),
        ("two hours, half an hour of them the computer's", 120),
    ],
)
def test_times_are_read_as_one_says_them(words, minutes):
    assert minutes_in(words) == minutes


def minutes_stated(lesson):
    """The time that the lesson says it takes, in minutes."""
    stated = re.search(r"\*\*Time:\*\*\s+(.*?)[.;]", text_of(lesson), re.S)
    assert stated, f"{lesson.name} states no time"
    return minutes_in(" ".join(stated.group(1).split()))


def short_way(lesson):
    """The time that the lesson says its short way takes, in minutes."""
    return minutes_in(
        re.search(r"\*\*Time:\*\*.*?; (.*?) on the \[short", " ".join(text_of(lesson).split()))[1]
    )


def minutes_in(words):
    """The minutes in "about two and a half hours", up to the first comma."""
    plain = words.split(",")[0].removeprefix("about ").removeprefix("under ")
    fixed = {"half an hour": 30, "three quarters of an hour": 45, "a quarter of an hour": 15}
    if plain in fixed:
        return fixed[plain]
    stated = re.match(
        r"(\w+)(?: and a (half))? (hour|minute)s?(?: and (?:a )?(half|three quarters|quarter))?\b", plain
    )
    assert stated, f"{words!r} is no time"
    number = int(stated[1]) if stated[1].isdigit() else NUMBERS[stated[1]]
    more = {"half": 30, "quarter": 15, "three quarters": 45, None: 0}[stated[2] or stated[4]]
    return number * (60 if stated[3] == "hour" else 1) + more
