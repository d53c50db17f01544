"""Searches a built site in a browser, opened as a file and served: python3 check_search.py FOLDER

Needs chromium and chromedriver. Exits with 1 if a search finds nothing, or leads to no page.
"""
import functools
import http.server
import json
import pathlib
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

root = pathlib.Path(sys.argv[1]).resolve()
query = "fencing token"


def server_of(folder):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Browser:
    """A session of chromedriver."""

    def __init__(self):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        port = next(line for line in self.driver.stdout if "successfully on port" in line).rstrip(".\n").split()[-1]
        self.address = f"http://127.0.0.1:{port}/session"
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1300,900"]
        options = {"goog:chromeOptions": {"args": arguments}}
        self.address += "/" + self.call("", {"capabilities": {"alwaysMatch": options}})["sessionId"]

    def call(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"})
        return json.load(urllib.request.urlopen(request, timeout=60))["value"]

    def run(self, code):
        return self.call("/execute/sync", {"script": code, "args": []})

    def close(self):
        try:
            urllib.request.urlopen(urllib.request.Request(self.address, method="DELETE"), timeout=60)
        finally:
            self.driver.terminate()
            self.driver.wait()


def search(browser, url):
    """The addresses that a search on this page finds first."""
    browser.call("/url", {"url": url})
    browser.run("document.getElementById('__search').checked = true")
    field = browser.call("/element", {"using": "css selector", "value": "input.md-search__input"})
    try:
        browser.call(f"/element/{next(iter(field.values()))}/value", {"text": query})
    except urllib.error.HTTPError:
        return []  # the theme hides the field if the search cannot work
    end = time.monotonic() + 20
    while time.monotonic() < end:
        links = browser.run("return [...document.querySelectorAll('.md-search-result__item a')].map(a => a.href)")
        if links:
            return links
        time.sleep(0.1)
    return []


browser, server = Browser(), server_of(root)
failed = False
try:
    for base in (root.as_uri(), f"http://127.0.0.1:{server.server_port}"):
        links = search(browser, base + "/docs/guide.html")
        files = [root / link.removeprefix(base + "/").split("#")[0].split("?")[0] for link in links]
        bad = [str(file) for file in files if not file.is_file()]
        failed = failed or bool(bad) or not links
        print(f"a search for '{query}' on {base.split(':')[0]}:// shows {len(links)} links" + "".join(
            f"\n  {file} is no file" for file in bad))
finally:
    browser.close()
    server.shutdown()
sys.exit(failed)
