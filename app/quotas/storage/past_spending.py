"""The consumption of deleted runs: figures without words, so that a month's quota still counts what was used in it."""

# What follows `gone`, a selection of ids of runs under their locks (nothing is counted twice by two who delete at once): it
# keeps their figures, with those of runs made for them, and deletes them. A task's figures are a part of its run's; they are
# kept besides for who asked for it with another key, or of a run of an earlier month.
DELETE = """
    WITH gone AS ({gone}),
    made AS (SELECT r.id FROM runs r JOIN gone g ON r.made_for = g.id FOR UPDATE OF r),
    whole AS (SELECT id FROM gone UNION SELECT id FROM made),
    of_runs AS (
        INSERT INTO past_spending (organisation_id, run_began_at, run_began_with, input_tokens, output_tokens, cost_microusd)
        SELECT r.organisation_id, r.created_at, r.created_with, l.input_tokens, l.output_tokens, l.cost_microusd
        FROM whole w JOIN runs r ON r.id = w.id JOIN ledgers l ON l.run_id = r.id
        WHERE r.made_for IS NULL OR r.query ->> 'canary' IS NULL),
    of_tasks AS (
        INSERT INTO past_spending (organisation_id, run_began_at, run_began_with, asked_at, asked_with, input_tokens,
                                   output_tokens, cost_microusd)
        SELECT r.organisation_id, r.created_at, r.created_with, t.finished_at, t.created_with,
               coalesce((t.usage ->> 'input_tokens')::bigint, 0), coalesce((t.usage ->> 'output_tokens')::bigint, 0),
               coalesce((t.usage ->> 'cost_microusd')::bigint, 0)
        FROM whole w JOIN runs r ON r.id = w.id JOIN report_tasks t ON t.run_id = r.id WHERE t.finished_at IS NOT NULL)
    DELETE FROM runs WHERE id IN (SELECT id FROM gone)"""


def deletion_of(gone: str) -> str:
    """Return a statement that deletes the runs whose ids `gone` selects, `FOR UPDATE`, with all that belongs to them."""
    return DELETE.format(gone=gone)
