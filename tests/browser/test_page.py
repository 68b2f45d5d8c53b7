"""The review's page as a person meets it: in Chromium, by keyboard, light and dark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from memrepo.report.html import review_html
from memrepo.report.verdict import Review
from memrepo.semdiff.change import Diff
from unit.report.sample import HOSTILE, review_of_text, sample_diff, sample_review

pytestmark = pytest.mark.browser

Open = Callable[..., Page]

_QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# Contrast of each text with the nearest painted background (WCAG 2.2, 1.4.3), as
# [ratio, text] of everything below 4.5; all text here is smaller than "large".
_LOW_CONTRAST = """() => {
  const parse = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const part = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = parse(getComputedStyle(e).backgroundColor);
      if (colour[3] === undefined || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const low = [];
  let seen = 0;
  for (let node; (node = walker.nextNode());) {
    const element = node.parentElement;
    if (element.closest("script, style") || !node.data.trim()) continue;
    if (!element.checkVisibility()) continue;
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    seen += 1;
    if (ratio < 4.5) low.push([ratio.toFixed(2), node.data.slice(0, 40)]);
  }
  return { seen, low };
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from conftest import find_chromium

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=find_chromium(), args=_QUIET)
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens a review's page; in the end nothing may have been asked for, and nothing failed."""
    requests: list[str] = []
    trouble: list[str] = []
    contexts = []

    def go(review: Review, **options: Any) -> Page:
        file = tmp_path / "review.html"
        file.write_text(review_html(review), encoding="utf-8")
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: trouble.append(dialog.message))
        page.goto(file.as_uri())
        return page

    yield go
    for context in contexts:
        context.close()
    page_itself = (tmp_path / "review.html").as_uri()
    assert set(requests) <= {page_itself, "data:,"}
    assert trouble == []


def _many(number: int) -> Review:
    agents = sample_diff().agents
    named = tuple(
        msgspec.structs.replace(agents[n % 2], agent_id=f"agent-{n:02}") for n in range(number)
    )
    finding = msgspec.structs.replace(sample_review().findings[0], agent_id="agent-03")
    diff = Diff(agents=named)
    return msgspec.structs.replace(sample_review(), diff=diff, findings=(finding,))


def _visible_agents(page: Page) -> list[str]:
    return [
        name.inner_text()
        for name in page.locator("details.agent > summary h3").all()
        if name.is_visible()
    ]


def _focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.innerText")).strip()


def test_the_page_opens_without_a_request_or_an_error(open_page: Open) -> None:
    page = open_page(sample_review())
    assert page.locator("h1").inner_text() == "Fail"
    assert _visible_agents(page) == ["support-eu", "support-us"]
    assert page.locator("#shown").inner_text() == "2 of 2 shown"


def test_tab_reaches_the_skip_link_and_enter_follows_it(open_page: Open) -> None:
    page = open_page(sample_review())
    page.keyboard.press("Tab")
    assert _focused(page) == "Skip to the agents"
    assert page.locator(".skip").bounding_box()["x"] >= 0  # type: ignore[index]
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "agents"


def test_focus_can_be_seen(open_page: Open) -> None:
    page = open_page(sample_review())
    page.keyboard.press("j")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_enter_folds_and_unfolds_an_agent(open_page: Open) -> None:
    page = open_page(_many(12))
    agent = page.locator("details.agent").first
    assert not agent.evaluate("e => e.open")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    assert agent.evaluate("e => e.open")
    assert agent.locator(".turns").is_visible()
    page.keyboard.press("Enter")
    assert not agent.evaluate("e => e.open")


def test_keys_move_between_agents(open_page: Open) -> None:
    page = open_page(_many(12))
    names = _visible_agents(page)
    assert names[0] == "agent-03"
    seen = []
    for key in "jjjk":
        page.keyboard.press(key)
        seen.append(page.evaluate("document.activeElement.querySelector('h3').innerText"))
    assert seen == [names[0], names[1], names[2], names[1]]


def test_the_filter_finds_words_and_escape_clears_it(open_page: Open) -> None:
    page = open_page(_many(12))
    page.keyboard.press("/")
    page.keyboard.type("agent-07 bag")
    assert page.locator("#shown").inner_text() == "1 of 12 shown"
    assert _visible_agents(page) == ["agent-07"]
    page.keyboard.press("Escape")
    assert len(_visible_agents(page)) == 12


def test_buttons_show_what_is_risky(open_page: Open) -> None:
    page = open_page(_many(12))
    button = page.get_by_role("button", name="With findings")
    button.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    assert _visible_agents(page) == ["agent-03"]
    button.press("Enter")
    page.get_by_role("button", name="Breaking tools").press("Space")
    assert _visible_agents(page) == [f"agent-{n:02}" for n in range(0, 12, 2)]
    page.get_by_role("button", name="Unfold all").click()
    assert page.locator("details.agent[open]").count() == 6


def test_a_link_from_a_finding_unfolds_its_agent(open_page: Open) -> None:
    page = open_page(_many(12))
    page.locator(".risk summary").first.press("Enter")
    page.locator(".risk .where a").first.press("Enter")
    page.wait_for_function("document.querySelector('#a1').open")
    assert page.evaluate("document.activeElement.closest('details').id") == "a1"


def test_the_page_works_without_its_script(open_page: Open) -> None:
    page = open_page(_many(12), java_script_enabled=False)
    assert page.locator(".bar").is_hidden()
    assert len(_visible_agents(page)) == 12
    page.locator("details.agent > summary").nth(1).press("Enter")
    assert page.locator("details.agent").nth(1).locator(".turns").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "review", [sample_review(), review_of_text(HOSTILE)], ids=["sample", "odd"]
)
def test_text_stands_out_in_both_themes(open_page: Open, scheme: str, review: Review) -> None:
    page = open_page(review, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
    page.locator("[data-only]").first.click()
    found = page.evaluate(_LOW_CONTRAST)
    assert found["seen"] > 100
    assert found["low"] == []


def test_light_and_dark_differ(open_page: Open) -> None:
    colours = {
        open_page(sample_review(), color_scheme=scheme).evaluate(
            "getComputedStyle(document.body).backgroundColor"
        )
        for scheme in ("light", "dark")
    }
    assert len(colours) == 2


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_hangs_over_the_side(open_page: Open, width: int) -> None:
    for review in (sample_review(), review_of_text(HOSTILE), review_of_text("x" * 400)):
        page = open_page(review, viewport={"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_hostile_memory_is_inert(open_page: Open) -> None:
    page = open_page(review_of_text(HOSTILE))
    assert page.locator("script").count() == 1
    assert page.locator("img, iframe, object, svg").count() == 0
    said = page.locator(".turn.appended .say").inner_text()
    assert "<script>alert(1)</script>" in said
    assert "⟨U+202E⟩gnp.exe⟨U+202C⟩" in said


def test_an_escape_that_failed_could_still_run_nothing(open_page: Open, tmp_path: Path) -> None:
    page = open_page(sample_review())
    file = tmp_path / "injected.html"
    hole = "<script>document.title='ran'</script><b onclick=\"document.title='ran'\">x</b>"
    file.write_text(review_html(sample_review()).replace("<main>", f"<main>{hole}"), "utf-8")
    other = page.context.browser.new_page()  # type: ignore[union-attr]
    other.goto(file.as_uri())
    other.locator("main > b").click()
    assert other.title() == "Memory review of trial/refunds: fail"
    other.close()


def test_print_shows_what_is_folded(open_page: Open) -> None:
    page = open_page(_many(12))
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.agent[open]").count() == 0
