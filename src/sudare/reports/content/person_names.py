"""Names of persons, and of towns, as far as words tell: titles, common first names, and large cities.

Nothing tells every name. What is found is therefore a question to a person, unless most values of a column are names.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sudare.reports.content.released_values import Found, ReleasedValues


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FIRST_NAMES = _words("""
    james john robert michael william david richard joseph thomas charles christopher daniel matthew anthony mark
    donald steven paul andrew joshua kenneth kevin brian george edward ronald timothy jason jeffrey ryan jacob gary
    nicholas eric jonathan stephen larry justin scott brandon benjamin samuel gregory frank alexander raymond
    patrick jack dennis jerry tyler aaron henry peter adam nathan douglas zachary walter kyle harold carl arthur
    gerald roger keith jeremy mary patricia jennifer linda elizabeth barbara susan jessica sarah karen nancy lisa
    margaret betty sandra ashley dorothy kimberly emily donna michelle carol amanda melissa deborah stephanie
    rebecca laura sharon cynthia kathleen helen amy angela anna brenda pamela nicole ruth katherine samantha
    christine emma catherine virginia rachel carolyn janet maria heather diane julie joyce victoria kelly christina
    joan evelyn lauren judith olivia frances martha cheryl hans peter klaus wolfgang jürgen dieter manfred uwe
    günter horst bernd stefan andreas matthias sebastian tobias florian jan lukas felix jonas ursula monika petra
    renate helga ingrid sabine gisela brigitte claudia birgit heike katrin jean pierre michel philippe alain bernard
    jacques françois christian marie nathalie isabelle sylvie catherine valérie camille chloé josé antonio manuel
    francisco juan luis carlos javier miguel pedro carmen dolores josefa pilar teresa giuseppe giovanni mario luigi
    francesco giulia chiara paolo marco johannes pieter willem sofia elena olga ivan mohammed muhammad ahmed ali
    fatima aisha wei li ming hiroshi takashi yuki hanako taro kenji sakura
""")
"""Common first names in several languages, in lower case."""
CITIES = _words("""
    new-york los-angeles chicago houston philadelphia san-antonio san-diego dallas jacksonville fort-worth san-jose
    austin charlotte columbus indianapolis san-francisco seattle denver oklahoma-city nashville el-paso boston
    portland las-vegas memphis detroit baltimore milwaukee albuquerque fresno tucson sacramento kansas-city atlanta
    omaha colorado-springs raleigh virginia-beach long-beach miami oakland minneapolis bakersfield tulsa tampa
    arlington wichita cleveland new-orleans honolulu anaheim cincinnati pittsburgh st-louis saint-louis springfield
    anchorage toledo newark plano buffalo chandler orlando norfolk baton-rouge birmingham rochester richmond spokane
    des-moines boise san-bernardino tacoma fayetteville salt-lake-city knoxville worcester brownsville providence
    sioux-falls chattanooga tallahassee cambridge brooklyn queens manhattan bronx staten-island albany trenton
    hartford berlin hamburg münchen munich köln cologne frankfurt stuttgart düsseldorf leipzig dresden hannover wien
    vienna zürich london manchester leeds glasgow liverpool edinburgh paris marseille lyon toulouse madrid barcelona
    valencia sevilla roma rome milano milan napoli torino amsterdam rotterdam brussels bruxelles toronto montreal
    vancouver calgary tokyo osaka kyoto sydney melbourne mumbai delhi beijing shanghai
""")
"""Large cities, with hyphens for blanks."""
_WORD = r"[^\W\d_a-zß-öø-ÿ][\w'’-]*"
_PERSON = re.compile(rf"(?:(?:Dr|Prof|Mr|Mrs|Ms|Herr|Frau)\.? )?({_WORD})(,?)((?: (?:{_WORD}|[A-Z]\.)){{1,3}})")
_TITLE = "Mr|Mrs|Ms|Miss|Dr|Prof|Herr|Frau|Mme|Mlle|Sr|Sra|Sig"
_TITLED = re.compile(rf"(?<!\w)(?:{_TITLE})\.? {_WORD}|[\u4e00-\u9fff]{{2,5}}(?:様|さん|氏)(?!\w)")
_PLACES = _words("""
    beach city springs county island islands hospital hole stream street state university college park hills valley
    river lake heights falls creek point bay port town village clinic center centre church syndrome disease test
    score
""")
_QUICK_TITLE = rf"({_TITLE})\.? |様|さん|氏"
_FEWEST, _MOSTLY = 5, 0.5


def titled(column: ReleasedValues) -> Found:
    """Return the values with a title before a name."""
    asked = column.worded & column.matching(_QUICK_TITLE)
    return column.of(p for p in np.flatnonzero(asked).tolist() if _TITLED.search(str(column.strings[p])))


def first_and_last(column: ReleasedValues) -> Found:
    """Return the values that are a common first name and a last name, and nothing else."""
    asked = column.worded & column.matching(r"^[\[{\"]?[^\s\d]{2,}(, | )[^\d]{2,}$")
    return column.of(place for place in np.flatnonzero(asked).tolist() if any(map(_is_person, column.pieces(place))))


def is_of_first_names(column: ReleasedValues) -> bool:
    """Return whether most values of a column are common first names."""
    if not column.worded.any():
        return False
    words = [text.casefold() for text in column.strings if text and text != "*"]
    return len(words) >= _FEWEST and sum(word in FIRST_NAMES for word in words) > _MOSTLY * len(words)


def cities(column: ReleasedValues) -> Found:
    """Return the values that are large cities, or sets and lists with one, if there are two."""
    if not column.worded.any():
        return column.of(())
    plain = pc.replace_substring(pc.replace_substring(pc.utf8_lower(column.texts), ".", ""), " ", "-")
    known = pc.fill_null(pc.is_in(plain, value_set=pa.array(sorted(CITIES), pa.large_string())), False)
    found = np.asarray(known.to_numpy(zero_copy_only=False)).copy()
    several = column.matching(r"^[{\[\"]") | (column.worded if column.separator else found)
    for place in np.flatnonzero(column.worded & several & ~found).tolist():
        found[place] = any(_plain(piece) in CITIES for piece in column.pieces(place))
    return found if found.sum() > 1 else column.of(())


def _plain(text: str) -> str:
    return text.lower().replace(".", "").replace(" ", "-")


def _is_person(text: str) -> bool:
    found = _PERSON.fullmatch(text)
    if found is None:
        return False
    words = [found[1], *found[3].split()]
    if any(word.casefold() in _PLACES for word in words):
        return False
    first = words[1] if found[2] else words[0]
    return first.casefold() in FIRST_NAMES
