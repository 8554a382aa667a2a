"""Makes questions about the default corpus, no two alike: the same number is always the same question."""

TOPICS = (
    "tariffs",
    "the public debt",
    "railroads",
    "immigration",
    "the navy",
    "the currency and silver",
    "Native American policy",
    "veterans' pensions",
    "foreign trade",
    "the Panama Canal",
    "agriculture",
    "education",
    "civil service reform",
    "the postal service",
    "public lands",
    "the budget deficit",
)
FORMS = (
    "How did presidents justify their policy on {topic} before {year}?",
    "What did presidents ask Congress to do about {topic} after {year}?",
    "How did the arguments about {topic} change around {year}?",
)
FIRST_YEAR = 1800
YEARS = 22
STEP = 9
# With the stub's own shape a deep run makes 67 model calls and 12 searches.
EFFORT = "deep"


def make_question(number: int) -> str:
    """Return the question of this number (0, 1, 2, ...); they repeat after 1056."""
    topic = TOPICS[number % len(TOPICS)]
    form = FORMS[number // len(TOPICS) % len(FORMS)]
    year = FIRST_YEAR + STEP * (number // (len(TOPICS) * len(FORMS)) % YEARS)
    return form.format(topic=topic, year=year)
