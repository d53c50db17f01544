"""Checks that each link of a built site leads to a file and a section of it: python3 check_links.py FOLDER

Prints what is broken, and anything that a page would load from the network; exits with 1 if there is any.
"""
import html.parser
import pathlib
import sys
import urllib.parse

root = pathlib.Path(sys.argv[1]).resolve()


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), [], []
        self.feed(path.read_text(errors="replace"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(values[name] for name in ("id", "name") if values.get(name))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        elif tag == "link" and values.get("href") and values.get("rel") != "canonical":
            self.loaded.append(values["href"])
        elif tag in ("img", "script", "iframe") and values.get("src"):
            self.loaded.append(values["src"])


pages = {path: Page(path) for path in root.rglob("*.html")}
broken = []
followed = 0
for path, page in pages.items():
    for link in page.loaded:
        if urllib.parse.urlsplit(link).netloc:
            broken.append(f"{path.relative_to(root)} loads {link} from the network")
    # The page of a wrong address has links from the site's root.
    if path.name == "404.html":
        continue
    for link in page.links + page.loaded:
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        followed += 1
        to = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
        to = to / "index.html" if to.is_dir() else to
        anchor = urllib.parse.unquote(parts.fragment)
        if not to.is_file():
            broken.append(f"{path.relative_to(root)} links to {link}: there is no such file")
        elif anchor and to in pages and anchor not in pages[to].anchors:
            broken.append(f"{path.relative_to(root)} links to {link}: there is no such section")

print("\n".join(sorted(set(broken))), file=sys.stderr, end="\n" if broken else "")
print(f"{len(pages)} pages, {followed} links, {len(set(broken))} broken")
sys.exit(1 if broken or not followed else 0)
