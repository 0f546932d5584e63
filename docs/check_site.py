"""Every link of the built site to a page, a file or an anchor of its own must lead somewhere: `make docs` runs this."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The anchors of a page, and what it points to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors, self.links = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs) -> None:
        given = {name: value for name, value in attrs if value}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        self.links |= {given[name] for name in ("href", "src") if name in given}


def broken(site: Path) -> list[str]:
    """The links that lead nowhere, each with the page on which it stands; those to other sites are not followed."""
    files = {path.resolve(): path for path in site.rglob("*.html") if "pages" not in path.relative_to(site).parts}
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in files}
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            lost = anchor and target in pages and anchor not in pages[target].anchors
            if not target.exists() or lost:
                found.append(f"{files[path].relative_to(site)}: {link}")
    return sorted(found)


if __name__ == "__main__":
    lost = broken(Path(sys.argv[1]))
    print("\n".join(lost), file=sys.stderr)
    print(f"links: {len(lost)} lead nowhere" if lost else "links and anchors: all lead somewhere")
    sys.exit(bool(lost))
