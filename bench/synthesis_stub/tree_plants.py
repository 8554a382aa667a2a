"""Ten rules that the stub for evidence trees breaks when told to, and what has to catch each."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Answer = dict[str, Any]
INVENTED = "An inquiry of 4,711 inspectors proved the reverse in every single case."
_LEAF = re.compile(r"^\[([0-9.]+)\] .*\n- (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PlantedFault:
    """A broken rule: the step whose answer breaks it, how, and the words that the refusal (or the fall of a child) must have."""

    step: str
    change: Callable[[Answer, str], Answer]
    caught_by: str


def invent_statements(answer: Answer, _: str) -> Answer:
    """Write statements that no passage has."""
    return {"passages": [one | {"statements": [INVENTED]} for one in answer["passages"]]}


def repeat_children(answer: Answer, text: str) -> Answer:
    """Propose the parent's question again, and the first child twice."""
    asked = re.search(r"<question>\n(.*)\n</question>", text)
    parent = {"question": asked[1] if asked else "", "facet": "other"}
    first = {"question": answer["comparison"], "facet": "other"}
    return answer | {"others": [*answer["others"], parent, first]} if answer["comparison"] else answer


def crowd_children(answer: Answer, text: str) -> Answer:
    """Propose many more children than asked for."""
    asked = [question for side, question in answer.items() if side != "others"]
    more = [{"question": f"{one} ({number} 2{number}{number})", "facet": "other"} for number in range(3, 10) for one in asked]
    return answer | {"others": [*answer["others"], *more]} if answer["comparison"] else answer


def leave_out_risks(answer: Answer, _: str) -> Answer:
    """Propose nothing about risks."""
    return answer | {"risks": ""} if answer["comparison"] else answer


def use_unselected_leaf(answer: Answer, text: str) -> Answer:
    """Rest a criterion on a leaf that was not selected."""
    selected = {one["leaf"] for one in answer["selected"]}
    strangers = [(leaf, said) for leaf, said in _LEAF.findall(text) if leaf not in selected]
    leaf, said = strangers[0] if strangers else ("9.9.9", INVENTED)
    return _change_fact(answer, 0, leaves=[leaf], evidence=[said])


def invent_evidence(answer: Answer, _: str) -> Answer:
    """Give a criterion evidence that its leaf does not state."""
    return _change_fact(answer, 0, evidence=[INVENTED])


def break_trace(answer: Answer, _: str) -> Answer:
    """Let a selected leaf go into no merge."""
    first, *others = answer["merges"] or [{"inputs": []}]
    return answer | {"merges": [first | {"inputs": first["inputs"][1:]}, *others]}


def rest_on_one_leaf(answer: Answer, _: str) -> Answer:
    """Take all evidence out of one leaf."""
    first = next(one for one in answer["criteria"] if one["type"] == "factual")
    facts = {"leaves": first["leaves"], "evidence": first["evidence"]}
    return answer | {"criteria": [one | facts if one["type"] == "factual" else one for one in answer["criteria"]]}


def list_rubric(answer: Answer, _: str) -> Answer:
    """Write the criteria into the query."""
    query = " ".join([answer["question"], *(one["description"] for one in answer["criteria"][-3:])])
    *others, last = answer["merges"] or [{}]
    return answer | {"question": query, "merges": [*others, last | {"question": query}]}


def invent_in_revision(answer: Answer, _: str) -> Answer:
    """Bring evidence into the revision that no leaf states."""
    facts = [one | {"evidence": [INVENTED]} if one["type"] == "factual" else one for one in answer["criteria"]]
    return answer | {"decision": "revise", "criteria": facts}


def _change_fact(answer: Answer, place: int, **changes: Any) -> Answer:
    criteria = list(answer["criteria"])
    criteria[place] = criteria[place] | changes
    return answer | {"criteria": criteria}


PLANTS: Mapping[str, PlantedFault] = {
    "invented_statement": PlantedFault("tree_grounding", invent_statements, "no passage grounds the root"),
    "repeated_child": PlantedFault("tree_expansion", repeat_children, "repeats"),
    "crowded_children": PlantedFault("tree_expansion", crowd_children, "over_limit"),
    "missing_facet": PlantedFault("tree_expansion", leave_out_risks, "no child has the facet risks"),
    "unselected_leaf": PlantedFault("tree_merge", use_unselected_leaf, "draws_on_selected"),
    "invented_evidence": PlantedFault("tree_merge", invent_evidence, "states_evidence"),
    "broken_trace": PlantedFault("tree_merge", break_trace, "has_tree_trace"),
    "one_leaf": PlantedFault("tree_merge", rest_on_one_leaf, "needs_several_leaves"),
    "listed_rubric": PlantedFault("tree_merge", list_rubric, "hides_rubric"),
    "invented_revision": PlantedFault("rubric_verification", invent_in_revision, "rubric_verification"),
}


def is_caught(plant: str, worked: Mapping[str, Any]) -> bool:
    """Say whether a worked candidate, as JSON, was refused for what was planted, or lost the planted children."""
    wanted = PLANTS[plant].caught_by
    refused = worked.get("refused") or {}
    kept = (worked.get("kept") or {}).get("data", {}).get("tree", {})
    fallen = [*kept.get("fallen", ()), *refused.get("data", {}).get("fallen", ())]
    return wanted in refused.get("reason", "") or any(one["reason"] == wanted for one in fallen)
