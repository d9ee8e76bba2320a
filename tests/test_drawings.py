"""Drawings and pages: sound, nothing outside, nothing on top of another, nothing believed."""

from __future__ import annotations

import functools
import itertools
import math
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pointsman.gateway.evaluation import page as pages
from pointsman.gateway.evaluation.drawings import (
    Bar,
    BinView,
    CostMark,
    Mark,
    bars,
    canvas,
    confusion,
    cost_curve,
    reliability,
    risk_coverage,
)
from pointsman.gateway.evaluation.drawings.axes import around, step_of, thinned, ticks

SVG = "{http://www.w3.org/2000/svg}"
CANARY = "<script>alert('x')</script>&\"\x00\ud800"

Box = tuple[float, float, float, float]
Drawing = Callable[[], str]


# --- reading a drawing -------------------------------------------------------------------


def tree(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - made here


def kinds(element: ET.Element) -> set[str]:
    return set(element.get("class", "").split())


def having(svg: str, tag: str, *kind: str) -> list[ET.Element]:
    return [one for one in tree(svg).iter(SVG + tag) if kinds(one) >= set(kind)]


def numbers(element: ET.Element, *names: str) -> list[float]:
    return [float(element.get(name, "nan")) for name in names]


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in tree(svg).iter(SVG + "text")]


def tips(svg: str) -> list[str]:
    return [
        one.text or "" for group in tree(svg).iter(SVG + "g") for one in group.iter(SVG + "title")
    ]


def description(svg: str) -> str:
    return tree(svg).findtext(SVG + "desc") or ""


def places(element: ET.Element) -> Iterator[tuple[float, float]]:
    """Where an element has points, in the units of the viewBox."""
    if element.tag == SVG + "line":
        x1, y1, x2, y2 = numbers(element, "x1", "y1", "x2", "y2")
        yield from ((x1, y1), (x2, y2))
    elif element.tag == SVG + "rect":
        x, y, width, height = numbers(element, "x", "y", "width", "height")
        yield from ((x, y), (x + width, y + height))
    elif element.tag == SVG + "polyline":
        for pair in element.get("points", "").split():
            x, y = map(float, pair.split(","))
            yield x, y
    elif element.tag == SVG + "path":
        for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", element.get("d", "")):
            yield float(x), float(y)


def extent(text: ET.Element) -> Box:
    """About what a text covers; a little less, since widths are estimates."""
    size = 15 if "heading" in kinds(text) else 12 if "small" in kinds(text) else 13
    width = 0.9 * canvas.width_of(text.text or "", size)
    turned = re.match(r"translate\(([\d.-]+) ([\d.-]+)\) rotate\(-90\)", text.get("transform", ""))
    if turned:
        x, y = map(float, turned.groups())
        return x - 0.7 * size, y - width, x, y
    x, y = numbers(text, "x", "y")
    x -= {"start": 0.0, "middle": width / 2, "end": width}[text.get("text-anchor", "start")]
    return x, y - 0.7 * size, x + width, y


def overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def markers(svg: str, *kind: str) -> list[tuple[float, float]]:
    """The middles of what marks a point."""
    found = []
    for path in having(svg, "path", *kind):
        xs, ys = zip(*_ends(path), strict=True)
        found.append(((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2))
    return found


def _ends(path: ET.Element) -> list[tuple[float, float]]:
    pairs = re.findall(r"(?:[ML]|0 1 0 )(-?[\d.]+) (-?[\d.]+)", path.get("d", ""))
    return [(float(x), float(y)) for x, y in pairs]


# --- what is drawn -----------------------------------------------------------------------

NAMES = ["billing", "shipping", "returns", "none of these"]
MANY = [f"intent number {index} of a long list" for index in range(30)]
CURVE = [(share / 50, 0.2 * (share / 50) ** 2) for share in range(1, 51)]
BINS = [
    BinView(100, c / 10, c / 10 - 0.03, c / 10 - 0.1, min(1, c / 10 + 0.05)) for c in range(5, 10)
]
ALL_EQUAL = [BinView(7, 0.9, 1.0, 0.6, 1.0)] * 3


def million(count: int) -> list[tuple[float, float]]:
    dice = random.Random(count)
    return [(index / count, dice.random()) for index in range(1, count + 1)]


def marks(count: int) -> list[Mark]:
    return [Mark(f"p{i % 3}", 0.5 + 0.01 * i, 0.1, 0.12, 0.15, 0.8) for i in range(count)]


DRAWINGS: Mapping[str, Drawing] = {
    "reliability": lambda: reliability(BINS, BINS[1:], "Reliability of jev"),
    "reliability of nothing": lambda: reliability([]),
    "reliability of nothing twice": lambda: reliability([], []),
    "reliability of one": lambda: reliability(BINS[:1]),
    "reliability of two": lambda: reliability(BINS[:2]),
    "reliability of equals": lambda: reliability(ALL_EQUAL),
    "reliability of many": lambda: reliability(
        [BinView(1, c, c, c, c) for c, _ in million(100_000)]
    ),
    "coverage": lambda: risk_coverage({"jev": CURVE, "openai": CURVE[5:]}, marks(5)),
    "coverage of nothing": lambda: risk_coverage({}),
    "coverage of empty": lambda: risk_coverage({"jev": []}),
    "coverage of one": lambda: risk_coverage({"jev": CURVE[:1]}),
    "coverage of two": lambda: risk_coverage({"jev": CURVE[:2]}),
    "coverage of no errors": lambda: risk_coverage({"jev": [(0.5, 0.0), (1.0, 0.0)]}),
    "coverage of equals": lambda: risk_coverage({"jev": [(1.0, 0.3)] * 3}),
    "coverage of many": lambda: risk_coverage({"jev": million(100_000)}, marks(9)),
    "coverage of names": lambda: risk_coverage(dict.fromkeys(MANY[:12], CURVE)),
    "costs": lambda: cost_curve(CURVE, [CostMark("current", 0.8), CostMark("certified", 0.9, 0.3)]),
    "costs of nothing": lambda: cost_curve([]),
    "costs of a mark alone": lambda: cost_curve([], [CostMark("current", 0.8, 2.0)]),
    "costs of one": lambda: cost_curve([(0.5, 2.0)]),
    "costs of zero": lambda: cost_curve([(0.5, 0.0), (0.9, 0.0)]),
    "costs of little": lambda: cost_curve([(0.5, 1e-7), (0.9, 3e-7)]),
    "costs of much": lambda: cost_curve([(0.5, 1e12), (0.9, 3e12)]),
    "costs of debts": lambda: cost_curve([(0.5, -2.0), (0.9, -1.0)]),
    "costs of many": lambda: cost_curve(million(100_000)),
    "matrix": lambda: confusion(NAMES, NAMES, square(4), "current", "jev"),
    "matrix of nothing": lambda: confusion([], [], [], "current", "jev"),
    "matrix of one": lambda: confusion(["yes"], ["yes"], [[12_345_678]], "current", "jev"),
    "matrix of zeros": lambda: confusion(["yes"], ["yes", "no"], [[0, 0]], "current", "jev"),
    "matrix of many": lambda: confusion(MANY, MANY, square(30), "current", "jev"),
    "bars": lambda: bars([Bar("timeout", 0.2, 0.1, 0.4, "20 %"), Bar("auth", 0.1)], "Why", "share"),
    "bars of nothing": lambda: bars([], "Why"),
    "bars of zero": lambda: bars([Bar("timeout", 0.0)], "Why"),
    "bars of many": lambda: bars([Bar(name, 3.0) for name in MANY], "Why"),
}
each_drawing = pytest.mark.parametrize(
    "draw", [functools.cache(draw) for draw in DRAWINGS.values()], ids=DRAWINGS.keys()
)


def square(size: int) -> list[list[int]]:
    return [
        [900 // (i + 1) if i == j else (i * 7 + j) % 5 for j in range(size)] for i in range(size)
    ]


def sound(svg: str) -> None:
    """What holds for every drawing, whatever it shows."""
    root = tree(svg)
    assert [child.tag for child in list(root)[:2]] == [SVG + "title", SVG + "desc"]
    assert (root.get("role"), root[0].text is not None, bool(root[1].text)) == ("img", True, True)
    _, _, width, height = map(float, root.get("viewBox", "").split())
    for element in root.iter():
        for x, y in places(element):
            assert -0.01 <= x <= width + 0.01
            assert -0.01 <= y <= height + 0.01
    for element in root.iter():
        for name, value in element.items():
            assert not re.search(r"\b(nan|inf)\b", value), name


@each_drawing
def test_a_drawing_is_sound_and_lies_within_its_paper(draw: Drawing) -> None:
    svg = draw()

    sound(svg)
    assert not re.search(r"\b(nan|inf)\b", "".join(tree(svg).itertext()), re.IGNORECASE)


@each_drawing
def test_no_text_lies_on_another_or_beyond_the_paper(draw: Drawing) -> None:
    svg = draw()
    width = float(tree(svg).get("viewBox", "").split()[2])
    boxes = [(one.text, extent(one)) for one in tree(svg).iter(SVG + "text") if one.text]

    assert [(a, b) for (a, x), (b, y) in itertools.combinations(boxes, 2) if overlap(x, y)] == []
    assert [text for text, one in boxes if one[0] < 0 or one[2] > width] == []


@each_drawing
def test_a_drawing_needs_nothing_but_itself(draw: Drawing) -> None:
    svg = draw().replace('xmlns="http://www.w3.org/2000/svg"', "")

    assert not re.search(r"https?:|url\(|@import|href|<script|\bon\w+=", svg)
    assert "prefers-color-scheme:dark" in svg


@each_drawing
def test_a_drawing_stays_small(draw: Drawing) -> None:
    """A hundred thousand points are thinned to what can be seen."""
    assert len(draw()) < 150_000


@each_drawing
def test_text_is_large_enough_where_a_drawing_is_shown_in_full(draw: Drawing) -> None:
    root = tree(draw())
    scale = float(root.get("width", "")) / float(root.get("viewBox", "").split()[2])

    sizes = [float(size) for size in re.findall(r"font-size:([\d.]+)px", canvas.STYLE)]
    assert min(sizes) * scale >= 11
    assert float(root.get("width", "")) <= 640


# --- the reliability diagram -------------------------------------------------------------


def test_a_bin_stands_at_its_confidence_and_share() -> None:
    """Calibrated bins lie on the diagonal, with their interval as a bar through them."""
    svg = reliability([BinView(10, 0.25, 0.25, 0.1, 0.5), BinView(30, 0.75, 0.75, 0.6, 0.9)])
    guide = having(svg, "line", "guide")[-1]
    left, bottom, right, top = numbers(guide, "x1", "y1", "x2", "y2")

    points = markers(svg, "full")[1:]  # without the legend's

    for (x, y), share in zip(points, (0.25, 0.75), strict=True):
        assert x == pytest.approx(left + share * (right - left), abs=0.02)
        assert y == pytest.approx(bottom - share * (bottom - top), abs=0.02)
    upright = [numbers(one, "y1", "y2") for one in having(svg, "line", "thin")]
    ends = {(round(a), round(b)) for a, b in upright if a != b}
    assert ends == {
        tuple(round(bottom - share * (bottom - top)) for share in pair)
        for pair in ((0.1, 0.5), (0.6, 0.9))
    }


def test_the_histogram_counts_answers_by_tenths() -> None:
    """Each tenth is open to the left, as the bins of equal width are."""
    bins = [BinView(n, c, 1, 0, 1) for n, c in ((10, 0.0), (20, 0.1), (40, 0.95), (40, 1.0))]
    svg = reliability(bins)

    heights = [numbers(one, "height")[0] for one in having(svg, "rect", "area")]

    assert len(heights) == 2
    assert heights[1] / heights[0] == pytest.approx(80 / 30, rel=0.01)


def test_many_bins_are_put_together_without_losing_an_answer() -> None:
    svg = reliability([BinView(2, c / 1000, 0.5, 0, 1) for c in range(1000)])

    counts = [int(tip.rpartition(" of ")[2]) for tip in tips(svg) if " of " in tip]
    assert sum(counts) == 2000
    assert len(counts) == 40
    assert "50\N{NO-BREAK SPACE}% (" in description(svg)


def test_bins_that_say_nothing_are_left_out() -> None:
    svg = reliability([BinView(0, 0.5, 0.5, 0, 1), BinView(3, math.nan, 1, 0, 1), *BINS[:1]])

    assert len(markers(svg, "full")) == 2  # the legend's, and one


def test_both_series_are_told_apart_without_colour() -> None:
    svg = reliability(BINS, BINS)

    assert {"as reported", "recalibrated"} <= set(texts(svg))
    lines = having(svg, "polyline")
    assert {line.get("stroke-dasharray") for line in lines} == {"none", "7 4"}
    assert len(having(svg, "path", "hollow")) == len(having(svg, "path", "full")) == 6


def test_agreement_is_not_called_right() -> None:
    svg = reliability(BINS, None, "Agreement", "Share agreeing with current")

    assert "Share agreeing with current" in texts(svg)
    assert "share agreeing with current" in description(svg)
    assert "accura" not in svg.lower()


# --- risk and coverage -------------------------------------------------------------------


def test_a_certified_point_lies_on_its_curve_below_its_bound() -> None:
    mark = Mark("jev", 0.5, 0.05, 0.1, 0.1, 0.875)
    svg = risk_coverage({"jev": CURVE}, [mark])

    line = [place for one in having(svg, "polyline", "line")[1:] for place in places(one)]
    [x, y] = markers(svg, "full")[0]
    assert min(math.dist((x, y), place) for place in line) < 0.1
    bar, _ = (numbers(one, "x1", "y1", "x2", "y2") for one in having(svg, "line", "thin"))
    zero = max(y for one in having(svg, "line", "edge") for _, y in [next(places(one))])
    assert bar[:2] == [x, y]
    assert zero - bar[3] == pytest.approx(2 * (zero - y), abs=0.05)
    assert any("from 0.875, decides 50" in text for text in texts(svg))


def test_a_bound_is_never_rounded_below_itself() -> None:
    svg = risk_coverage({}, [Mark("jev", 0.5, 0.0349, 0.04946, 0.05, 0.8194)])

    assert any(
        "from 0.8194, decides" in text and text.endswith("5.0\N{NO-BREAK SPACE}%")
        for text in texts(svg)
    )
    assert any("risk 3.5" in text for text in texts(svg))


def test_marks_at_one_place_share_a_label() -> None:
    """Two budgets are often met by the same threshold."""
    twice = [Mark("jev", 0.5, 0.05, 0.08, alpha, 0.9) for alpha in (0.1, 0.2)]

    assert "1, 2" in texts(risk_coverage({"jev": CURVE}, twice))


def test_a_few_answers_do_not_set_the_scale() -> None:
    """The first wrong answer has a risk of 1; all others would be a flat line below it."""
    svg = risk_coverage({"jev": [(0.001, 1.0), (0.002, 0.5), *CURVE]})

    assert "20\N{NO-BREAK SPACE}%" in texts(svg)
    assert "60\N{NO-BREAK SPACE}%" in texts(svg)  # of the coverage only
    assert texts(svg).count("100\N{NO-BREAK SPACE}%") == 1


def test_curves_are_told_apart_without_colour() -> None:
    svg = risk_coverage(dict.fromkeys(NAMES, CURVE))

    looks = [one.get("stroke-dasharray") for one in having(svg, "polyline", "line")]
    assert len(set(looks)) == 4
    assert set(NAMES) <= set(texts(svg))


def test_a_mark_that_is_no_number_is_left_out() -> None:
    svg = risk_coverage(
        {"jev": [*CURVE, (math.nan, 0.1)]}, [Mark("jev", 0.5, math.nan, 0.1, 0.1, 1)]
    )

    assert markers(svg, "full") == []
    sound(svg)


# --- cost --------------------------------------------------------------------------------


def test_a_mark_without_a_cost_takes_that_of_the_line() -> None:
    points = [(0.5, 4.0), (0.7, 2.0), (0.9, 6.0)]
    svg = cost_curve(
        points, [CostMark("between", 0.8), CostMark("before", 0.1), CostMark("after", 1)]
    )

    costs = dict(re.findall(r"(\w+): threshold [\d.]+, cost (\d+)", description(svg)))
    assert costs == {"between": "4", "before": "4", "after": "6"}
    assert description(svg).startswith("Least cost 2 at threshold 0.7")


def test_what_cannot_be_drawn_is_left_out_of_the_costs() -> None:
    svg = cost_curve([(0.5, 1.0), (0.6, math.inf), (0.7, 2.0)], [CostMark("none", math.nan)])

    assert len(list(places(having(svg, "polyline")[0]))) == 2
    assert markers(svg) == []


# --- the matrix --------------------------------------------------------------------------


def test_where_both_agree_is_framed() -> None:
    svg = confusion(["a", "b"], ["b", "a", "c"], [[1, 2, 3], [4, 5, 6]], "current", "jev")

    framed = {tip for group in tree(svg).iter(SVG + "g") if (tip := _framed(group))}
    assert framed == {"a, a: 2", "b, b: 4"}


def _framed(group: ET.Element) -> str:
    framed = any("frame" in kinds(one) for one in group.iter(SVG + "rect"))
    return (group.findtext(SVG + "title") or "") if framed else ""


def test_the_least_frequent_are_folded_and_no_decision_is_lost() -> None:
    counts = square(30)
    svg = confusion(MANY, MANY, counts, "current", "jev")

    assert texts(svg).count("other (11)") == 2
    cells = [int(tip.rpartition(": ")[2].replace(",", "")) for tip in tips(svg) if ": " in tip]
    assert sum(cells) == sum(map(sum, counts))
    assert len({tip.split(", ")[0] for tip in tips(svg) if ": " in tip}) == 20
    assert not any(_framed(g).startswith("other (11)") for g in tree(svg).iter(SVG + "g"))


def test_names_that_differ_at_their_ends_stay_different() -> None:
    shown = [text for text in texts(DRAWINGS["matrix of many"]()) if "…" in text]

    assert len(shown) >= 19
    family = [f"a_very_long_name_of_a_family_of_intents_{index}" for index in range(5)]
    assert len({canvas.named(name, 100) for name in family}) == 5


@pytest.mark.parametrize("counts", [[], [[1, 2]], [[1], [2]], [[1, 2], [3]]])
def test_counts_fit_their_names(counts: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="2 rows of 2 columns"):
        confusion(["a", "b"], ["a", "b"], counts, "current", "jev")


# --- bars --------------------------------------------------------------------------------


def test_bars_are_as_long_as_their_sizes() -> None:
    svg = bars([Bar("a", 4.0), Bar("b", 1.0), Bar("c", math.nan), Bar("d", -1.0)], "Sizes")

    lengths = [numbers(one, "width")[0] for one in having(svg, "rect", "area")]
    assert lengths[0] == pytest.approx(4 * lengths[1], abs=0.05)
    assert lengths[2:] == [0, 0]
    assert "–" in texts(svg)
    sound(svg)


def test_an_interval_is_drawn_over_its_bar() -> None:
    svg = bars([Bar("a", 2.0, 1.0, 4.0, "two of them", series=1)], "Sizes")

    [length] = [numbers(one, "width")[0] for one in having(svg, "rect", "hollow")]
    x1, _, x2, _ = numbers(having(svg, "line", "frame")[0], "x1", "y1", "x2", "y2")
    assert x2 - x1 == pytest.approx(1.5 * length, abs=0.05)
    assert "two of them" in texts(svg)


def test_more_bars_than_can_be_read_are_counted() -> None:
    assert "and 10 more" in texts(DRAWINGS["bars of many"]())


# --- laws --------------------------------------------------------------------------------

share = st.floats(0, 1)
places_ = st.lists(st.tuples(st.floats(0, 400), st.floats(0, 300)), max_size=60)


@given(places_)
def test_thinning_keeps_the_ends_and_the_extremes(points: list[tuple[float, float]]) -> None:
    kept = thinned(points)

    assert kept == sorted(kept, key=lambda place: place[0])
    assert set(kept) <= set(points)
    for ends in (min, max):
        for axis in (0, 1):
            values = [place[axis] for place in points]
            assert ends(values, default=0) == ends((place[axis] for place in kept), default=0)


def test_thinning_leaves_four_points_a_unit() -> None:
    assert len(thinned([(400 * x, y) for x, y in million(100_000)])) <= 4 * 401


@given(st.floats(-1e12, 1e12), st.floats(1e-6, 1e12))
@example(0.0, 1.0)
def test_ticks_are_round_few_and_within(low: float, span: float) -> None:
    low, high = around([low, low + span])
    step, found = step_of(low, high), ticks(low, high)

    assert 2 <= len(found) <= 13
    assert all(low - step / 100 <= value <= high + step / 100 for value in found)
    assert f"{step:.0e}"[0] in "125"


@given(st.lists(st.builds(BinView, st.integers(0, 10**6), share, share, share, share), max_size=60))
def test_any_bins_can_be_drawn(bins: list[BinView]) -> None:
    sound(reliability(bins, bins[::2]))


@given(
    st.dictionaries(
        st.text(max_size=60), st.lists(st.tuples(share, share), max_size=8), max_size=6
    ),
    st.lists(st.builds(Mark, st.text(max_size=60), share, share, share, share, share), max_size=8),
)
def test_any_curves_can_be_drawn(
    curves: dict[str, list[tuple[float, float]]], certified: list[Mark]
) -> None:
    sound(risk_coverage(curves, certified))


@given(
    st.lists(st.tuples(st.floats(), st.floats()), max_size=8),
    st.lists(st.builds(CostMark, st.text(), st.floats(), st.none() | st.floats()), max_size=4),
)
@example([(0.5, 1e300), (0.5, -1e300)], [])
@example([(0.5, 1e-320), (0.6, 0.0)], [])
@example([(0.5, 1.7e308), (0.6, -1.7e308)], [])
def test_any_costs_can_be_drawn(points: list[tuple[float, float]], marks: list[CostMark]) -> None:
    sound(cost_curve(points, marks))


# --- light, dark, and eyes ---------------------------------------------------------------


def luminance(colour: Sequence[float]) -> float:
    """WCAG 2.1: relative luminance of an sRGB colour."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: Sequence[float], b: Sequence[float]) -> float:
    bright, dim = sorted((luminance(a), luminance(b)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def palette(css: str) -> dict[str, tuple[float, ...]]:
    found = {}
    for name, digits in re.findall(r"--(\w+):#(\w+)", css):
        full = digits if len(digits) == 6 else "".join(digit * 2 for digit in digits)
        found[name] = tuple(int(full[at : at + 2], 16) / 255 for at in (0, 2, 4))
    return found


@pytest.mark.parametrize("css", [canvas.LIGHT, canvas.DARK], ids=["light", "dark"])
def test_everything_can_be_seen_in_light_and_dark(css: str) -> None:
    colours = palette(css)
    paper, ink = colours["paper"], colours["ink"]

    assert len(colours) == 4 + canvas.HUES
    for name in colours.keys() - {"paper", "grid"}:
        assert contrast(colours[name], paper) >= 4.5, name
    for hue in ("c0", "c1"):  # text on the hottest cell of a matrix
        hot = [0.55 * a + 0.45 * b for a, b in zip(colours[hue], paper, strict=True)]
        assert contrast(ink, hot) >= 4.5, hue


# --- nothing is believed -----------------------------------------------------------------

HOSTILE: Mapping[str, Drawing] = {
    "reliability": lambda: reliability(BINS, BINS, CANARY, CANARY),
    "coverage": lambda: risk_coverage(
        {CANARY: CURVE}, [Mark(CANARY, 0.5, 0.1, 0.2, 0.2, 0.9)], CANARY, CANARY
    ),
    "costs": lambda: cost_curve(CURVE, [CostMark(CANARY, 0.9)], CANARY, CANARY),
    "matrix": lambda: confusion([CANARY], [CANARY], [[3]], CANARY, CANARY),
    "matrix upright": lambda: confusion([CANARY], [CANARY] * 9, [[3] * 9], CANARY, CANARY),
    "bars": lambda: bars([Bar(CANARY, 1.0, shown=CANARY)], CANARY, CANARY),
}


@pytest.mark.parametrize("draw", HOSTILE.values(), ids=HOSTILE.keys())
def test_markup_in_a_label_is_text(draw: Drawing) -> None:
    svg = draw()

    sound(svg)
    assert svg.encode()
    assert "<script" not in svg
    assert "&lt;script" in svg


class Reader(HTMLParser):
    """The tags of a page with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def having(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def whole() -> str:
    body = pages.joined(
        CANARY,
        pages.heading(CANARY),
        pages.paragraph(CANARY),
        pages.note(CANARY, "warning"),
        pages.table([CANARY], [[CANARY]], CANARY),
        pages.figure(HOSTILE["coverage"](), CANARY),
        pages.figure(CANARY),
        pages.details(CANARY, CANARY),
    )
    sections = [pages.Section(CANARY, body), pages.Section("Plain", CANARY)]
    return pages.page(CANARY, sections, CANARY, '"><script>')


def test_a_page_believes_no_text() -> None:
    """Whatever is no `Markup` is shown as it was written, in every place that takes a text."""
    html = whole()
    read = Reader(html)

    assert html.encode()
    assert read.having("script") == []
    assert not any(name.startswith("on") for _, attributes in read.tags for name in attributes)
    shown = [text for text in read.text if "<script>alert('x')</script>&\"" in text]
    assert len(shown) >= 14
    assert html.count("<script") == 0


def test_a_page_loads_nothing() -> None:
    html = whole().replace("http://www.w3.org/2000/svg", "")
    read = Reader(html)

    assert not re.search(r"https?:|url\(|@import", html)
    assert not {"src", "href"} & {name for _, attributes in read.tags for name in attributes}
    [policy] = [one for one in read.having("meta") if one.get("http-equiv")]
    assert (policy["content"] or "").startswith("default-src 'none'")


def test_a_page_is_one_whole_document() -> None:
    html = whole()

    assert html.startswith("<!doctype html>\n<html lang=")
    head = html.partition("</head>")[0]
    assert "width=device-width" in head
    assert "prefers-color-scheme:dark" in head
    assert "@media print" in head
    assert html.rstrip().endswith("</main></body></html>")


def test_columns_of_numbers_are_set_to_the_right() -> None:
    rows: list[list[Any]] = [
        ["timeout", 1220, "22 % [18, 27]", "0" * 32, 0.123456, None],
        ["3 auth", 3, "–", "a1", 2.0, True],
    ]
    read = Reader(pages.table(["a", "b", "c", "d", "e", "f"], rows))

    right = ["n" in (one.get("class") or "") for one in read.having("td")]
    assert right == [False, True, True, False, True, False] * 2
    assert [one.get("scope") for one in read.having("th")] == ["col"] * 6
    assert {"1,220", "0.1235", "–", "yes"} <= set(read.text)


def test_a_table_may_be_empty_but_not_ragged() -> None:
    assert Reader(pages.table(["a"], [])).having("td") == []
    with pytest.raises(ValueError, match="2 columns"):
        pages.table(["a", "b"], [[1]])


def test_a_note_says_its_kind_in_words() -> None:
    assert "Warning" in Reader(pages.note("few labels", "warning")).text
    assert Reader(pages.note("enough", "good")).text == ["enough"]
    with pytest.raises(ValueError, match="note, good, warning"):
        pages.note("loud", "alarm")
