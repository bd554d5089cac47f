"""Whom a question is about, and which numbers it names: whole words, field terms and lay ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from corpus_app.records import AgeGroup, Sex, Study, TrainingStatus
from qa_app.pipeline.records import Number, Population

GROWN_UP = 18  # years
MIDDLE_AGED = 50  # from here on studies of adults and studies of older adults both count people in
OLDER = 60
OLDEST = 110
SPECIAL_AGES = frozenset({AgeGroup.YOUTH, AgeGroup.OLDER_ADULTS})


def _words(*forms: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{'|'.join(forms)})(?!\w)")


_PEOPLE = r"(?:people|ppl|persons?|individuals|adults?|men|man|women|woman|males?|females?|guys?|folks?|lifters?|trainees?|athletes?|exercisers?|subjects|participants|populations?|ladies|lady|vegans?|vegetarians?|meat-?eaters?|runners?|cyclists?|swimmers?|clients?|patients?)"
# How somebody says for how long they have trained; what follows is the time.
HAVE_TRAINED = (
    r"(?<!n't )(?<!not )(?<!never )(?:been|be|have|has|had|(?:i|we|you|they)'?ve|(?:he|she|who)'s|clients?) (?:been )?(?:(?:consistently|regularly|seriously) )?"
    r"(?:lifting|lifted|training|trained|working out|worked out) (?:weights )?(?:(?:consistently|regularly|seriously) )?(?:for )?"
    r"(?:(?:about|over|well over|almost|nearly|around|like|more than|at least|a good|the (?:last|past)) )?"
)
_GRANDMOTHERS = ("grandma", "grandmas", "grandmothers?", "granny", "grannies", "gran", "nana?")
_GRANDFATHERS = ("grandpa", "grandpas", "grandfathers?", "grand?dads?", "grampa", "grandad")
# "when you are old", "as we get older": no "older studies".
_GROWN_OLD = r"(?:(?:(?:when|once) |(?:when|once|if|as|while) (?:you|we|they|people|i|one)(?: are|'re| am|'m)? )|(?:get|gets|getting|grow|grows|growing) )old(?:er)?"
_ENDS = r"(?! (?!(?:and|or|but|do|does|can|could|should|will|is|are|i|you|we)\b)\w)"
_AGES: tuple[tuple[re.Pattern[str], tuple[AgeGroup, ...]], ...] = (
    (
        _words(
            "older (?:\\w+ )?" + _PEOPLE, "old(?: age|er ages?)", _GROWN_OLD + _ENDS, r"(?<!year )(?<!years )(?<!yr )(?<!yrs )old (?:" + _PEOPLE + "|blokes?|fell(?:a|ow)s?|chaps?|geezers?)", "oldest[- ]old", "(?:the )?elderly", "elders?",
            "aged " + _PEOPLE, r"(?<!high school )(?<!high-school )(?<!college )(?<!university )seniors?(?! on the \w+ team)(?! (?:in|at) (?:high[- ]school|college|university))", "senior citizens?", "pensioners?", "retirees?", "retired", "geriatric", "old timers?", "aging", "ageing",
            "(?:i|im|i'm|i am|am i|are you|you|you're|he|hes|he's|she|shes|she's|we|they|anyone|anybody|nobody|someone|people|ever|never) (?:\\w+ )?too old (?:to|for)", "grandparents?", *_GRANDMOTHERS, *_GRANDFATHERS, "post-?menopausal", "(?:after|past|since) (?:the )?menopause", "sarcopeni\\w+",
            "osteosarcopeni\\w+", "frail", "frailty", r"young(?:er)? (?:vs\.?|versus|and|or) old(?:er)?", r"old(?:er)? (?:vs\.?|versus|and|or) young(?:er)?", "later life", "late in life", "(?:nursing|care|retirement)[- ]homes?(?! (?:nurse|worker|staff|carer|manager))",
        ),
        (AgeGroup.OLDER_ADULTS,),
    ),
    (_words("young(?:er)? " + _PEOPLE, "young", "younger(?! (?:brother|sister|sibling))", "middle[- ]aged?", "college[- ]aged?"), (AgeGroup.ADULTS,)),
    (
        _words("child", "children", "childhood", "kids?", "teens?", "teenagers?", "teenaged?", "adolescents?", "adolescence", "youths?", "pre-?pubertal", "pubertal", "schoolchildren", "toddlers?", "minors"),
        (AgeGroup.YOUTH,),
    ),
)  # fmt: skip
_GIRLS_AND_BOYS = _words("girls?", "boys?")
"""Of any age below the old, where nothing says of which."""
_SEXES: tuple[tuple[re.Pattern[str], tuple[Sex, ...]], ...] = (
    (
        _words(
            "wom[ae]n", "females?", "lady", "ladies", "girls?", "mums?", "moms?", "mothers?", "wife", "wives", "girlfriends?", "sisters?", "daughters?", "aunts?", "she",
            "(?:post-?|peri-?|pre-?)?menopausal", "menopause", *_GRANDMOTHERS,
        ),
        (Sex.FEMALE,),
    ),
    (
        _words(
            "m[ae]n", "males?", "(?<!you )guys?", "blokes?", "dudes?", "lads?", "boys?", "dads?", "fathers?", "husbands?", "boyfriends?", "brothers?", "sons?", "uncles?", "he",
            *_GRANDFATHERS,
        ),
        (Sex.MALE,),
    ),
    (_words("(?:sex|gender|sex-based)(?: |-)(?:differences?|gap|comparisons?|specific)", "both sexes"), (Sex.FEMALE, Sex.MALE)),
)  # fmt: skip
_SPORTS = "(?:swimmers?|runners?|cyclists?|rowers?|footballers?|sprinters?|powerlifters?|weightlifters?|triathletes?|gymnasts?|(?:football|rugby|soccer|basketball|hockey|tennis) players?)"
_TRAININGS: tuple[tuple[re.Pattern[str], tuple[TrainingStatus, ...]], ...] = (
    (
        _words(
            "untrained", "un-?conditioned", "newb(?:ie|ies|s)?", "noobs?", "beginners?", "novices?", "newcomers?", "rookies?", "sedentary", "inactive", "couch potato(?:es)?",
            "out of shape", "new to (?:the )?(?:gym|weights?|lifting|training|exercise|it|this)", "never (?:\\w+ )?(?:lifted|trained|exercised|been to (?:a|the) gym)",
            "(?:just|only just|recently|newly) start(?:ed|ing)", "(?:who|when i|when you|when they|i) start(?:s|ed)?(?: to)? (?:lift|lifting|training|exercising|working out)", "starting out",
            "first[- ]timers?",
        ),
        (TrainingStatus.UNTRAINED,),
    ),
    (
        _words(
            "trained " + _PEOPLE, "(?:resistance|well|highly|strength|weight)[- ]trained", "trained (?:and|or|vs\\.?|versus) untrained", "untrained (?:and|or|vs\\.?|versus) trained",
            "(?:advanced|experienced|seasoned|intermediate|serious|veteran|long-?time) (?:\\w+ )?" + _PEOPLE, "bodybuilders?", "already (?:lift|train|work out)", "gym rats?",
            HAVE_TRAINED + r"(?:ages|long(?! \w)|a while|a decade|decades|(?:many |several |some |a few )?years|(?:[2-9]|\d\d|two|three|four|five|six|seven|eight|nine|ten|fifteen|twenty|thirty) (?:yrs?|years))", "years of (?:lifting|training)", "training experience",
        ),
        (TrainingStatus.TRAINED,),
    ),
    (_words("recreational(?:ly)?", "physically active", "hobby (?:lifters?|athletes?)"), (TrainingStatus.RECREATIONALLY_TRAINED,)),
    (_words("athletes?", "athletic (?:people|populations?)", "elite", "competitive", "competitors?", _SPORTS), (TrainingStatus.ATHLETES,)),
)  # fmt: skip

_DECADES = {"fift": 50, "sixt": 60, "sevent": 70, "eight": 80, "ninet": 90}
_UNIT = (
    r"(?:%|percent|per ?cent|(?:k|m|µ|u|mc)?g(?:rams?)?(?:/kg)?(?:/d(?:ay)?)?|kilo(?:gram)?s?|lbs?|pounds?|ml|l|iu|kcal|calories|cal|cm|mm|km|miles?|metres?|meters?|"
    r"s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|d|days?|wks?|weeks?|months?|y|yrs?|years?|sets?|reps?|repetitions?|rm|sessions?|workouts?|rides?|times|x|"
    r"steps|studies|trials|articles|papers|records|countries|experts|people|women|men|participants|subjects|volunteers|bpm|hz|beats?)(?![\w])"
)
_NO_UNIT = rf"(?!\s*-?\s*(?:{_UNIT}))(?!\s*[°±])(?!(?:\s*(?:,|or|and|vs\.?|/)\s*\d+)+\s*%)(?![\d.,:/]*\d)(?!\s*(?:-|–|to)\s*\d)"
_OLD = r"[- ]?(?:(?:years?|yrs?)(?:[- ]olds?| of age)|y\.?/?o\.?(?![a-z])|yrs?(?! of)|y(?![a-z])|olds?)"
# What is of an age without being anybody: "a 12 year old hip replacement".
_OF_THINGS = (
    r"(?:(?:old|torn|bad|dodgy|left|right|lower|upper|knee|hip|shoulder|back|ankle|elbow|wrist|neck|acl|hamstring|achilles|rotator|cuff|disc|spine) )*"
    r"(?:injur(?:y|ies)|replacements?|surger(?:y|ies)|operations?|fractures?|scars?|tears?|sprains?|dislocations?|acl|stud(?:y|ies)|papers?|reviews?|advice|habits?)\b(?! patients?)"
)
_SOMEONE = r"(?:someone|somebody|anyone|anybody|mates?|friends?|mum|mom|mother|dad|father|gran|wife|husband|persons?|people|adults?|men|man|women|woman|ladies|lady|guys?|blokes?|folks?)"
_ONE = r"(?:a|an|my|his|her|your|our|the|this)(?: [a-z]+)? (?:mate|friend|aunt|uncle|mum|mom|mother|dad|father|gran|grandma|grandpa|wife|husband|person|man|woman|lady|guy|bloke|client|patient)"
_ENDS_AGE = r"(?=$|[,;:?!)]|\.(?!\d)| (?:and|or|who|that|with|to|is|are|do|does|can|could|should|will|would|but|have|has|need|needs|in|for|if|when|plus)\b(?! \d))"
_HEIGHT_OR_WEIGHT = r"(?! \d{1,2}\b(?! ?(?:years|yrs)))(?! ?(?:foot|feet|ft|stones?|st\b|lb|['’′\"″]))"
_AGE = re.compile(
    rf"(?<![\d.,])(?:"
    rf"(?P<old>\d{{1,3}}){_OLD}(?!\w)(?! {_OF_THINGS})"
    rf"|(?<!\w)age[ds]?(?: of| over| above| under| below| between| from)? (?P<aged>\d{{1,3}})(?!\d)"
    rf"|(?<!\w)(?:over|late|mid|early|my|his|her|their|your|the|our)[- ]?(?:late |mid |early )?(?P<decade>[2-9]0)'?s(?!\w)"
    rf"|(?P<plus>[4-9]\d)(?: ?\+| plus)"
    rf"|(?:(?<!\w)(?:over|above|past|after|beyond|turned|turning)[- ]?(?:the age of )?|[≥>]=? ?)(?P<over>[4-9]\d){_NO_UNIT}(?!\w)"
    rf"|(?<!\w)(?:under|below)[- ]?(?:the age of )?(?P<under>1\d){_NO_UNIT}(?!\w)"
    rf"|(?<!\w)at (?P<at>[4-9]\d){_NO_UNIT}(?!\w)"
    rf"|^(?P<first>[2-9]\d)(?=,? (?:and(?! \d)|but|m|f|male|female|now)\b|, (?!\d))"
    rf"|(?<!\w)(?:i am|i'm|im|he is|he'?s|she is|she'?s|(?:son|daughter|dad|mum|mom|mother|father|wife|husband|gran|grandma|grandpa|who) (?:is|are)) (?P<am>\d{{1,2}}){_HEIGHT_OR_WEIGHT}{_NO_UNIT}(?!\w)"
    rf"|(?<!\w){_SOMEONE} of (?:about |around |nearly |almost )?(?P<of>[2-9]\d){_ENDS_AGE}"
    rf"|(?<!\w){_ONE} of (?:about |around |nearly |almost )?(?P<one>[2-9]\d)(?= (?:[a-z]+ing|lifts?|trains?|takes?|runs?|eats?|needs?|feels?|falls?)\b)"
    rf"|(?<!\w)(?P<word>fift|sixt|sevent|eight|ninet)(?:y|ies)(?: (?:plus|years?[- ]olds?))?(?=[ ,.?!:;-]|$)"
    rf")"
)  # fmt: skip
_AGE_BY_WORD = re.compile(
    r"(?<!\w)(?:(?:over|above|past|after|beyond|turned|turning|in (?:my|his|her|their|your|the)|at|aged?|am|is)(?: the age of)?(?: early| mid| late)?"
    rf"|{_SOMEONE} of)[- ]$"
)
_NUMBER = re.compile(
    rf"(?<![\w.,])(?<!type )(?<!omega[- ])(?!1[- ]?rm(?!\w))(\d{{1,3}}(?:,\d{{3}})+|\d+(?:[.,]\d+)?)(?:[- ]?({_UNIT}))?(?![\d])"
)  # neither "type 2 diabetes" nor "omega-3" nor "1RM" names a number


# "I've got two kids" says nothing of whom a question is about, nor does "a busy mum of three kids" or "lift my kids".
_HAVING = re.compile(
    r"\b(?:got|have|has|had|having|['’]ve|(?:mums?|moms?|mothers?|dads?|fathers?|parents?) (?:of|with)|(?:lift|carry|chase|pick up|play with|keep up with) (?:my|your|our|the)) "
    r"(?:(?:a|an|\d+|two|three|four|five|six|young|small|little) )*(?:kids?|children|toddlers?|teenagers?)\b(?! (?:who|with|that))"
    r"|\bsince (?:early |my )?(?:childhood|teens)\b|\bsince i was a (?:kid|child|teenager)\b"
)


@lru_cache(maxsize=8_192)
def find_population(said: str) -> Population:
    """Age groups, training and sexes that a lower-case question names, each once, in the order of the tables."""
    said = _HAVING.sub("", said)
    ages = [group for expression, groups in _AGES if expression.search(said) for group in groups]
    ages += [group for years in _find_ages(said) for group in _age_groups(years)]
    if not ages and _GIRLS_AND_BOYS.search(said):
        ages = [AgeGroup.YOUTH, AgeGroup.ADULTS]
    return Population(
        tuple(dict.fromkeys(ages)),
        tuple(dict.fromkeys(status for e, found in _TRAININGS if e.search(said) for status in found)),
        tuple(dict.fromkeys(sex for e, found in _SEXES if e.search(said) for sex in found)),
    )


def find_group_spans(said: str) -> tuple[tuple[int, int], ...]:
    """Where a lower-case question names people: code points, end exclusive, in order; they may overlap."""
    tables = (*_AGES, *_SEXES, *_TRAININGS)
    found = [match.span() for expression, _ in tables for match in expression.finditer(said)]
    found += [match.span() for match in _AGE.finditer(said) if match.lastgroup != "word"]
    return tuple(sorted(found))


def _find_ages(said: str) -> Iterator[int]:
    """Years of age: numbers that stand as an age does, and no dose, load or duration."""
    for match in _AGE.finditer(said):
        name = match.lastgroup or ""
        if name == "word":
            if _AGE_BY_WORD.search(said[: match.start()]):
                yield _DECADES[match["word"]]
            continue
        years = int(match[name]) - (name == "under")
        if 1 <= years <= OLDEST:
            yield years


def _age_groups(years: int) -> tuple[AgeGroup, ...]:
    if years < GROWN_UP:
        return (AgeGroup.YOUTH,)
    if years < MIDDLE_AGED:
        return (AgeGroup.ADULTS,)
    return (AgeGroup.OLDER_ADULTS,) if years >= OLDER else (AgeGroup.OLDER_ADULTS, AgeGroup.ADULTS)


def find_numbers(said: str) -> tuple[Number, ...]:
    """The numbers in a lower-case question with their units, each once, in order; ages are none of them."""
    ages = [match.span() for match in _AGE.finditer(said)]
    found = [m for m in _NUMBER.finditer(said) if not any(start <= m.start() < end for start, end in ages)]
    return tuple(dict.fromkeys(Number(_digits(match[1]), match[2] or "") for match in found))


def _digits(written: str) -> str:
    """With a point where the decimals begin: 1,5 is 1.5, but 2,000 is 2000."""
    whole, comma, rest = written.partition(",")
    return written.replace(",", "") if comma and len(rest) % 4 == 3 else f"{whole}.{rest}" if comma else written


def is_about_others(study: Study, asked: Population) -> bool:
    """Whether the study's people are plainly not those that the question names."""
    open_ages, open_sexes = {AgeGroup.MIXED, AgeGroup.NOT_REPORTED}, {Sex.BOTH, Sex.NOT_REPORTED}
    other_age = bool(asked.age_groups) and study.age_group not in {*asked.age_groups, *open_ages}
    other_sex = bool(asked.sexes) and study.sex not in {*asked.sexes, *open_sexes}
    return other_age or other_sex or _is_of_children(study, asked)


