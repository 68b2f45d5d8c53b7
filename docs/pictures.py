"""Photographs a review's page for the documentation; ``docs/make_pictures`` calls it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, sync_playwright

IMAGES = Path(__file__).parent / "img"
WIDTH = 1100
_CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_QUIET = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"]


def main(page: Path) -> None:
    """Make every picture of ``page``: its upper part, light and dark, and the first agent."""
    wanted = os.environ.get("MEMREPO_CHROMIUM")
    names = [wanted] if wanted else _CHROMIUM
    chromium = next((found for name in names if (found := shutil.which(name))), None)
    if chromium is None:
        sys.exit("docs/make_pictures: no Chromium here; install it, or name it in MEMREPO_CHROMIUM")
    size: ViewportSize = {"width": WIDTH, "height": 900}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=_QUIET)
        light = browser.new_page(viewport=size, color_scheme="light")
        dark = browser.new_page(viewport=size, color_scheme="dark")
        for view, name in ((light, "review.png"), (dark, "review-dark.png")):
            view.goto(page.resolve().as_uri())
            overview(view, IMAGES / name)
        light.locator("details.agent").first.screenshot(path=IMAGES / "review-agent.png")
        browser.close()


def overview(view: Page, path: Path) -> None:
    """The page from its top to where the agents begin."""
    box = view.locator("#agents").bounding_box()
    if box is None:
        sys.exit("docs/make_pictures: the page has no place called #agents")
    height = box["y"] - 16
    view.screenshot(
        path=path, clip={"x": 0, "y": 0, "width": WIDTH, "height": height}, full_page=True
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
