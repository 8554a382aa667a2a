"""The routes of preferences."""

from app.comparisons.api import ComparisonsController
from app.preferences.api.annotations import AnnotationsController
from app.preferences.api.feedback import FeedbackController
from app.preferences.api.summary import PreferencesController

CONTROLLERS = (ComparisonsController, FeedbackController, AnnotationsController, PreferencesController)
