"""docs/api.md tells the body of every route, as the API describes it."""

from infra.api_bodies import PAGE, list_bodies, write_page

DOCUMENT = {
    "paths": {
        "/hats": {
            "post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/NewHat"}}}}},
            "get": {},
        },
        "/photos": {
            "put": {"requestBody": {"content": {"multipart/form-data": {"schema": {"type": "string", "format": "binary"}}}}}
        },
    },
    "components": {
        "schemas": {
            "NewHat": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string"},
                    "colour": {"oneOf": [{"enum": ["red", "blue"]}, {"type": "null"}]},
                    "bands": {"type": "array", "items": {"properties": {"width": {"type": "integer"}}}},
                },
            }
        }
    },
}


def test_a_body_tells_its_fields_and_which_may_be_left_out() -> None:
    assert list(list_bodies(DOCUMENT))[2:] == [
        '| `POST /hats` | `{"name": text, "colour"?: "red" or "blue", "bands"?: [{"width"?: whole number}]}` |',
        "| `PUT /photos` | `file` as `multipart/form-data` |",
    ]


def test_the_page_is_current() -> None:
    page = PAGE.read_text("utf-8")
    assert page == write_page(page), "run `python -m infra.api_bodies`"
