"""The steps that a worker takes itself: what was trained becomes a version, is served, tried and promoted."""

from collections.abc import Mapping

from app.models.service.cycle_order import StepKind
from workflows.durable.retraining.own_steps.canary import try_on_readers
from workflows.durable.retraining.own_steps.promote import promote_version
from workflows.durable.retraining.own_steps.register import register_version
from workflows.durable.retraining.own_steps.serve import serve_version
from workflows.durable.retraining.workplace import OwnStep

OWN_STEPS: Mapping[StepKind, OwnStep] = {
    StepKind.REGISTER: register_version,
    StepKind.SERVE: serve_version,
    StepKind.CANARY: try_on_readers,
    StepKind.PROMOTE: promote_version,
}
