"""Finding by rules whether a text names the author of a forecast (MindDR 8.4): an institution, a person, or the planner."""

import re

from app.domain.script import IDEOGRAPHS

_WHO = (
    r"[A-Z][\w&.-]+(?:['’]s)?|compan(?:y|ies)|firms?|bank|analysts?|economists?|researchers?|forecasters?|experts?|officials?|consultants?|"
    r"government|ministry|agency|institute|university|study|studies|report|survey|commission|committee|council|team|group|airline|"
    r"operator|executive|minister|president|mayor|governor|chair(?:man|woman|person)?|spokes\w+|leaders?|scientists|authorities|manager|management|planners|parties|state|investors|authors|association|fund|regulator|authority|they|it"
)
_SAYS = (
    r"expects?|expected|projects?|projected|forecasts?|forecasted|predicts?|predicted|estimates?|estimated|anticipates?|anticipated|"
    r"reckons?|says?|said|states?|stated|announces?|announced|promises?|promised|plans?|planned|intends?|intended|warns?|warned|"
    r"believes?|believed|tells?|told|suggests?|suggested|concludes?|concluded|assumes?|assumed|agreed?|agrees|guided|pledges?|"
    r"pledged|aims?|aimed|shows?|puts?"
)
_ENGLISH = re.compile(
    rf"\b[Aa]ccording\s+to\b|\bas\s+the\s+\w+\s+project|\b(?:{_WHO})(?:\s+(?:at|of|in|from|by)\s+(?:the\s+)?\w+(?:\s\w+)?)?"
    rf"(?:'s\s+\w+)?,?\s+(?:has\s+|have\s+|had\s+|also\s+)?(?:{_SAYS})\b"
    rf"|\b(?:forecasts?|projections?|predictions?|estimates?|stud(?:y|ies)|reports?|outlook|survey)\s+(?:by|from|of|published)\b"
    rf"|\b[A-Z]\w+(?:'s|’s)\s+(?:forecast|projection|prediction|outlook|estimate|study|report)\b"
    rf"|\b[A-Z]\w+\s+(?:study|report|forecast|survey)\b|\b(?:its|their)\s+(?:\d{{4}}\s+)?(?:outlook|forecast|projection)\b"
)
_BODIES = (
    "公司|企业|集团|银行|央行|机构|组织|协会|学会|研究院|研究所|研究人员|部|部门|局|署|委|委员会|政府|官员|专家|分析师|经济学家|学者|基金|券商|证券|报告|研报|"
    "规划|方案|管理层|首席执行官|市长|部长|省长|州长|主席|总统|总理|发言人|董事长|总裁|高管|负责人|大学|中心|院|世行|该行|投行|联盟|当局|双方|[A-Z]{2,}|高盛|穆迪|特斯拉|三星|德勤|麦肯锡|标普|惠誉|摩根士丹利|瑞银|彭博\\w{0,6}|经合组织"
)
_CHINESE_SAYS = "预计|预测|预期|估计|估算|表示|宣布|指出|认为|称|警告|承诺|计划|提出|测算|显示|告诉|透露|强调|设定"
_CHINESE = re.compile(
    rf"(?:{_BODIES})[^，。；]{{0,14}}?(?:已|曾|也|还)?(?:{_CHINESE_SAYS})|(?:据|根据|按照)[^，。；]{{2,24}}?(?:预测|预计|报告|测算|统计|估计|数据|规划|展望)"
    rf"|[{IDEOGRAPHS}A-Za-z]{{2,12}}的(?:预测|研究|报告|展望)"
)


def names_a_forecaster(context: str) -> bool:
    """Say whether the text names the author of its forecast. "It is expected" names nobody."""
    return _ENGLISH.search(context) is not None or _CHINESE.search(context) is not None
