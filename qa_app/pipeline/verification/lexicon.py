"""Define the words that change a finding when they are changed, by kind. Words are folded: lower case, no accents.

In a near-verbatim sentence every word that the source lacks is a reason to reject it. These lists tell which reason,
and which words must not be omitted.
"""

from __future__ import annotations

from enum import StrEnum

from qa_app.pipeline.text import stem


class Kind(StrEnum):
    """The semantic kind of a token."""

    WORD = "word"
    NUMBER = "number"
    UNIT = "unit"
    COMPARATOR = "comparator"
    NEGATION = "negation"
    DIRECTION = "direction"
    POPULATION = "population"
    GROUP = "group"
    HEDGE = "hedge"
    QUANTIFIER = "quantifier"
    RESTRICTION = "restriction"
    JOINT = "joint"
    PLACE = "place"
    ASIDE = "aside"


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in text.split())


# Function words, which comparison ignores: they depend on grammar, not on the finding.
EMPTY = frozenset(
    """a an the is are was were be been being am has have had having do does did doing that which who whom whose
    there of as it its this these those they them their we our us""".split()
)
# Discourse words that may come and go.
ASIDES = frozenset(
    """also however therefore thus moreover furthermore overall indeed notably interestingly importantly
    additionally then hence consequently besides here specifically finally nevertheless nonetheless further
    instead meanwhile accordingly""".split()
)
JOINTS = frozenset("and but while whereas although though or yet plus".split())
# Conjunctions that join two statements and claim nothing more.
PLAIN_JOINTS = frozenset("and but while whereas although though yet".split())
SUBORDINATORS = frozenset("although though while whereas despite because since as given after before when".split())
PLACES = frozenset(
    """in on at by to from with for after before during than between into onto over under above below via through
    within across against toward towards upon following regardless versus vs compared relative since because
    when where until throughout despite according owing due including irrespective beyond around near outside
    inside alongside among amongst""".split()
)
RESTRICTIONS = frozenset(
    "only if unless except excluding until provided whether solely exclusively merely apart".split()
)
# Words that deny the claim they introduce: without them the rest states what its source denies.
DOUBTS = frozenset(
    """myth myths misconception misconceptions fallacy hoax claim claims claimed allegedly supposedly purported
    purportedly wrongly wrong falsely false incorrectly incorrect mistakenly mistaken erroneously erroneous
    refute refutes refuted disproved disproven debunked contradicted minority""".split()
)
QUANTIFIERS = _stems(
    """all every each some most many few several any both either half much little enough majority minority mainly mostly
    usually always often sometimes seldom rarely generally consistently partly entirely fully completely nearly almost
    additional another other others same different equal maximum minimum"""
)
MODALS = frozenset("may might can could should would will must shall".split())
HEDGES = MODALS | frozenset(
    """likely unlikely possibly possible probably probable perhaps potentially potential apparently presumably
    seem seems seemed appear appears appeared suggest suggests suggested suggesting tend tends tended tendency
    trend hypothesized hypothesised hypothesis assume assumed believe believed speculate speculated expected
    propose proposed limited preliminary uncertain unclear unknown""".split()
)
NEGATIONS = frozenset(
    """not no nor neither never none without cannot nobody nothing nowhere hardly scarcely barely lack lacks
    lacked lacking absence absent fail fails failed unable inability non nil unchanged unaffected unaltered
    insignificant nonsignificant insufficient inconclusive ineffective unrelated devoid exclude excludes
    excluded refute refutes refuted deny denies denied disprove disproved contradict contradicts contradicted
    independent independently irrespective minus unsupported unsuccessful unproven unlikely dispensable""".split()
)
# Words for more or better. FALLING has those for less or worse.
RISING = _stems(
    """increase increases increased increasing increasingly rise rises rose risen rising raise raises raised
    raising grow grows grew grown growing growth gain gains gained gaining high higher highest great greater
    greatest large larger largest big bigger biggest more most improve improves improved improving improvement
    improvements enhance enhances enhanced enhancing enhancement augment augments augmented augmenting
    augmentation boost boosts boosted boosting elevate elevates elevated elevating elevation expand expands
    expanded expansion extend extends extended strengthen strengthens strengthened accelerate accelerates
    accelerated acceleration promote promotes promoted promoting promotion stimulate stimulates stimulated
    stimulation activate activates activated activation induce induces induced induction upregulate upregulates
    upregulated upregulation amplify amplified amplification potentiate potentiates potentiated facilitate
    facilitates facilitated favour favours favoured favor favors favored benefit benefits benefited beneficial
    better best superior superiority long longer longest fast faster fastest strong stronger strongest heavy
    heavier heaviest positive positively gained accelerate accelerates accelerating exacerbate exacerbates
    exacerbated aggravate aggravates aggravated encourage encourages encouraged quicken quickens hasten hastens
    hastened trigger triggers triggered up upward upwards above exceed exceeds exceeded excess surpass surpassed
    climb climbs climbed soar soared jump jumped surge surged escalate escalated intensify intensified maximise
    maximised maximize maximized effective efficacious protect protects protected protective protection rescue
    rescued restore restored recover recovered recovery safe safer advantage advantageous double doubled triple
    tripled multiply multiplied add adds added adding early earlier thick thicker thicken thickened wide wider
    widen widened deep deeper full fuller rich richer frequent often easier easy win succeed succeeded success
    successful successfully support supports supported confirm confirms confirmed enable enables enabled allow
    allows allowed produce produces produced generate generated sustain sustained maintain maintained preserve
    preserved retain retained old older oldest hot warmer tall taller""",
)
FALLING = _stems(
    """decrease decreases decreased decreasing decline declines declined declining fall falls fell fallen
    falling reduce reduces reduced reducing reduction reductions lower lowers lowered lowering lowest low drop
    drops dropped dropping lose loses lost losing loss losses less lesser least fewer fewest few small smaller
    smallest diminish diminishes diminished diminishing shrink shrinks shrank shrunk shrinkage attenuate
    attenuates attenuated attenuating attenuation blunt blunts blunted blunting impair impairs impaired
    impairing impairment worsen worsens worsened worsening worse worst deteriorate deteriorates deteriorated
    deterioration suppress suppresses suppressed suppressing suppression inhibit inhibits inhibited inhibiting
    inhibition inhibitory block blocks blocked blocking prevent prevents prevented preventing prevention abolish
    abolishes abolished abrogate abrogates abrogated eliminate eliminates eliminated downregulate downregulates
    downregulated downregulation deplete depletes depleted depletion weaken weakens weakened weak weaker weakest
    short shorter shortest shorten shortened slow slower slowest slowed light lighter lightest inferior
    inferiority negative negatively harm harms harmed harmful damage damages damaged detriment detrimental
    hinder hinders hindered hamper hampered compromise compromised limit limits limited restrict restricts
    restricted curb curbed cut cuts minimise minimised minimize minimized mitigate mitigates mitigated alleviate
    alleviates alleviated ameliorate ameliorates ameliorated atrophy regress regressed halve halved down
    downward downwards below deficit deficient deficiency disrupt disrupts disrupted interfere interferes
    interfered slump slumped plummet plummeted dwindle dwindled subside subsided erode eroded dampen dampens
    dampened delay delays delayed late later retard retarded adverse adversely toxic unsafe dangerous risky
    disadvantage disadvantageous subtract subtracted remove removed removal withdraw withdrawn thin thinner
    narrow narrower narrowed shallow shallower poor poorer rare rarer hard harder difficult failed unsuccessful
    oppose opposed destroy destroyed degrade degraded degradation lighten halt halts halted deactivate
    deactivates deactivated delaying slows slowing antagonize antagonizes inaccurate inaccurately counteract
    counteracts shrinks reverse reverses reversed young younger youngest cold cooler little silence silenced
    knockdown""",
)
LEVEL = _stems(
    """similar similarly comparable comparably equal equally equivalent same identical unchanged unaffected stable
    constant steady alike indistinguishable match matched maintain remained plateau plateaued difference
    differences differ differs differed different change changes changed changing alter alters altered affect
    affects affected vary varied""",
)
# Words that may describe a thing and no change: "high loads", "a long programme", "the effect of".
ATTRIBUTES = frozenset(
    """high low long short heavy light strong weak large small big early late fast slow deep shallow full rich poor hard
    little easy thick thin wide narrow hot cold positive negative add adds added adding effect effects active activity
    activities training""".split()
)
# Of LEVEL, the verb that sets things against each other by itself, but for "did not differ with tea".
DIFFERING = frozenset("differ differs differed".split())
# Of LEVEL, those that say "no difference" by themselves.
SAMENESS = frozenset(
    """similar similarly comparable comparably equal equally equivalent same identical unchanged unaffected stable
    constant steady alike indistinguishable match matched maintain remained plateau plateaued""".split()
)
# Words that say nothing changes where they are denied, and nouns for a lack.
INFLUENCES = frozenset("effect effects influence influences impact impacts".split())
LACKS = frozenset("lack lacks lacked lacking absence absent without".split())
INDEPENDENT = "independent"  # denies nothing before people
LITTLE = "little"  # denies a difference that follows it
POSSIBLE = frozenset("may might could".split())
DEGREES = frozenset({"degree", "extent", "rate"})
COMPARATIVES = frozenset(
    "more less fewer most least greater smaller larger higher lower bigger better worse faster slower longer "
    "shorter".split()
)
# Prepositions after which both sides of a comparison share the rest: "than one for strength".
SHARED = frozenset("for in on at during after when among".split())
# Words before what something is compared with, some of them only before "to" or "with".
COMPARING = frozenset("than versus vs against compared relative".split())
LINKED_BY_TO = frozenset({"compared", "relative"})
ASSOCIATED = _stems("associated association linked correlated correlation predicted related")
# Conjunctions that set one statement against another.
CONTRASTS = frozenset("but while whereas although though yet".split())
# Words of a sentence that asks or supposes, and states no result.
SUPPOSING = _stems(
    "whether if hypothesize hypothesise hypothesis myth unclear unknown asked aim aimed investigate examine explore "
    "argue argued propose proposed evaluate objective purpose sought determine why"
)
# Verbs of inquiry: where they are denied ("did not measure"), nothing is said of the result.
INQUIRING = _stems("study studied measure measured test tested assess assessed report reported compare compared record")
# Words of a sentence that says what ought to be done, besides "need to" and "have to".
OBLIGING = frozenset(
    "should must ought shall shouldn mustn necessary unnecessary imperative obligatory mandatory".split()
)
# Words of a sentence that advises.
ADVISING = _stems("recommend recommended recommendation advise advised advice advisable counsel")
# Words that turn advice into advice against.
DISCOURAGING = frozenset(
    "against avoid avoids avoided avoiding stop refrain discourage discouraged unnecessary shouldn mustn".split()
)
# Words that combine two things into one: "tea with milk".
COMBINING = frozenset("and with plus combined together alongside".split())
# Words before two things that are not combined: "both tea and milk", "between tea and milk".
APART = frozenset("both each either neither between".split())
# Besides SAMENESS: what is equal for all makes no difference, as "volume" of "for a given volume".
EQUATED = frozenset("given equated matched controlled".split())
# Words before what people did anyway.
SETTING = frozenset("during while alongside undergoing".split())
# Verbs that raise what they make.
MAKING = frozenset("build builds building built".split())
# Prepositions before a condition: "at the same speed".
CONDITIONAL = frozenset("at on under during for".split())
# Words for those who did without: what they are compared with is no other thing that is done.
WITHOUT = _stems("non without placebo control alone sham nothing usual untreated dummy before baseline no")
# Words for people that name no group among them.
ANYBODY = _stems("adult people person human healthy patient participant subject volunteer")
NO_PEOPLE = frozenset("train trains age ages aged aging ageing recreationally experienced".split())
# Adjectives that name people only before a word for people: "Dutch advice" names none.
ORIGINS = _stems(
    """black white asian african american european caucasian hispanic chinese japanese korean indian british swedish
    danish finnish dutch german french italian spanish canadian australian brazilian mexican taiwanese rural urban"""
)
_PEOPLE = """man men woman women male males female females boy boys girl girls child children infant infants newborn
    newborns neonate neonates baby babies toddler toddlers adolescent adolescents teenager teenagers teen
    teens youth youths adult adults elder elders elderly senior seniors older younger old young aged
    middle-aged octogenarian nonagenarian centenarian premenopausal postmenopausal menopausal perimenopausal
    pregnant mother mothers father fathers parent parents sibling twin twins wife husband widow trained
    untrained novice novices beginner beginners experienced recreational recreationally athlete athletes
    athletic nonathlete elite amateur professional lifter lifters bodybuilder bodybuilders powerlifter
    powerlifters weightlifter weightlifters runner runners cyclist cyclists swimmer swimmers rower rowers
    sprinter sprinters player players soldier soldiers military footballer footballers gymnast dancer
    sedentary inactive active fit unfit obese obesity overweight lean underweight healthy unhealthy sick ill
    patient patients inpatient inpatients outpatient outpatients volunteer volunteers survivor survivors
    diabetic diabetics diabetes nondiabetic hypertensive normotensive sarcopenic sarcopenia frail frailty
    osteoporotic osteoporosis arthritic arthritis cancer hiv asthmatic asthma smoker smokers nonsmoker
    nonsmokers vegetarian vegetarians vegan vegans omnivore omnivores resident residents community-dwelling
    hospitalised hospitalized institutionalised institutionalized veteran veterans nurse nurses doctor doctors
    physician physicians student students worker workers employee employees teacher teachers prisoner
    immigrant immigrants human humans person people animal animals mouse mice murine rat rats rodent rodents
    dog dogs canine cat cats pig pigs porcine rabbit rabbits monkey monkeys macaque macaques primate primates
    zebrafish fish drosophila fly flies yeast worm worms elegans bovine cattle cow cows sheep horse horses
    chicken chickens hamster guinea ferret white black asian african american european caucasian hispanic
    latino chinese japanese korean indian british swedish danish finnish dutch german french italian spanish
    canadian australian brazilian mexican taiwanese rural urban donor donors recipient recipients carrier
    carriers heterozygous homozygous heterozygote homozygote fetus fetal embryo embryos embryonic neonatal
    pediatric paediatric geriatric juvenile maternal paternal"""
