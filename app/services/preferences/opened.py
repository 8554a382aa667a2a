"""All use cases of preferences, over one database."""

from dataclasses import dataclass

from app.services.preferences.annotation import Annotation
from app.services.preferences.comparisons import Comparisons
from app.services.preferences.feedback import Feedback
from app.services.preferences.offers import Offers
from app.services.preferences.winners import Winners
from app.services.research import Research
from app.services.steering import Steering
from app.storage.tenancy import TenantDatabase


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
