"""Copies the pages to a folder with the repository's paths, for mkdocs: python3 stage.py REPOSITORY PAGES

A link to a header leads to its page of the API reference, one to an example to the page of examples; whatever else is not
a page is shown as text.
"""
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys

repository, pages = (pathlib.Path(argument) for argument in sys.argv[1:3])
languages = {".txt": "cmake", ".py": "python", ".cpp": "cpp", ".hpp": "cpp", ".sh": "bash", ".yml": "yaml"}
link = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]*)(#[^)\s]*)?\)")


def examples():
    paths = (path for path in (repository / "examples").rglob("*") if path.suffix in languages)
    paths = (path for path in paths if path != repository / "examples/CMakeLists.txt")
    return sorted((path.relative_to(repository).as_posix() for path in paths), key=lambda path: (path.count("/"), path))


def anchor(path):
    return path.replace("/", "-")


def target(path, page):
    """Where a link to a path of the repository leads on the site, from the given page; None if nowhere."""
    if path.startswith("include/rowlock"):
        name = posixpath.basename(path).replace("_", "__").replace(".", "_8") + ".md" if path.endswith(".hpp") else "files.md"
        return posixpath.relpath("api/" + name, posixpath.dirname(page) or ".")
    if path == "examples" or path.startswith("examples/"):
        page_of_examples = posixpath.relpath("examples.md", posixpath.dirname(page) or ".")
        return page_of_examples + ("#" + anchor(path) if path in examples() else "")
    if path == "docs/rowlock.1":
        return posixpath.relpath("docs/rowlock.1.md", posixpath.dirname(page) or ".")
    if path == "LICENSE":
        return posixpath.relpath("LICENSE.txt", posixpath.dirname(page) or ".")
    return None


def with_links(text, page):
    def replaced(match):
        image, words, to, section = match.groups()
        if image or not to or "://" in to or to.endswith(".md"):
            return match.group()
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), to))
        leads_to = target(path, page)
        return f"[{words}]({leads_to}{section or ''})" if leads_to else words

    # Code is no link, however it looks.
    parts = re.split(r"(^```.*?^```$|`[^`\n]+`)", text, flags=re.M | re.S)
    # A link's words may be code: those are put together again before.
    whole, pending = [], ""
    for part in parts:
        if part.startswith("```"):
            whole += [link.sub(replaced, pending), part]
            pending = ""
        else:
            pending += part
    return "".join(whole + [link.sub(replaced, pending)])


def put(path, text):
    to = pages / path
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(text)


for path in [*repository.glob("*.md"), *(repository / "docs").rglob("*.md"), repository / "packaging/README.md"]:
    page = path.relative_to(repository).as_posix()
    # Without its table of contents, the code of the first page fits into a window of 1,280 pixels.
    settings = "---\nhide: [toc]\n---\n\n" if page == "README.md" else ""
    put(page, settings + with_links(path.read_text(), page))

manual = subprocess.run(
    ["mandoc", "-T", "html", "-O", "fragment", str(repository / "docs/rowlock.1")],
    check=True, capture_output=True, text=True).stdout
put("docs/rowlock.1.md", "# rowlock(1)\n\n<div class=\"manual\">\n" + manual + "</div>\n")

shown = ["# Examples\n\nSmall programs and scripts to copy. The tests build and run them.\n"]
for path in examples():
    text = (repository / path).read_text()
    name = path.removeprefix("examples/")
    shown.append(f"## {name} {{#{anchor(path)}}}\n\n```{languages[pathlib.Path(path).suffix]}\n{text}```\n")
put("examples.md", "\n".join(shown))

shutil.copytree(repository / "docs/diagrams", pages / "docs/diagrams", dirs_exist_ok=True,
                ignore=shutil.ignore_patterns("*.dot", "*.msc"))
shutil.copytree(repository / "docs/pictures", pages / "docs/pictures", dirs_exist_ok=True)
(pages / "docs/site").mkdir(parents=True, exist_ok=True)
shutil.copy(repository / "docs/site/site.css", pages / "docs/site/site.css")
shutil.copy(repository / "LICENSE", pages / "LICENSE.txt")
