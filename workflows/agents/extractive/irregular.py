"""English words that no stemmer brings together: what was paid is what somebody pays, and men are each a man."""

_FORMS = """
    arise arose arisen; begin began begun; bite bitten; blow blew blown; break broke broken; breed bred; bring brought
    build built; buy bought; catch caught; choose chose chosen; creep crept; deal dealt; draw drew drawn; drink drank drunk
    drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt; fight fought; flee fled; fly flew flown
    forbid forbade forbidden; forget forgot forgotten; freeze froze frozen; grow grew grown; hear heard; hide hid hidden
    hold held; keep kept; know knew known; lead led; lend lent; lose lost; mean meant; meet met; overthrow overthrew overthrown
    pay paid; ride rode ridden; rise risen; seek sought; sell sold; send sent; shake shook shaken; shoot shot; shrink shrank
    sing sang sung; sink sank sunk; sleep slept; speak spoke spoken; spend spent; stand stood; steal stole stolen
    strike struck; swear swore sworn; sweep swept; swim swam swum; take took taken; teach taught; tear tore torn; tell told
    think thought; throw threw thrown; understand understood; undertake undertook undertaken; wear wore worn
    win won; withdraw withdrew withdrawn; write wrote written; child children; foot feet; man men; mouse mice; tooth teeth
    woman women; relation relationship relationships
"""
_SETS = (forms.split() for line in _FORMS.strip().splitlines() for forms in line.split(";"))
IRREGULAR = {form: base for base, *forms in _SETS for form in forms}
"""Base form by form; forms that are words of their own too (rose, left, found, saw) are left out."""
