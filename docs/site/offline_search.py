"""Makes the search of a built site work for pages that are opened as files, and leaves the headers' text out of it:
python3 offline_search.py FOLDER

A browser lets a page of a file:// address read no other file and start no worker from one, except by <script>. So the
index of the search and the code of its worker are also written as a script, which docs/site/theme/main.html loads for
such pages. The theme takes both from the global object __search.
"""
import json
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
workers = list(root.glob("assets/javascripts/workers/search.*.min.js"))
if len(workers) != 1:
    sys.exit(f"{root} has {len(workers)} workers of the search, not one")
index = json.loads((root / "search/search_index.json").read_text())
# The text of the headers would be found before the page of what they declare.
index["docs"] = [page for page in index["docs"] if not re.match(r"api/.*(_source|-members)\.html", page["location"])]
(root / "search/search_index.json").write_text(json.dumps(index, ensure_ascii=False, separators=(",", ":")))


def script(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# A worker from a blob is allowed.
(root / "search/offline.js").write_text(
    f"var __search = {{\n"
    f"index: Promise.resolve({script(index)}),\n"
    f"worker: URL.createObjectURL(new Blob([{script(workers[0].read_text())}]))\n"
    f"}};\n")
