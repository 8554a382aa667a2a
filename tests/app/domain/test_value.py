"""Values that are kept by the thousand share what is alike, and copies change nothing of it."""

import copy
import pickle

from app.domain.chat import Message, Role


def test_which_fields_were_given_is_one_set_and_copies_leave_it_alone() -> None:
    one = Message(role=Role.USER, content="one")
    other = Message.model_validate_json('{"role": "user", "content": "other"}')
    assert one.__pydantic_fields_set__ is other.__pydantic_fields_set__
    changed = one.model_copy(update={"content": "changed"})
    assert (changed.content, one.content, one.model_fields_set) == ("changed", "one", {"role", "content"})
    for made in (changed, copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert made.__pydantic_fields_set__ is not one.__pydantic_fields_set__
        assert made.model_dump(exclude_unset=True).keys() == {"role", "content"}
