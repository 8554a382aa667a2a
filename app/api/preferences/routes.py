"""The routes of preferences."""

from app.api.preferences.annotations import AnnotationsController
from app.api.preferences.comparisons import ComparisonsController
from app.api.preferences.feedback import FeedbackController
from app.api.preferences.summary import PreferencesController

CONTROLLERS = (ComparisonsController, FeedbackController, AnnotationsController, PreferencesController)
