"""One form for dates and times, in lists and on pages; Django's own has "10:21 a.m."."""

DATE_FORMAT = "j M Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "j M Y, H:i"