def _is_of_children(study: Study, asked: Population) -> bool:
    """Whether it is, and the question is of women or of men and says no age, as "girls" and "boys" do."""
    return study.age_group is AgeGroup.YOUTH and bool(asked.sexes) and not asked.age_groups


def is_of_another_life(study: Study, asked: Population) -> bool:
    """Whether the study is of children and the question of older people, or the other way round: one says nothing of the other."""
    ages = asked.age_groups
    if study.age_group is AgeGroup.YOUTH:
        return AgeGroup.OLDER_ADULTS in ages and AgeGroup.YOUTH not in ages
    return study.age_group is AgeGroup.OLDER_ADULTS and AgeGroup.YOUTH in ages and AgeGroup.OLDER_ADULTS not in ages


def is_about(study: Study, asked: Population) -> bool:
    """Whether the study's people are those that the question names, and no others with them; of a question that names nobody any.

    Where several groups are named ("men and women"), people of all sorts are those.
    """
    age = (not asked.age_groups or study.age_group in asked.age_groups) and not _is_of_children(study, asked)
    sex = not asked.sexes or study.sex in asked.sexes
    return (age or (len(asked.age_groups) > 1 and study.age_group is AgeGroup.MIXED)) and (
        sex or (len(asked.sexes) > 1 and study.sex is Sex.BOTH)
    )


def names_some_of(said: str, asked: Population) -> bool:
    """Whether a lower-case sentence names some of the people whom the question names."""
    named = find_population(said)
    return any(
        set(its) & set(theirs)
        for its, theirs in (
            (named.age_groups, asked.age_groups),
            (named.training, asked.training),
            (named.sexes, asked.sexes),
        )
    )


def names_others(said: str, asked: Population) -> bool:
    """Whether a lower-case sentence names an age or a sex, and none of those that the question names of it."""
    named = find_population(said)
    return any(
        bool(its) and bool(theirs) and not set(its) & set(theirs)
        for its, theirs in ((named.age_groups, asked.age_groups), (named.sexes, asked.sexes))
    )
