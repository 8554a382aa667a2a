"""All use cases of preferences, over one database."""

from dataclasses import dataclass

from app.comparisons.service.comparisons import Comparisons
from app.comparisons.service.offers import Offers
from app.database.tenancy import TenantDatabase
from app.preferences.service.annotation import Annotation
from app.preferences.service.feedback import Feedback
from app.preferences.service.winners import Winners
from app.runs.service.research import Research
from app.runs.service.steering import Steering


@dataclass(frozen=True)
class Preferences:
    """Comparing, rating and flagging, annotation, and what the votes say."""

    comparisons: Comparisons
    feedback: Feedback
    annotation: Annotation
    winners: Winners
    offers: Offers


def preferences(database: TenantDatabase, research: Research, steering: Steering, offers: Offers | None) -> Preferences:
    """The use cases as requests need them."""
    comparisons = Comparisons(database, research, steering, offers)
    return Preferences(
        comparisons,
        Feedback(database, research),
        Annotation(database, comparisons),
        Winners(database, offers),
        offers or Offers(None),
    )
