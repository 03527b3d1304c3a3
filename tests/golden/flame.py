# SPDX-License-Identifier: GPL-2.0-only
"""usage: flame.py FILE.svg REPORT.json CHECK: one of the checks below, in Chromium, for flame.bats"""

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from browser import Shown, run

FRAMES = """
const shown = Array.from(document.querySelectorAll('svg.flame .f')).filter((g) => g.getAttribute('display') !== 'none');
return shown.map((g) => {
    const rect = g.querySelector('rect').getBoundingClientRect(), text = g.querySelector('text');
    const title = g.querySelector('title').textContent;
    return {
        title, name: title.split('\\n')[0],
        depth: Number(g.dataset.depth), start: Number(g.dataset.start), ns: Number(g.dataset.ns),
        kind: g.classList.value,
        x: rect.x, y: rect.y, width: rect.width,
        label: text.textContent, right: text.getBoundingClientRect().right,
    };
})"""
CLICK = """
const g = [...document.querySelectorAll('.f')].find((g) => g.getAttribute('display') !== 'none' &&
    g.querySelector('title').textContent.startsWith(arguments[0] + '\\n'));
g.querySelector('rect').dispatchEvent(new MouseEvent('click', { bubbles: true }));"""


class Picture(Shown):
    def frames(self):
        """Those on display, each with those directly below it: they stand in the tree's order."""
        path, frames = [], self.js(FRAMES)
        for f in frames:
            f["below"] = []
            del path[f["depth"]:]
            if path:
                path[-1]["below"].append(f)
            path.append(f)
        return frames

    def named(self, name):
        return next(f for f in self.frames() if f["name"] == name)

    def click(self, name):
        self.js(CLICK, name)

    def words(self, selector):
        return self.js("return document.querySelector(arguments[0]).textContent", selector)

    def style(self, selector, name):
        return self.js("return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]", selector, name)

    def focused(self):
        return self.js("return document.activeElement.matches('.f') && "
                       "document.activeElement.querySelector('title').textContent.split('\\n')[0]")


def adds_up(frames, slack):
    """In nanoseconds exactly, on the screen but for rounding: what is below a frame fills it, no gap, no overlap."""
    for f in frames:
        below = sorted(f["below"], key=lambda b: b["start"])
        if not below or "above" in f["kind"]:
            continue
        assert sum(b["ns"] for b in below) == f["ns"], f["title"]
        at = f["start"]
        for b in below:
            assert b["start"] == at, b["title"]
            at += b["ns"]
            assert abs(b["x"] - f["x"] - (b["start"] - f["start"]) / f["ns"] * f["width"]) < slack, b["title"]
            assert abs(b["width"] - b["ns"] / f["ns"] * f["width"]) < slack, b["title"]
            assert b["y"] > f["y"]


def words_fit(frames):
    for f in frames:
        assert not f["label"] or f["right"] <= f["x"] + f["width"] + 0.5, (f["label"], f["title"])


def widths(p):
    for width in (1280, 390):
        p.open(width)
        frames = p.frames()
        assert frames[0]["ns"] == p.report["sync"]["total_ns"] == sum(p.report["sync"]["ledger"].values())
        assert abs(frames[0]["width"] - (width - 20)) < 1, frames[0]["width"]
        adds_up(frames, 0.02)
        words_fit(frames)
        leaves = [f for f in frames if any("cell" in b["kind"] for b in f["below"])]
        assert len(leaves) == len(p.report["sync"]["leaves"])
        assert sorted(sum(b["ns"] for b in f["below"] if "cell" in b["kind"]) for f in leaves) == \
            sorted(leaf["ns"] for leaf in p.report["sync"]["leaves"])
        assert p.js("return document.documentElement.scrollWidth") <= width


def zoom(p):
    p.open()
    before = p.frames()
    call = next(f for f in before if f["name"] == "fdatasync")
    p.click("fdatasync")
    after = p.frames()
    assert p.named("fdatasync")["width"] == after[0]["width"] == before[0]["width"], "it is as wide as the picture"
    assert [f["name"] for f in after if "above" in f["kind"]] == ["all sync calls", "python3"]
    assert not any(f["name"] == "fsync" for f in after), "what is beside it is gone"
    inside = [f for f in after if f["depth"] > call["depth"]]
    end = call["start"] + call["ns"]
    assert inside and all(call["start"] <= f["start"] and f["start"] + f["ns"] <= end for f in inside)
    adds_up(after, 0.02)
    words_fit(after)
    assert sum(len(f["label"]) for f in inside) > \
        sum(len(f["label"]) for f in before if f["title"] in {i["title"] for i in inside}), "there is more to read"
    p.click("all sync calls")
    assert p.frames() == before, "a click on what is above leads back"
    p.click("fdatasync")
    p.js("document.querySelector('.button').dispatchEvent(new MouseEvent('click', { bubbles: true }))")
    assert p.frames() == before, "so does the button"
    p.click(next(f["below"][0]["name"] for f in before if len(f["below"]) > 1 and "cell" in f["below"][0]["kind"]))
    after = p.frames()
    assert len(after) < len(before) and after[-1]["width"] < after[0]["width"] == after[-1 - sum(
        "cell" in f["kind"] for f in after)]["width"], "a click on a cell zooms to what it is a part of"