POPULATIONS = _stems(_PEOPLE)
PEOPLE_WORDS = frozenset(_PEOPLE.split())
GROUPS = _stems(
    """control controls placebo sham intervention interventions interventional experimental comparator comparison
    treated untreated treatment supplement supplements supplemented supplementation unsupplemented usual
    standard vehicle dummy active exercise exercisers nonexercisers training endurance resistance aerobic
    anaerobic concurrent isometric eccentric concentric isokinetic plyometric stretching walking high low
    heavy light moderate vigorous fast slow daily weekly undulating linear periodised periodized creatine
    protein whey casein soy caffeine carbohydrate carbohydrates fat vitamin leucine bcaa collagen milk plant
    animal drug surgery surgical chemotherapy radiotherapy wildtype wild-type wild mutant mutants knockout
    transgenic null deficient case cases arm cohort exposed unexposed infected uninfected vaccinated
    unvaccinated randomized randomised matched early late left right upper lower dominant nondominant
    unilateral bilateral proximal distal anterior posterior first second""",
)
# One key for synonyms.
SAME = {
    **dict.fromkeys("subject subjects participant participants volunteer volunteers".split(), "participant"),
    **dict.fromkeys("greater larger bigger".split(), "larger"),
    **dict.fromkeys("among amongst in".split(), "in"),
    **dict.fromkeys("whereas while".split(), "while"),
    **dict.fromkeys("although though".split(), "although"),
    **dict.fromkeys("towards toward".split(), "toward"),
    **dict.fromkeys("vs versus".split(), "versus"),
    **dict.fromkeys("cannot".split(), "not"),
    **dict.fromkeys("trial trials".split(), "trial"),
    **dict.fromkeys("use utilize utilise utilized utilised utilizing utilising".split(), "use"),
    **dict.fromkeys("show shows showed shown demonstrate demonstrates demonstrated".split(), "show"),
    **dict.fromkeys("man men".split(), "men"),
    **dict.fromkeys("woman women".split(), "women"),
    **dict.fromkeys("child children".split(), "children"),
    **dict.fromkeys("mouse mice".split(), "mice"),
    **dict.fromkeys("rise rises rose risen rising".split(), "rise"),
    **dict.fromkeys("fall falls fell fallen falling".split(), "fall"),
    **dict.fromkeys("grow grows grew grown growing".split(), "grow"),
    **dict.fromkeys("find finds found".split(), "find"),
}
# Verbs after which "that" introduces a statement that the author asserts.
REPORTED = _stems(
    "find finds found show shows showed shown demonstrate demonstrated report reports reported conclude concludes "
    "concluded reveal revealed reveals confirm confirmed indicate indicated indicates observe observed establish "
    "established note noted state states stated "
    "determine determined discover discovered prove proved proven recommend recommends recommended"
)
SIGNIFICANCE = _stems("significant significantly significance")

