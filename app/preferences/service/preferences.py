"""Put all use cases of preferences together, over one database."""

from dataclasses import dataclass

from app.comparisons.service.comparisons import Comparisons
from app.comparisons.service.offers import Offers
from app.database.tenancy import TenantDatabase
from app.preferences.service.annotation import Annotation
from app.preferences.service.contests import Winners
from app.preferences.service.feedback import Feedback
from app.runs.service.runs import Runs
from app.runs.service.steering import Steering


@dataclass(frozen=True)
class Preferences:
    """The use cases of comparing, rating and flagging, of annotation, and of the votes."""

    comparisons: Comparisons
    feedback: Feedback
    annotation: Annotation
    winners: Winners
    offers: Offers


def make_preferences(database: TenantDatabase, runs: Runs, steering: Steering, offers: Offers | None) -> Preferences:
    """Build the use cases that requests need."""
    comparisons = Comparisons(database, runs, steering, offers)
    return Preferences(
        comparisons,
        Feedback(database, runs),
        Annotation(database, comparisons),
        Winners(database, offers),
        offers or Offers(None),
    )