def search(p):
    p.open()
    p.press("/", "FLUSH.P", "X", Keys.BACKSPACE)
    want = sum(ns for cause, ns in p.report["sync"]["ledger"].items() if cause.startswith("flush.p"))
    share = f"{want / p.report['sync']['total_ns'] * 100:.1f} %"
    assert p.js("return document.querySelector('.found').getAttribute('data-ns')") == str(want)
    assert p.words(".found").startswith(f"matched {share}: "), p.words(".found")
    assert p.words(".field text") == "FLUSH.P"
    kinds = p.js("return [...document.querySelectorAll('.f')].map((g) => "
                 "[g.querySelector('title').textContent.split('\\n')[0], g.matches('.hit'), g.matches('.miss')])")
    assert all(hit == name.startswith("flush.p") for name, hit, miss in kinds)
    assert any(miss for name, hit, miss in kinds) and not any(hit and miss for name, hit, miss in kinds)
    p.press(Keys.HOME, Keys.DELETE, "f", Keys.ARROW_RIGHT, "r/", Keys.END, " x")
    assert p.words(".field text") == "fLr/USH.P x", "keys of the picture are letters in the field"
    assert p.words(".found") == "no match"
    p.press(Keys.ESCAPE)
    assert p.words(".found") == "" and not p.js("return document.querySelectorAll('.hit, .miss').length")
    p.press("/", "o")
    assert p.words(".found").startswith("matched 100 %: "), "what is below a match is not counted twice"
    p.press(Keys.ENTER)
    assert p.focused() == "python3"
    p.press("r")
    assert p.words(".found") == "", "r resets the search, too"
    ActionChains(p.browser).key_down(Keys.CONTROL).send_keys("f").key_up(Keys.CONTROL).perform()
    assert p.js("return document.activeElement.matches('.field')")


def keyboard(p):
    p.open()
    p.press(Keys.TAB, Keys.TAB, Keys.TAB)
    assert p.focused() == "all sync calls", p.js("return document.activeElement.outerHTML")[:200]
    p.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert p.focused() == "fsync"
    p.press(Keys.ARROW_RIGHT)
    assert p.focused() == "fdatasync"
    figures = p.named("fdatasync")["title"].split("\n")[1]
    assert p.words(".details") == "python3 › fdatasync · " + figures and " ns), " in figures, "of what has the focus"
    before = p.frames()
    p.press(Keys.ENTER)
    assert len(p.frames()) < len(before) and p.focused() == "fdatasync", "Enter zooms"
    p.press(Keys.ESCAPE)
    assert p.frames() == before, "Escape resets"
    p.press(Keys.ENTER, "r")
    assert p.frames() == before, "r resets"
    p.press(Keys.ARROW_LEFT, Keys.ARROW_UP, Keys.ARROW_UP, Keys.ARROW_UP)
    assert p.focused() == "all sync calls"
    p.press(Keys.ARROW_LEFT)
    assert p.focused() == "all sync calls", "there is an end to it"
    assert p.js("return document.querySelector('.f:focus').getAttribute('aria-level')") == "1"
    box = "const b = document.querySelector(arguments[0]).getBoundingClientRect(); return [b.x, b.y, b.width]"
    cursor, rect = p.js(box, ".cursor"), p.js(box, ".f:focus rect")
    assert cursor == rect, "it is marked"


def details(p):
    p.open()
    leaf = next(f for f in p.frames() if " times: p50 " in f["title"])
    p.js("[...document.querySelectorAll('.f')].find((g) => g.querySelector('title').textContent === arguments[0])"
         ".querySelector('rect').dispatchEvent(new MouseEvent('mouseover', { bubbles: true }))", leaf["title"])
    assert p.words(".details").endswith(" › " + " · ".join(leaf["title"].split("\n")))
    assert ", longest " in leaf["title"]
    p.js("document.querySelector('.frames').dispatchEvent(new MouseEvent('mouseleave'))")
    assert p.words(".details").startswith("Point at a frame")


def noscript(p):
    p.emulate("setScriptExecutionDisabled", value=True)
    p.open()
    p.emulate("setScriptExecutionDisabled", value=False)
    assert not p.js("return document.querySelector('svg').matches('.on')"), "the script has not run"
    frames = p.frames()
    adds_up(frames, 0.02)
    words_fit(frames)
    assert any(f["label"].startswith("flush.post") for f in frames) and p.words(".title")


def media(p):
    white, black = "rgb(255, 255, 255)", "rgb(0, 0, 0)"
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    p.open()
    assert p.style("svg", "backgroundColor") == white
    p.emulate("setEmulatedMedia", features=dark)
    assert p.style("svg", "backgroundColor") != white and p.style(".title", "fill") == "rgb(232, 230, 225)"
    p.emulate("setEmulatedMedia", media="print", features=dark)
    assert p.style("svg", "backgroundColor") == "rgba(0, 0, 0, 0)" and p.style(".title", "fill") == black
    assert p.style(".sub", "fill") == black and p.style(".f text", "fill") == black
    assert p.style(".controls", "display") == "none"


def hostile(p):
    p.open()
    assert any(f["name"] == "script>" for f in p.frames())
    assert p.js("return document.querySelectorAll('script').length") == 1, "the one of ours"
    adds_up(p.frames(), 0.02)
    p.press("/", "<script>")
    assert p.words(".found") == "no match" and p.words(".field text") == "<script>"


run(Picture, (widths, zoom, search, keyboard, details, noscript, media, hostile))
