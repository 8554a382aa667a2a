"""What readers prefer, over HTTP: comparing, rating, flagging, consent, annotation."""

from app.comparisons import schemas
from app.domain.writer import WriterSettings
from app.preferences.schemas import annotations as annotation_schemas
from app.preferences.schemas import feedback as feedback_schemas
from app.preferences.schemas import summary as summary_schemas

# What the OpenAPI document describes.
SCHEMAS = (
    *(schemas.NewComparison, schemas.NewChoice, schemas.ComparisonView, schemas.ComparisonPage, schemas.ChoiceView),
    *(schemas.Reveal, feedback_schemas.NewRating, feedback_schemas.RatingView, feedback_schemas.NewFlag),
    *(feedback_schemas.FlagView, feedback_schemas.FlagList, feedback_schemas.ConsentChange, feedback_schemas.ConsentView),
    *(annotation_schemas.NewTasks, annotation_schemas.TaskPage, annotation_schemas.NextAssignment, annotation_schemas.Skip),
    *(
        annotation_schemas.Answered,
        annotation_schemas.AgreementReport,
        summary_schemas.Summary,
        summary_schemas.WayList,
        WriterSettings,
    ),
)
