"""Titles and authors that programs write into files without being asked."""

import re

_OFFICE = (
    r"(?:microsoft\s+)?(?:office\s+)?"
    r"(?:word|excel|powerpoint|publisher|visio|works|onenote|writer|impress|calc|pages|numbers|keynote)"
)
_INVENTED_TITLE = re.compile(
    rf"""
    {_OFFICE}\s*[-–—:]\s*.*                       # "Microsoft Word - Document1": a program, then a file's name
    | {_OFFICE}(?:\s+(?:document|presentation|workbook|template|dokument))?
    | (?:new\s+|neues\s+|nouveau\s+)?(?:microsoft\s+)?(?:word\s+|excel\s+|pdf\s+|text\s+)?
      (?:untitled|unbenannt|ohne\ titel|sans\ titre|sin\ título|senza\ titolo|sem\ título|no\ title|title|titel
        |anonymous|unknown|unspecified
        |(?:(?:un)?titled\s+)?(?:document|dokument|doc|presentation|présentation|präsentation|workbook|book|mappe|classeur|template|vorlage|slide))
      (?:[\s_-]*\(?\d+\)?)?
    | .*(?:[\\]|^/|^file:|^[a-z]:/).*               # a path
    | \S+\.[a-z]{{2,5}}/?                            # an address
    | .*\.(?:docx?|dotx?|rtf|odt|pages|pptx?|potx?|odp|key|xlsx?|xltx?|ods|indd|qxd|p65|tex|dvi|e?ps|pdf
        |html?|aspx?|php|md|txt|wpd|tiff?|jpe?g|png)
    | (?:scan|scanned|img|image|fax|print|job)[\s_-]*(?:\d[\d\s_.:-]*|of\b.*)?
    | [\W\d_]*
    """,
    re.IGNORECASE | re.VERBOSE,
)
_INVENTED_AUTHOR = re.compile(
    r"(?:the\s+)?(?:admin(?:istrator)?|(?:windows|office|microsoft(?:\s+office)?)\s+(?:user|anwender)|user\d*|benutzer|owner|author|guest|default|root|pc|hp|dell|"
    r"un\s*titled|unknown|anonymous|microsoft(?:\s+corporation)?|scanner)",
    re.IGNORECASE,
)


def drop_invented_title(title: str) -> str:
    """Return a title; empty where a program has made it: its own name, a template's, a file's path or name, or a number."""
    return "" if _INVENTED_TITLE.fullmatch(" ".join(title.split()).strip(" ()<>[]\"'")) else title


def drop_invented_author(author: str) -> str:
    """Return an author; empty where it is the account of nobody in particular."""
    return "" if _INVENTED_AUTHOR.fullmatch(" ".join(author.split())) else author
