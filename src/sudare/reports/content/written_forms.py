"""Identifiers that are recognised by how they are written: addresses, numbers with marks, check digits.

Each form has a quick pattern, which Arrow looks for in all values, and a test in Python for those that have it. Dates
are taken out of a text before numbers are looked for in it. A form is *sure* if hardly anything else is written like
that; one that is not sure is a question to a person.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle

from sudare.reports.content.written_dates import without_dates

_LONGEST = 100_000  # characters of a cell that are looked at


@dataclass(frozen=True)
class Form:
    """One form: the words for it in the plural, the quick pattern, the test, and whether it is sure."""

    kind: str
    quick: str
    test: Callable[[str], bool]
    sure: bool = True


def holds(form: Form, text: str) -> bool:
    """Return whether a text holds a form."""
    return form.test(text[:_LONGEST])


# -- addresses of machines and mail -------------------------------------------------------------------------------

_EMAIL = re.compile(r"[^\s@,;:<>\"'(){}\[\]|]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[^\W\d_]{2,}")
_SPELLED = re.compile(
    r"[\w.+-]+\s*[\[(]\s*(?:at|@)\s*[\])]\s*[\w-]+\s*(?:\.|[\[(]\s*dot\s*[\])])\s*\w{2,}", re.IGNORECASE
)
_URL = re.compile(
    r"(?:https?|ftps?)://[^\s/]|\bwww\.[\w-]+\.\w"
    r"|(?<![@\w.-])[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*\.(?:com|org|net|edu|gov|info)(?![\w-])",
    re.IGNORECASE,
)
_IP4 = re.compile(r"(?<![\w.])(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?!\.?\w)")
_IP6 = re.compile(r"(?<![\w:])[0-9a-f:]{6,39}(?![\w:])", re.IGNORECASE)
_MAC = re.compile(r"(?<![\w:-])[0-9a-f]{2}([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2}){4}(?![\w:-])", re.IGNORECASE)


def _is_email(text: str) -> bool:
    return _EMAIL.search(text) is not None or _SPELLED.search(text) is not None


def _is_url(text: str) -> bool:
    return _URL.search(text) is not None


def _is_ip(text: str) -> bool:
    if any(all(int(part) < 256 and str(int(part)) == part for part in found.groups()) for found in _IP4.finditer(text)):
        return True
    return any(_is_ip6(found[0]) for found in _IP6.finditer(text))


def _is_ip6(text: str) -> bool:
    if text.count(":") < 2 or sum(bool(part) for part in text.split(":")) < 3:
        return False
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


# -- numbers of telephones ----------------------------------------------------------------------------------------

_PHONE = re.compile(
    r"(?<![\w.,/+-])(?:"
    r"\+\d{1,3}(?:[\s./-]{0,2}\(?\d{1,12}\)?){1,6}"  # with the code of a country
    r"|(?:1[-.\s])?\(\d{2,5}\)[\s./-]{0,2}\d{3,8}(?:[\s.-]\d{2,5}){0,3}"  # (212) 555-0100, (030) 1234567
    r"|(?:1[-.\s])?[2-9]\d{2}[-.\s][2-9]\d{2}[-.\s]\d{4}"  # 212-555-0100
    r"|(?:1-)?[2-9]\d{2}-\d{3}-\d{4}"
    r"|0\d{1,4}(?:[\s/.-]{1,3}\d{2,8}){1,5}"  # 030 1234567, 01 23 45 67 89, 03-1234-5678
    r"|1[3-9]\d[\s-]\d{4}[\s-]\d{4}"  # 138 0013 8000
    r")(?![\w]|[.,/-]\d)"
)
_CALLED = re.compile(
    r"(?:\b(?:tel|telephone|telefon\w*|phone|fax|fon|mobile?|mobil|handy|call(?:ed)?|tlf|t[eé]l[eé]fono|movil"
    r"|m[oó]vil|"
    r"t[eé]l[eé]phone|portable)\b|電話|携帯)\s*(?:no|nr|number|nummer|番号)?[\s.:=#)\"']{0,6}(\+?\(?\d[\d\s()./-]{4,}\d)",
    re.IGNORECASE,
)
_FEWEST, _MOST = 7, 15
_FEWEST_NATIONAL = 9  # with the zero before it


def _is_phone(text: str) -> bool:
    bare = without_dates(text)
    for found in _PHONE.finditer(bare):
        digits = sum(letter.isdigit() for letter in found[0])
        fewest = _FEWEST_NATIONAL if found[0].startswith("0") else 8
        if fewest <= digits <= _MOST:
            return True
    return any(sum(letter.isdigit() for letter in found[1]) >= _FEWEST for found in _CALLED.finditer(bare))


# -- numbers of persons, cards and things -------------------------------------------------------------------------

_SSN = re.compile(r"(?<![\w-])(?!000|666|9\d\d)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?![\w-])")
_SSN_SAID = re.compile(r"\b(?:ssn|social security)\b[^\d]{0,16}\d{3}[- ]?\d{2}[- ]?\d{4}(?!\d)", re.IGNORECASE)
_NINO = re.compile(r"(?<!\w)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D](?!\w)")
_AHV = re.compile(r"(?<![\d.])756\.\d{4}\.\d{4}\.\d{2}(?![\d.])")
_FISCALE = re.compile(r"(?<!\w)[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z](?!\w)")
_DNI = re.compile(r"(?<!\w)(\d{8})-?([A-Z])(?!\w)")
_MBI = re.compile(
    r"(?<!\w)[1-9][AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9]\d-?[AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9]\d-?"
    r"[AC-HJKMNP-RT-Y]{2}\d{2}(?!\w)"
)
_NHS_SAID = re.compile(r"\b(?:nhs|insurance|member|beneficiary|versicherten\w*|policy) ?(?:no|nr|number|id"
    r"|nummer)\b\W{0,4}\w*\d{5,}",
                       re.IGNORECASE)  # fmt: skip
_MRN = re.compile(
    r"\b(?:mrn|(?:patient|pat|case|chart|encounter|visit|record|medical record|fall|patienten)[ -]?"
    r"(?:no|nr|number|nummer|id|#))(?![a-z])\W{0,4}(?=\w*\d{4})\w+",
    re.IGNORECASE,
)
_IBAN = re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)")
_CARD = re.compile(r"(?<![\w.-])[3-6]\d{3}([ -]?)\d{4}\1\d{4}\1\d{4}(?![\w-])")
_LICENSE = re.compile(
    r"\b(?:licen[cs]e|certificate|permit|f[üu]hrerschein\w*|dea|passport|reisepass)\s?(?:no|nr|number|id|#"
    r"|nummer)?\W{1,4}"
    r"(?=(?:[A-Z0-9-]*?\d){4})[A-Z0-9-]{5,}",
    re.IGNORECASE,
)
_VIN = re.compile(r"(?<!\w)(?=[A-Z0-9]*[A-Z])(?=[A-Z0-9]*\d)[A-HJ-NPR-Z0-9]{17}(?!\w)")
_PLATE = re.compile(
    r"(?<![\w-])(?!HLA-)(?:[A-ZÄÖÜ]{1,3}-[A-Z]{1,2} \d{1,4}[EH]?|[A-Z]{2}\d{2} [A-Z]{3}"
    r"|[A-Z]{2}-\d{3}-[A-Z]{2})(?![\w-])"
)
_PLATE_SAID = re.compile(
    r"\b(?:plate|kennzeichen|registration)\s?(?:no|nr|number)?\W{1,4}(?=[A-Z0-9 -]*\d)[A-Z0-9][A-Z0-9 -]{3,9}\b"
)
_DEVICE = re.compile(
    r"\b(?:imei|serial|s/n|udi|device id|serien\w*)\s?(?:no|nr|number|#|nummer)?\W{1,4}(?=[\w-]*\d{3})[\w-]{5,}"
    r"|\(01\)\d{14}",
    re.IGNORECASE,
)
_UUID = re.compile(r"(?<!\w)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?!\w)", re.IGNORECASE)
_HASH = re.compile(
    r"(?<!\w)(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})(?!\w)", re.IGNORECASE
)
_LONG = re.compile(r"(?<![\w.,+-])\d{9,}(?![\w,-]|\.\d)")
_IMAGE = re.compile(
    r"data:image/|(?:^|[\s\"'/\\=])[^\s\"'/\\]+\.(?:jpe?g|png|gif|bmp|tiff?|heic|webp|dcm)\b|^/9j/4AA|^iVBORw0KGgo",
    re.IGNORECASE,
)
_BODY = re.compile(
    r"data:(?:audio|video)/|(?:^|[\s\"'/\\=])[^\s\"'/\\]+\.(?:wav|mp3|mp4|m4a|ogg|flac|avi|mov|wsq|vcf|bam"
    r"|fastq|fasta)\b"
    r"|(?<![A-Z])[ACGT]{30,}(?![A-Z])",
)
_VIN_VALUES = dict(
    zip("ABCDEFGHJKLMNPRSTUVWXYZ", [1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 7, 9, 2, 3, 4, 5, 6, 7, 8, 9], strict=True)
)
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)


def _any(*patterns: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: any(pattern.search(text) is not None for pattern in patterns)


def _is_national(text: str) -> bool:
    if _any(_SSN, _SSN_SAID, _NINO, _AHV, _FISCALE)(text):
        return True
    return any("TRWAGMYFPDXBNJZSQVHLCKE"[int(found[1]) % 23] == found[2] for found in _DNI.finditer(text))


def _is_account(text: str) -> bool:
    if any(_passes_iban(found[0].replace(" ", "")) for found in _IBAN.finditer(text)):
        return True
    return any(_passes_luhn(found[0]) for found in _CARD.finditer(text))


def _passes_iban(text: str) -> bool:
    turned = text[4:] + text[:4]
    return 15 <= len(text) <= 34 and int("".join(str(int(letter, 36)) for letter in turned)) % 97 == 1


def _passes_luhn(text: str) -> bool:
    digits = [int(letter) for letter in text if letter.isdigit()]
    total = sum(sum(divmod(digit * factor, 10)) for digit, factor in zip(reversed(digits), cycle((1, 2)), strict=False))
    return total % 10 == 0 and len(set(digits)) > 1


def _is_vehicle(text: str) -> bool:
    return _any(_PLATE, _PLATE_SAID)(text) or any(_passes_vin(found[0]) for found in _VIN.finditer(text))


def _passes_vin(text: str) -> bool:
    values = [int(letter) if letter.isdigit() else _VIN_VALUES[letter] for letter in text]
    check = sum(value * weight for value, weight in zip(values, _VIN_WEIGHTS, strict=True)) % 11
    return text[8] == ("X" if check == 10 else str(check))


# -- places -------------------------------------------------------------------------------------------------------

_STREET = re.compile(
    r"(?<![\w.])\d{1,5}[A-Z]?,? (?:[NSEW]\.? )?(?:[A-Z0-9][\w.'-]* ){1,4}"
    r"(?:St|Street|Ave|Avenue|Rd|Road|Blvd|Boulevard|Ln|Lane|Dr|Drive|Ct|Court|Pl|Place|Way|Hwy|Highway|Pkwy"
    r"|Parkway|Terrace|Square)\b"
    r"|\b[A-ZÄÖÜ][\w.-]*(?: [A-ZÄÖÜ][\w.-]*)?(?:straße|strasse|str\.|gasse|allee|platz|weg) ?\d{1,4} ?[a-z]?\b"
    r"|\b(?:rue|avenue|calle|via|plaza|rua) (?:d[eu] |de la |des )?[A-ZÀ-Ú][\w'-]*(?: [\w'-]+){0,3},? \d{1,4}\b"
    r"|\b\d{1,4},? (?:bis )?(?:rue|avenue|boulevard|place) [\w' -]{3,}"
    r"|\bP\.? ?O\.? Box \d+|\bPostfach \d+|[都道府県市区町村]\S{0,12}\d+(?:丁目|番地|-\d+-\d+)"
)
_STATES = (
    "AL|AK|AZ|AR|CA|CO|CT|DE|DC|FL|GA|HI|ID|IL|IN|IA|KS|KY|LA|ME|MD|MA|MI|MN|MS|MO|MT|NE|NV|NH|NJ|NM|NY|NC|ND|OH|OK|OR|PA|"
    "RI|SC|SD|TN|TX|UT|VT|VA|WA|WV|WI|WY"
)
_TOWN = re.compile(
    rf"\b[A-Z][a-z]+(?: [A-Z][a-z]+){{0,2}}, (?:{_STATES})\b"
    rf"|\b(?:{_STATES}) \d{{5}}(?:-\d{{4}})?(?!\d)"
)
_COUNTY = re.compile(
    r"\b[A-Z][a-z]+(?: [A-Z][a-z]+)? (?:County|Township|Borough|Parish)\b|\b(?:Landkreis|Kreis) [A-ZÄÖÜ]\w+"
)
_ZIP4 = re.compile(r"(?<![\w-])\d{5}-\d{4}(?![\w-])")
_POINT = re.compile(r"(?<![\w.])[+-]?(\d{1,2}\.\d{3,})\s*°?\s*[NS]?\s*[,;/ ]\s*[+-]?(\d{1,3}\.\d{3,})(?![\w.])")


def _is_point(text: str) -> bool:
    return any(float(found[1]) <= 90 and float(found[2]) <= 180 for found in _POINT.finditer(text))


FORMS: tuple[Form, ...] = (
    Form("e-mail addresses", r"@|(?i:[\[(] ?at ?[\])])", _is_email),
    Form("web addresses", r"(?i:://|www\.|\.(com|org|net|edu|gov|info))", _is_url),
    Form("IP addresses", r"\d\.\d+\.\d+\.\d|[0-9A-Fa-f]*:[0-9A-Fa-f]*:", _is_ip),
    Form(
        "telephone or fax numbers",
        r"\+\d|\(\d{2,5}\)|\d{3}[\s.-]\d{3}[\s.-]\d{4}|\b0\d{1,4}[\s/.-]+\d|1[3-9]\d[\s-]\d{4}[\s-]\d{4}|電話|携帯|"
        r"(?i:(tel|fax|phone|fon|mobil|m[oó]vil|handy|call|tlf|portable).*\d)",
        _is_phone,
    ),
    Form(
        "social security or identity numbers",
        r"\d{3}[ -]\d{2}[ -]\d{4}|(?i:ssn|social)|[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]|756\.|[A-Z]{6}\d{2}"
        r"|\d{8}-?[A-Z]",
        _is_national,
    ),
    Form("numbers of patients or records", r"(?i:(mrn|pat|case|chart|count|visit|rec|fall).*\d{4})", _any(_MRN)),
    Form(
        "numbers of health plans",
        r"[1-9][A-Z][A-Z0-9]\d|(?i:(nhs|insurance|member|benef|versich|policy).*\d{5})",
        _any(_MBI, _NHS_SAID),
    ),
    Form("numbers of accounts or cards", r"[A-Z]{2}\d{2}[A-Z0-9 ]{11}|[3-6]\d{3}[ -]?\d{4}[ -]?\d{4}", _is_account),
    Form("numbers of licenses or passports", r"(?i:(licen|certif|permit|schein|dea|pass).*\d)", _any(_LICENSE)),
    Form(
        "numbers of vehicles",
        r"[A-ZÄÖÜ]-[A-Z]{1,2} \d|[A-Z]{2}\d{2} [A-Z]{3}|[A-Z]{2}-\d{3}-[A-Z]{2}|[A-HJ-NPR-Z0-9]{17}|(?i:(plate"
        r"|kennz|regis).*\d)",
        _is_vehicle,
    ),
    Form(
        "numbers of devices",
        r"[0-9A-Fa-f]{2}[:-][0-9A-Fa-f]{2}[:-]|(?i:imei|serial|s/n|udi|device|serien|\(01\))",
        _any(_MAC, _DEVICE),
    ),
    Form("ids and digests", r"[0-9A-Fa-f-]{32}", _any(_UUID, _HASH)),
    Form("numbers of nine digits or more", r"\d{9}", _any(_LONG), sure=False),
    Form("images", r"(?i:image/|\.[a-z]{3,4})|^/9j/|^iVBOR", _any(_IMAGE)),
    Form("sounds, films or sequences", r"(?i:(audio|video)/|\.[a-z0-9]{3,5}|[acgt]{30})", _any(_BODY), sure=False),
    Form(
        "postal addresses",
        r"(?i:\b(st|street|ave|avenue|rd|road|blvd|boulevard|ln|lane|dr|drive|ct|court|pl|place|way|hwy|highway|pkwy|"
        r"parkway|terrace|square|rue|calle|via|plaza|rua|box|postfach)\b|stra(ß|ss)e|str\.|gasse|allee|platz|weg)|"
        r"[都道府県市区町村]",
        _any(_STREET),
    ),
    Form("towns with their states", r"[a-z], ?[A-Z]{2}\b|\b[A-Z]{2} \d{5}", _any(_TOWN)),
    Form("counties", r"County|Township|Borough|Parish|[Kk]reis ", _any(_COUNTY)),
    Form("postal codes of nine digits", r"\d{5}-\d{4}", _any(_ZIP4)),
    Form("coordinates", r"\d\.\d{3,}.*\d\.\d{3}", _is_point),
)
"""All forms. Their words stand in the findings of a scan, and in the rules of the checklists."""
