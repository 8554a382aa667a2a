"""Titles and authors that programs write into files without being asked."""

import re

_OFFICE = (
    r"(?:microsoft\s+)?(?:office\s+)?"
    r"(?:word|excel|powerpoint|publisher|visio|works|onenote|writer|impress|calc|pages|numbers|keynote)"
)
_FILE = (
    r"(?:document|dokument|documento|doc|документ|文档|文件|文書|문서"
    r"|pr[eé]sentation|präsentation|presentación|presentazione|apresentação|presentatie|prezentacja|презентация|演示文稿|簡報"
    r"|プレゼンテーション|프레젠테이션"
    r"|workbook|spreadsheet|book|mappe|arbeitsmappe|classeur|libro|cartella|pasta|werkmap|skoroszyt|книга|工作簿|表格|活頁簿"
    r"|template|vorlage|modèle|plantilla|slide|folie|diapositive|layout|print|drawing|zeichnung)"
)
"""What programs call a new file in the languages of their users."""
_UNTITLED = (
    r"(?:(?:un)?titled|unbenannt|ohne\s+titel|sans\s+(?:titre|nom)|sin\s+título|senza\s+(?:titolo|nome)|sem\s+título|zonder\s+titel"
    r"|naamloos|bez\s+(?:tytułu|nazwy)|без\s+(?:названия|имени)|无标题|無標題|未命名|無題|名称未設定|제목\s*없음|no\s+title|title|titel"
    r"|anonymous|unknown|unspecified)"
)
_INVENTED_TITLE = re.compile(
    rf"""
    {_OFFICE}\s*[-–—:]\s*.*                       # "Microsoft Word - Document1": a program, then a file's name
    | (?:new\s+|neues\s+|nouveau\s+)?(?:microsoft\s+)?(?:{_OFFICE}[\s-]*|(?:pdf|text|google)\s+)?
      (?:{_OFFICE}|{_UNTITLED}|(?:{_UNTITLED}\s*)?{_FILE}(?:\s+(?:de\s+)?{_OFFICE})?)
      (?:[\s_-]*\(?\d+\)?)?
    | .*(?:[\\]|^/|^file:|^about:|^[a-z]:/).*       # a path
    | \S+\.[a-z]{{2,5}}/?                            # an address
    | .*\.(?:docx?|dotx?|rtf|odt|pages|pptx?|potx?|odp|key|xlsx?|xltx?|ods|indd|qxd|p65|tex|dvi|e?ps|pdf
        |html?|aspx?|php|md|txt|wpd|tiff?|jpe?g|png)
    | (?:scan|scanned|img|image|fax|print|job)[\s_-]*(?:\d[\d\s_.:-]*|of\b.*|document|image)?
    | full\s+page\s+photo
    | [\da-f]{{8}}(?:-[\da-f]{{4}}){{3}}-[\da-f]{{12}}  # a UUID
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
