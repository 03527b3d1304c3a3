# SPDX-License-Identifier: GPL-2.0-only
"""Chromium with one of our files in it, for flame.py and html.py. It resolves no name."""

import json
import shutil
import sys

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains

ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
             "--host-resolver-rules=MAP * ~NOTFOUND")


class Shown:
    phone_below = 0  # pixels: a window this narrow is a phone's

    def __init__(self, file, report):
        self.file = "file://" + file
        with open(report, encoding="utf-8") as f:
            self.report = json.load(f)
        options = webdriver.ChromeOptions()
        for argument in ARGUMENTS:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.browser = webdriver.Chrome(service=Service(executable_path=shutil.which("chromedriver")), options=options)
        self.js = self.browser.execute_script

    def emulate(self, what, **values):
        self.browser.execute_cdp_cmd("Emulation." + what, values)

    def open(self, width=1280, height=800):
        self.emulate("setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                     mobile=width < self.phone_below)
        self.browser.get(self.file)

    def press(self, *keys):
        ActionChains(self.browser).send_keys(*keys).perform()

    def quiet(self):
        """Nothing in the console, nothing asked of anybody."""
        console = self.browser.get_log("browser")
        assert not console, console
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                assert url == self.file or url.startswith(("data:", "blob:")), url


def run(kind, checks):
    """FILE REPORT.json CHECK from the command line: the check of that name."""
    file, report, name = sys.argv[1:]
    it = kind(file, report)
    try:
        next(c for c in checks if c.__name__ == name)(it)
        it.quiet()
    finally:
        it.browser.quit()
