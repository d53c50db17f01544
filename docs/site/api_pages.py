"""Makes pages of the site of Doxygen's: python3 api_pages.py FOLDER

Each keeps its name and its anchors, and gets the site's navigation, colours and search.
"""
import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1])
title = re.compile(r'<div class="title">(.*?)</div>', re.S)
contents = re.compile(r'<div class="contents">\n(.*)</div><!-- contents -->', re.S)
# What Doxygen's own scripts would need: pictures that fold a list, and the levels of a tree.
folding = re.compile(r'<div class="levels">.*?</div>| onclick="[^"]*"|<img src="[^"]*" alt="-"/>(&#160;)?'
                     r'|<span[^>]* class="arrow"[^>]*>.*?</span>|<span class="icona?">.*?</span>(</span>)?', re.S)
kinds = re.compile(r" (Class|Struct|File|Namespace)( Template)? Reference$")

made = 0
for path in folder.glob("*.html"):
    text = path.read_text()
    name, body = title.search(text), contents.search(text)
    path.unlink()
    if not body:
        continue
    heading = kinds.sub("", re.sub(r"<[^>]*>", "", name.group(1))) if name else path.stem
    # An empty line would end the HTML for Markdown.
    lines = (line for line in folding.sub("", body.group(1)).splitlines() if line.strip())
    path.with_suffix(".md").write_text(
        f'# {heading}\n\n<div class="api" markdown="0">\n' + "\n".join(lines) + "\n</div>\n")
    made += 1
for path in folder.iterdir():
    if path.suffix != ".md":
        if path.is_dir():
            for file in path.iterdir():
                file.unlink()
            path.rmdir()
        else:
            path.unlink()
if made < 50:
    sys.exit(f"{folder} has only {made} pages that could be read")