ONES = {
    word: value
    for value, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen""".split()
    )
}
TENS = {
    word: 10 * value for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
ORDINALS = {
    word: value
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), 1
    )
}
PARTS = frozenset(
    """half halves third thirds quarter quarters twice thrice once dozen double doubled triple tripled quadruple
    quadrupled halved""".split()
)

# Full names and unambiguous abbreviations, which are units in any context.
_UNITS: dict[str, str | None] = {
    **dict.fromkeys("second seconds sec secs".split(), "s"),
    **dict.fromkeys("minute minutes min mins".split(), "min"),
    **dict.fromkeys("hour hours hr hrs".split(), "h"),
    **dict.fromkeys("day days".split(), "day"),
    **dict.fromkeys("week weeks wk wks".split(), "week"),
    **dict.fromkeys("month months mo mos".split(), "month"),
    **dict.fromkeys("year years yr yrs".split(), "year"),
    **dict.fromkeys("decade decades".split(), "decade"),
    **dict.fromkeys("gram grams gramme grammes".split(), "g"),
    **dict.fromkeys("kg kilogram kilograms kilogramme kilogrammes kilo kilos".split(), "kg"),
    **dict.fromkeys("mg milligram milligrams milligramme milligrammes".split(), "mg"),
    **dict.fromkeys("ug μg mcg microgram micrograms".split(), "ug"),
    **dict.fromkeys("ng nanogram nanograms".split(), "ng"),
    **dict.fromkeys("tonne tonnes ton tons".split(), "t"),
    **dict.fromkeys("lb lbs pound pounds".split(), "lb"),
    **dict.fromkeys("oz ounce ounces".split(), "oz"),
    **dict.fromkeys("litre litres liter liters".split(), "l"),
    **dict.fromkeys("ml millilitre millilitres milliliter milliliters".split(), "ml"),
    **dict.fromkeys("dl decilitre decilitres deciliter deciliters".split(), "dl"),
    **dict.fromkeys("metre metres meter meters".split(), "m"),
    **dict.fromkeys("km kilometre kilometres kilometer kilometers".split(), "km"),
    **dict.fromkeys("cm centimetre centimetres centimeter centimeters".split(), "cm"),
    **dict.fromkeys("mm millimetre millimetres millimeter millimeters".split(), "mm"),
    **dict.fromkeys("um μm micron microns micrometre micrometres micrometer micrometers".split(), "um"),
    **dict.fromkeys("nm nanometre nanometres nanometer nanometers".split(), "nm"),
    **dict.fromkeys("mile miles".split(), "mile"),
    **dict.fromkeys("inch inches".split(), "inch"),
    **dict.fromkeys("foot feet".split(), "foot"),
    **dict.fromkeys("kcal kilocalorie kilocalories".split(), "kcal"),
    **dict.fromkeys("calorie calories cal".split(), "cal"),
    **dict.fromkeys("kj kilojoule kilojoules".split(), "kj"),
    **dict.fromkeys("joule joules".split(), "j"),
    **dict.fromkeys("watt watts".split(), "w"),
    **dict.fromkeys("newton newtons".split(), "n"),
    **dict.fromkeys("mol mole moles".split(), "mol"),
    **dict.fromkeys("mmol millimole millimoles".split(), "mmol"),
    **dict.fromkeys("umol μmol micromole micromoles".split(), "umol"),
    **dict.fromkeys("nmol nanomole nanomoles".split(), "nmol"),
    **dict.fromkeys("mmhg bpm iu hz khz mhz kda kb bp db rpm mci gy mgy mv ms msec pg fg ul μl nl pmol".split()),
    **dict.fromkeys("repetition repetitions rep reps".split(), "rep"),
    **dict.fromkeys("set sets".split(), "set"),
    **dict.fromkeys("session sessions".split(), "session"),
    **dict.fromkeys("time times".split(), "time"),
    **dict.fromkeys("fold folds".split(), "fold"),
    **dict.fromkeys("point points".split(), "point"),
    **dict.fromkeys("percentage".split(), "percentage"),
    **dict.fromkeys("dose doses".split(), "dose"),
    **dict.fromkeys("degree degrees".split(), "degree"),
    "%": "%",
}
UNITS = {word: unit or word for word, unit in _UNITS.items()}
# Letters that are units only after a number or "per".
SHORT_UNITS = {
    "s": "s", "h": "h", "d": "day", "w": "week", "y": "year", "g": "g", "l": "l", "m": "m", "j": "j", "n": "n",
    "t": "t", "c": "c", "f": "f", "k": "k", "v": "v", "u": "u",
}  # fmt: skip
TIMES = frozenset("s min h day week month year session".split())
ADVERBIAL_TIMES = {
    "hourly": "h", "daily": "day", "weekly": "week", "monthly": "month", "yearly": "year",
    "annually": "year", "annual": "year",
}  # fmt: skip


def kind_of(word: str) -> Kind:
    """Return the kind of a folded word that is neither number nor unit."""
    for words, kind in _BY_WORD:
        if word in words:
            return kind
    stemmed = stem(word)
    for words, kind in _BY_STEM:
        if stemmed in words:
            return kind
    return Kind.WORD


_BY_WORD = (
    (NEGATIONS, Kind.NEGATION),
    (RESTRICTIONS, Kind.RESTRICTION),
    (JOINTS, Kind.JOINT),
    (PLACES, Kind.PLACE),
    (HEDGES, Kind.HEDGE),
    (ASIDES, Kind.ASIDE),
)
_BY_STEM = (
    (POPULATIONS, Kind.POPULATION),
    (RISING | FALLING | LEVEL, Kind.DIRECTION),
    (GROUPS, Kind.GROUP),
    (QUANTIFIERS, Kind.QUANTIFIER),
)
