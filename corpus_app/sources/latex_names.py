"""Names of LaTeX commands and the characters that they stand for.

Names that HTML shares with LaTeX (`geqslant`, `varepsilon`, `rightarrow`) come from Python's own table of entities;
these are the others: text companion symbols, commands of other meaning, accents and units of siunitx.
"""

from __future__ import annotations

ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", '"': "\u0308", "=": "\u0304", ".": "\u0307",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328", "r": "\u030a", "d": "\u0323",
    "b": "\u0331", "t": "\u0361", "bar": "\u0304", "overline": "\u0304", "dot": "\u0307", "ddot": "\u0308",
    "hat": "\u0302", "widehat": "\u0302", "tilde": "\u0303", "widetilde": "\u0303", "vec": "\u20d7",
    "acute": "\u0301", "grave": "\u0300", "check": "\u030c", "breve": "\u0306", "mathring": "\u030a",
}  # fmt: skip
SIGNS = {
    # letters
    "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å",
    "AA": "Å", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð", "dj": "đ", "DJ": "Đ", "th": "þ", "TH": "Þ", "ng": "ŋ",
    "NG": "Ŋ", "upmu": "µ", "textmu": "µ", "textalpha": "α", "textbeta": "β", "textgamma": "γ", "textdelta": "δ",
    "upalpha": "α", "upbeta": "β", "upgamma": "γ", "updelta": "δ", "Omega": "Ω", "omega": "ω",
    # signs of calculation
    "pm": "±", "textpm": "±", "mp": "∓", "times": "×", "texttimes": "×", "div": "÷", "textdiv": "÷", "cdot": "·",
    "textperiodcentered": "·", "textminus": "−", "less": "<", "greater": ">", "textless": "<", "textgreater": ">",
    "lt": "<", "gt": ">", "le": "≤", "leq": "≤", "leqslant": "≤", "leqq": "≤", "ge": "≥", "geq": "≥", "geqslant": "≥",
    "geqq": "≥", "ne": "≠", "neq": "≠", "approx": "≈", "sim": "∼", "textasciitilde": "~", "textasciicircum": "^",
    "to": "→", "infty": "∞", "textonehalf": "½", "textonequarter": "¼", "textthreequarters": "¾",
    "textonesuperior": "¹", "texttwosuperior": "²", "textthreesuperior": "³", "prime": "′", "ast": "*",
    "surd": "√", "textsurd": "√", "textfractionsolidus": "⁄",
    # degrees and units
    "circ": "°", "degree": "°", "textdegree": "°", "celsius": "°C", "textcelsius": "°C", "micro": "µ", "ohm": "Ω",
    "textohm": "Ω", "permil": "‰", "perthousand": "‰", "textperthousand": "‰", "textpertenthousand": "‱",
    "textordfeminine": "ª", "textordmasculine": "º", "angstrom": "Å",
    # marks of writing
    "textendash": "–", "textemdash": "—", "ldots": "…", "dots": "…", "textellipsis": "…", "cdots": "…",
    "textquoteright": "’", "textquoteleft": "‘", "textquotedblleft": "“", "textquotedblright": "”",
    "textquotedbl": '"', "textquotesingle": "'", "quotedblbase": "„", "quotesinglbase": "‚", "guillemotleft": "«",
    "guillemotright": "»", "guilsinglleft": "‹", "guilsinglright": "›", "textbullet": "•", "bullet": "•",
    "textbar": "|", "textbackslash": "\\", "backslash": "\\", "textunderscore": "_", "textbraceleft": "{",
    "textbraceright": "}", "textasteriskcentered": "*", "S": "§", "P": "¶", "textsection": "§", "textparagraph": "¶",
    "dag": "†", "ddag": "‡", "textdagger": "†", "textdaggerdbl": "‡", "copyright": "©", "textcopyright": "©",
    "textregistered": "®", "texttrademark": "™", "textnumero": "№", "euro": "€", "texteuro": "€", "pounds": "£",
    "textsterling": "£", "textcent": "¢", "textyen": "¥", "textuparrow": "↑", "textdownarrow": "↓",
    "textleftarrow": "←", "textrightarrow": "→", "checkmark": "✓", "textexclamdown": "¡", "textquestiondown": "¿",
    # spaces
    "quad": " ", "qquad": " ", "thinspace": " ", "enspace": " ", "space": " ", "newline": "\n", "par": "\n\n",
    "textvisiblespace": " ", "relax": "", "left": "", "right": "", "big": "", "Big": "", "displaystyle": "",
    "textstyle": "", "nolinebreak": "", "allowbreak": "", "sloppy": "", "noopsort": "",
    # names of functions
    **{name: name for name in "log ln exp sin cos tan min max lim sup inf det dim deg arg gcd Pr".split()},
}  # fmt: skip
TRANSPARENT = frozenset(
    "emph textit textbf textrm textsf texttt textsc textsl textup textnormal textmd underline mathrm mathit mathbf "
    "mathsf mathcal mathbb mathnormal boldsymbol bm text mbox hbox operatorname ensuremath it bf rm sf tt sc em sl "
    "itshape bfseries rmfamily sffamily ttfamily scshape upshape mdseries normalfont protect url path nolinkurl "
    "enquote mathop mathbin mathrel small large footnotesize uppercase lowercase MakeUppercase".split()
)
"""Commands of form: their argument stays, they go."""
QUANTITIES = frozenset("num SI qty si unit SIrange qtyrange numrange ang".split())
"""Commands of siunitx."""
PREFIXES = {
    "kilo": "k", "mega": "M", "giga": "G", "hecto": "h", "deca": "da", "deci": "d", "centi": "c", "milli": "m",
    "micro": "µ", "nano": "n", "pico": "p", "square": "", "cubic": "",
}  # fmt: skip
UNITS = {
    **PREFIXES,
    "gram": "g", "g": "g", "kilogram": "kg", "kg": "kg", "metre": "m", "meter": "m", "second": "s", "minute": "min",
    "hour": "h", "day": "d", "litre": "L", "liter": "L", "mole": "mol", "molar": "M", "kelvin": "K", "joule": "J",
    "newton": "N", "watt": "W", "hertz": "Hz", "pascal": "Pa", "volt": "V", "ampere": "A", "calorie": "cal",
    "celsius": "°C", "degreeCelsius": "°C", "degree": "°", "percent": "%", "ohm": "Ω", "bar": "bar", "mmHg": "mmHg",
    "per": "/", "squared": "²", "cubed": "³", "mg": "mg", "cm": "cm", "mm": "mm", "ml": "ml", "mL": "mL",
    "um": "µm", "ug": "µg", "kJ": "kJ", "kcal": "kcal",
}  # fmt: skip
