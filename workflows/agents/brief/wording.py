"""The few words of its own that a brief has, in English and Chinese: only what the sources' dates and counts can vouch for."""

from collections.abc import Mapping

from app.domain.evidence import Source
from app.domain.query import Language
from workflows.agents.wording import fill_wording

EN, ZH = Language.ENGLISH, Language.CHINESE

WORDINGS: Mapping[str, Mapping[Language, str]] = {
    "found": {
        EN: "passages read: {passages}; statements chosen: {quotes}; sources: {sources}",
        ZH: "阅读段落{passages}个；选出陈述{quotes}条；来源{sources}个",
    },
    "missing": {
        EN: "No source searched has these words of the question: {words}.",
        ZH: "所检索的资料中没有问题里的这些词：{words}。",
    },
    "weak": {
        EN: "Nothing in the sources searched may answer “{question}”. These are the nearest passages.",
        ZH: "所检索的资料中可能没有“{question}”的答案。以下是最接近的段落。",
    },
    "other_language": {
        EN: "Most passages found are in another language than “{question}”, and may be beside the point. "
        "Ask in the language of the documents, or with a language model.",
        ZH: "找到的段落大多与“{question}”语言不同，可能并不切题。请用资料所用的语言提问，或使用语言模型。",
    },
    "nothing": {
        EN: "Nothing was found: no passage of the sources searched shares a word with the question. Without a language model "
        "nothing is found in another language than yours. Name other collections, or ask in the language of the documents.",
        ZH: "没有找到任何内容：所检索的资料中没有与问题有相同词语的段落。没有语言模型时，无法在其他语言的资料中查找。"
        "请选择其他资料，或用资料所用的语言提问。",
    },
    "nothing_yet": {
        EN: "Nothing was found, but not everything was searched, so there may be an answer all the same. Ask again later.",
        ZH: "没有找到任何内容，但并非所有资料都已检索，因此仍可能有答案。请稍后再问。",
    },
    "nothing_heading": {EN: "Nothing was found", ZH: "没有找到内容"},
    "no_model": {
        EN: "Written without a language model: every statement is quoted word for word from its source.",
        ZH: "本报告未使用语言模型：每条陈述均逐字引自其来源。",
    },
    "by_time": {EN: "The sources are in the order of time.", ZH: "来源按时间先后排列。"},
    "no_model_but": {
        EN: "First written without a language model. Changed since: {changed}. Every other statement is quoted word for word "
        "from its source.",
        ZH: "本报告最初未使用语言模型。此后有改动：{changed}。其余陈述均逐字引自其来源。",
    },
    "no_model_first": {
        EN: "First written without a language model. All of it was changed since: {changed}.",
        ZH: "本报告最初未使用语言模型，此后全文均有改动：{changed}。",
    },
    "changed_by_model": {EN: "“{title}” by the model {model}", ZH: "“{title}”由模型{model}改写"},
    "changed_by_reader": {EN: "“{title}” by a reader", ZH: "“{title}”由读者改写"},
    "read_as": {
        EN: "“{written}” was read as “{read}”: no source has the word as it was written.",
        ZH: "“{written}”按“{read}”理解：资料中没有原来的写法。",
    },
    "style_unmet": {
        EN: "The tone and audience you chose could not be followed: without a language model the words are the sources' own.",
        ZH: "未能按所选的语气和读者对象来写：没有语言模型时，文字均为来源原文。",
    },
    "overview": {EN: "At a glance", ZH: "一览"},
    "column_source": {EN: "Source", ZH: "来源"},
    "column_date": {EN: "Date", ZH: "日期"},
    "column_statement": {EN: "Statement", ZH: "陈述"},
    "and": {EN: ", ", ZH: "、"},
}


def tell(what: str, language: Language, /, **values: object) -> str:
    """Return one of these sentences with its values filled in."""
    return fill_wording(WORDINGS, what, language, values)


def title_of(source: Source, language: Language) -> str:
    """Return a source's title with its author and its date, unless the title names them."""
    author = source.author if source.author and source.author not in source.title else ""
    named = ": ".join(filter(None, (author, " ".join(source.title.split()))))
    day = format_date(source, language)
    return f"{named} ({day})" if source.published and str(source.published.year) not in named else named


def format_date(source: Source, language: Language) -> str:
    """Return month and year of publication; the year alone for a first of January, which stands for an unknown day."""
    published = source.published
    if published is None:
        return ""
    if (published.month, published.day) == (1, 1):
        return str(published.year)
    return f"{published.year}年{published.month}月" if language is Language.CHINESE else f"{published:%Y-%m}"
